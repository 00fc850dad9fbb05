//! `schedule`: tasks that come again and again.

pub mod list;
pub mod run;
pub mod suspend;

use clap::Subcommand;

/// See the module.
#[derive(Debug, Subcommand)]
pub enum Schedule {
    /// All schedules
    List(list::List),
    /// Create a task from the template of a schedule, now
    Run(run::Run),
    /// Let a schedule create no tasks
    #[command(after_help = "Example:\n  kubectl palladion schedule suspend nightly-flush")]
    Suspend(suspend::Change),
    /// Let a schedule create tasks again
    #[command(after_help = "Example:\n  kubectl palladion schedule resume nightly-flush")]
    Resume(suspend::Change),
}
