//! What proves that a step may be taken: fresh views of the ring by other
//! members, and records that name what is lost.

pub mod absence;
mod ask;
pub mod marks;
mod quiet;
mod verdict;
mod witness;

pub use ask::{ask, void_from};
pub use quiet::{rest_is_quiet, ring_is_quiet};
pub use verdict::{Verdict, verdict};
pub use witness::{others, rest_of, seen_up_by, witnesses};
