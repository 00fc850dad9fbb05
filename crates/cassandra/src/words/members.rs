//! How a member's pod, volume and server are.

use palladion_plan::words::Sample;

/// Nothing stands here yet.
pub(super) fn samples() -> Vec<Sample> {
    Vec::new()
}
