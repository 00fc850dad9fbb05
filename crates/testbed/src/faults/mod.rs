//! What can go wrong, on demand. Every fault has its end beside it.
//!
//! Nothing here reaches outside the testbed: faults are signals to recorded
//! processes and cgroups, filter rules inside namespaces, and files below the
//! testbed's own directories.

mod control_plane;
pub(crate) mod disk;
mod filter;
mod network;
mod node;
mod pod;
mod volume;

pub use network::{Peer, PodCut, Slow};
pub use pod::Victim;
