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
    Suspend(suspend::Suspend),
    /// Let a schedule create tasks again
    Resume(suspend::Resume),
}
