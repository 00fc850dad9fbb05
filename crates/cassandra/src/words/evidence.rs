//! What others are asked for, and what their answers forbid.

use palladion_plan::words::Sample;

/// Nothing stands here yet.
pub(super) fn samples() -> Vec<Sample> {
    Vec::new()
}
