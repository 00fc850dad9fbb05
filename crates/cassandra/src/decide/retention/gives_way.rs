//! When what is under way gives way: it cannot go on, and a store that is away must not hold up
//! backups; or it takes long, and a backup or a restore waits for it. Both can be begun again.

use super::orders::{self, Active, at_rest, saying};
use crate::decide::draft::Draft;
use crate::decide::transfers::Said;
use crate::decide::{backups, restores};
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::retention::Waits;
use jiff::SignedDuration;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::cluster::{ClusterRetention, RetentionWork};

/// What cannot go on is given up after this time, though nobody waits for it.
const PATIENCE: SignedDuration = SignedDuration::from_mins(30);
/// And begun again after this.
const LATER: SignedDuration = SignedDuration::from_hours(1);
/// What goes on does so for this time, then the backup or restore that waits comes first.
const SHARE: SignedDuration = SignedDuration::from_hours(1);

/// It cannot go on. Is it given up for now?
pub fn stuck(facts: &Facts<'_>, valid: &Valid, (active, why): (&Active, &Said), draft: &mut Draft) {
    let patience = since(facts, active) + PATIENCE;
    if patience > facts.now() && !is_waited_for(facts, valid) {
        draft.wake_at(patience);
        return orders::note(facts, active, Some(why), draft);
    }
    let again_at = Some(Time(facts.now() + LATER));
    let record = ClusterRetention { again_at, ..saying(at_rest(active), Some(why)) };
    orders::release(facts, active, &record, draft);
}

/// Nobody has said anything of the order yet.
pub fn unanswered(
    facts: &Facts<'_>,
    valid: &Valid,
    (active, member): (&Active, &MemberFact),
    draft: &mut Draft,
) {
    let patience = since(facts, active) + PATIENCE;
    if patience > facts.now() {
        return draft.wake_at(patience);
    }
    let why = Waits::NoAnswer { member: member.name.clone() };
    stuck(facts, valid, (active, &why.into()), draft);
}

/// It goes on. Does it let others go first?
pub fn goes_on(facts: &Facts<'_>, valid: &Valid, active: &Active, draft: &mut Draft) {
    let share = since(facts, active) + SHARE;
    let yields = match active.work {
        // Carried out twice it is the same as once, as a sweep is.
        RetentionWork::Sweep | RetentionWork::Expire => true,
        RetentionWork::Unknown => false,
    };
    if !yields || !is_waited_for(facts, valid) {
        return;
    }
    if share > facts.now() {
        return draft.wake_at(share);
    }
    let (reason, message) = (active.record.reason.clone(), active.record.message.clone());
    let record = ClusterRetention { reason, message, ..at_rest(active) };
    orders::release(facts, active, &record, draft);
}

/// It cannot be done as it is on record: it is looked at anew.
pub fn look_again(facts: &Facts<'_>, active: &Active, draft: &mut Draft) {
    orders::release(facts, active, &at_rest(active), draft);
}

fn since(facts: &Facts<'_>, active: &Active) -> jiff::Timestamp {
    // A clock that was set back makes nobody wait for years.
    active.record.since.as_ref().map_or(facts.now(), |since| since.0.min(facts.now()))
}

fn is_waited_for(facts: &Facts<'_>, valid: &Valid) -> bool {
    backups::is_ready(facts, valid) || restores::is_ready(facts, valid)
}
