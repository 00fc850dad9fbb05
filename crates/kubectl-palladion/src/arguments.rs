//! The command line: every verb and the flags that all of them have.

use crate::paint::Colour;
use crate::verbs::{
    backup, completion, contact, cqlsh, events, explain, logs, members, pause, plan, repair,
    replace, restart, ring, schedule, seed, status, stop, task, terminate, version,
};
use clap::{Parser, Subcommand};

/// Look at rings of Cassandra and Scylla, and run them.
#[derive(Debug, Parser)]
#[command(
    name = "kubectl-palladion",
    bin_name = "kubectl palladion",
    version,
    arg_required_else_help = true,
    after_help = "Example:\n  kubectl palladion status\n\nEvery verb has an example: kubectl palladion VERB --help"
)]
pub struct Arguments {
    /// When to use colour
    #[arg(
        long,
        value_enum,
        value_name = "WHEN",
        default_value_t,
        global = true,
        help_heading = "Everywhere"
    )]
    pub color: Colour,
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Is a ring well? If not: why, and what to do
    #[command(visible_alias = "st")]
    Status(status::Status),
    /// The ring as each of its members sees it
    Ring(ring::Ring),
    /// The members of a ring
    Members(members::Members),
    /// What the operator would do next, by the operator's own rules
    Plan(plan::Plan),
    /// Addresses for clients
    Contact(contact::Contact),
    /// Tasks: run, list, watch, abort
    #[command(subcommand, after_help = "Example:\n  kubectl palladion task list demo")]
    Task(task::Task),
    /// Schedules of tasks: list, run, suspend, resume
    #[command(subcommand, after_help = "Example:\n  kubectl palladion schedule list demo")]
    Schedule(schedule::Schedule),
    /// How far the repair of a ring is
    #[command(subcommand, after_help = "Example:\n  kubectl palladion repair status demo")]
    Repair(repair::Repair),
    /// Backups in a repository: list, show, verify, fetch, expire, sweep, unseal
    #[command(
        subcommand,
        after_help = "Example:\n  kubectl palladion backup list --store /backups/demo"
    )]
    Backup(backup::Backup),
    /// Restart a member, a rack or a ring: one at a time, drained first
    Restart(restart::Restart),
    /// Stop one member
    Stop(stop::Stop),
    /// Start a member that was stopped
    Start(stop::Start),
    /// Make a member a seed, or none
    Seed(seed::Seed),
    /// Stop one member for good, before it is replaced
    Terminate(terminate::Terminate),
    /// Replace a member that is dead: its volume is deleted
    Replace(replace::Replace),
    /// Let the operator write nothing but the status of a ring
    #[command(after_help = "Example:\n  kubectl palladion pause demo --wait=1m")]
    Pause(pause::Change),
    /// Let the operator go on with a ring
    #[command(after_help = "Example:\n  kubectl palladion resume demo")]
    Resume(pause::Change),
    /// The log of a member's server
    Logs(logs::Logs),
    /// CQL on a member
    Cqlsh(cqlsh::Cqlsh),
    /// Events about a ring, its members, pods and tasks
    Events(events::Events),
    /// What a reason means, and what to do about it
    Explain(explain::Explain),
    /// A script for completion by a shell
    Completion(completion::Completion),
    /// Versions of this tool, of the operator and of Kubernetes
    Version(version::Version),
}
