//! `repair`: how far the repair of a ring is.

pub mod status;

use clap::Subcommand;

/// See the module.
#[derive(Debug, Subcommand)]
pub enum Repair {
    /// When the ranges of each member were repaired last, and when they are due and late
    Status(status::Status),
}
