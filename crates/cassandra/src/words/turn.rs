//! The ring's one turn: its lock, permits, failed starts, a stop of the ring.

use palladion_plan::words::Sample;

/// Nothing stands here yet.
pub(super) fn samples() -> Vec<Sample> {
    Vec::new()
}
