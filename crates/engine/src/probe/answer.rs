//! What came of a question: good, bad, or that it could not be put.

use crate::words::{Probed, Unaskable};
use std::time::Duration;

/// What came of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It passes.
    Good,
    /// It fails, or no answer came in time.
    Bad(Probed),
    /// The question could not be put.
    Unaskable(Unaskable),
}

/// No answer came within this time.
pub(super) fn late(limit: Duration) -> Probed {
    Probed::Late { limit: format!("{limit:?}") }
}
