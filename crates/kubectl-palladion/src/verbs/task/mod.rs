//! `task`: the jobs that people have asked for.

pub mod abort;
pub mod create;
pub mod destroys;
pub mod list;
pub mod run;
pub mod watch;

use clap::Subcommand;

/// See the module.
#[derive(Debug, Subcommand)]
pub enum Task {
    /// Create a task: work for the members of a ring, one after the other
    #[command(
        subcommand,
        after_help = "Example:\n  kubectl palladion task run cleanup demo --wait=6h"
    )]
    Run(Box<run::Run>),
    /// All tasks, the oldest first
    List(list::List),
    /// One task until it ends; exit code 1 if it does not end well
    Watch(watch::Watch),
    /// Ask a task to abort
    Abort(abort::Abort),
}
