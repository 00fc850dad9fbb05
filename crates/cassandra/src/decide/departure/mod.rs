//! A datacenter leaves its ring (`datacenter.leave`; ADR 48, safety rule 7.20): how far it is, what its members are
//! ordered, and how many members its racks are to have meanwhile. The leaves themselves are
//! those of `leave`.

mod close;
mod stage;
mod targets;

pub use close::decide;
pub use stage::{Stage, goes, is_over, of, takes_along};
pub use targets::with_targets;
