//! `task`: the jobs that people have asked for.

pub mod abort;
pub mod list;
pub mod watch;

use clap::Subcommand;

/// See the module.
#[derive(Debug, Subcommand)]
pub enum Task {
    /// All tasks, the oldest first
    List(list::List),
    /// One task until it ends; exit code 1 if it does not end well
    Watch(watch::Watch),
    /// Ask a task to abort
    Abort(abort::Abort),
}
