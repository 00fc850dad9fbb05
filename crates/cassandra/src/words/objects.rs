//! Objects, claims and volumes: what is created, recreated, grown or deleted.

use palladion_plan::words::Sample;

/// Nothing stands here yet.
pub(super) fn samples() -> Vec<Sample> {
    Vec::new()
}
