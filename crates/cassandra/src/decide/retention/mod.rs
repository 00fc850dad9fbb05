//! Backups that expire, because a user or the retention of their schedule lets them: a table of
//! contents. They are condemned in the repository, and a day later what is condemned is deleted;
//! each of the two is one order of one member. What is under way stands in the cluster's
//! `status.retention` before it is ordered, and not beside a backup or a restore; how far a backup
//! is stands in its own status. Each decision is made from what is stored there.

mod begin;
mod course;
pub mod elsewhere;
mod expire;
mod gives_way;
mod keep;
mod orders;
mod read;
mod sweep;

use crate::decide::draft::Draft;
use crate::decide::turn::epoch;
use crate::facts::Facts;
use crate::validate::Valid;
use jiff::SignedDuration;
pub use orders::Active;
use palladion_api::cluster::RetentionWork;

/// What is condemned is deleted so long after that, by the clock of the operator: a day by the
/// store's, which the sweep asks for, and an hour for the difference.
const GRACE: SignedDuration = SignedDuration::from_hours(25);
/// What the repository keeps it is asked about again after this time.
const DAILY: SignedDuration = SignedDuration::from_hours(24);

/// Go on with what is under way, or begin the next.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    if epoch::is_behind(facts) {
        return;
    }
    let is_free = !draft.has_work();
    let Some(active) = Active::read(facts) else {
        return begin::next(facts, valid, is_free, draft);
    };
    match active.work {
        RetentionWork::Expire => expire::advance(facts, valid, &active, draft),
        RetentionWork::Sweep => sweep::advance(facts, valid, &active, draft),
        // A newer operator has begun it.
        RetentionWork::Unknown => {}
    }
}
