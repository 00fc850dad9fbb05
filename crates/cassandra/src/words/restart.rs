//! Restarts, upgrades, and pods that do not become ready.

use palladion_plan::words::Sample;

/// Nothing stands here yet.
pub(super) fn samples() -> Vec<Sample> {
    Vec::new()
}
