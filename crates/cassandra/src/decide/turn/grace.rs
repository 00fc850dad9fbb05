//! The pause between two starts of servers that did not run (`bootstrapGraceSeconds`).

use crate::facts::Facts;
use crate::validate::Valid;
use jiff::{SignedDuration, Timestamp};

/// When the next start is allowed after the last one.
pub fn ends(facts: &Facts<'_>, valid: &Valid) -> Option<Timestamp> {
    let last = facts.status.last_start_time.as_ref()?.0;
    let grace = SignedDuration::from_secs(i64::from(valid.bootstrap_grace_seconds));
    Some(facts.again(last, None, grace))
}
