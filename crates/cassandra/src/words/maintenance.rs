//! Repairs, cleanups, system keyspaces, seed lists and runtime settings.

use palladion_plan::words::Sample;

/// Nothing stands here yet.
pub(super) fn samples() -> Vec<Sample> {
    Vec::new()
}
