//! Members that were down for longer than tombstones are kept. Their agents do
//! not start them, since deleted rows would come back (safety rule 7.8). Where
//! the whole ring was down, nobody has deleted anything meanwhile: those that ended
//! together start, and that is on record of each until it is up, so that they count as
//! having missed nothing. It holds for as long as tombstones are kept from then on:
//! whoever is not up by then is asked about again.

use super::missed::{self, Needs};
use super::together::{self, Together, judge, lacked_data};
use super::{asked, debts, hints};
use crate::decide::draft::Draft;
use crate::decide::turn::stopping;
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::maintenance::{Cause, Doing};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::labels;
use palladion_api::member::{Debt, RingDown};
use palladion_plan::Step;
use serde_json::{Value, json};

/// An agent that does not start its server so long after that was allowed has seen the
/// permission: it has run out. No shorter time forbids a start.
const SEEN: SignedDuration = SignedDuration::from_hours(24);

/// Allow the start of members that were down together. What is allowed goes
/// when it was used: a later absence is another one.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    for member in facts.members.values() {
        if allowed(member).is_some() && member.is_normal() {
            draft.steps.extend(forget(facts, valid, member));
        }
    }
    let judged = judge(facts);
    let may_start = !stopping::is_wanted(facts);
    for member in facts.members.values() {
        let Some(at) = last_ran_at(member) else {
            continue;
        };
        let has_run_out = has_run_out(facts, member, at);
        let is_due = allowed(member) != Some(at) || has_run_out;
        if may_start && is_due && judged.lets_in(member) {
            draft.steps.extend(allow(facts, member));
        } else if has_run_out {
            draft.steps.extend(take_back(member, at));
        }
    }
    asked::report(facts, &judged, draft);
}

/// Is its data too old to start with, and does it start by nobody's word but a person's? One
/// that is let in with the others does, and one of which that is not known yet may be.
pub fn waits_for_a_user(facts: &Facts<'_>, member: &MemberFact) -> bool {
    let Some(at) = too_old_since(member) else {
        return false;
    };
    match judge(facts) {
        Together::LetIn(names) => !names.contains(&&member.name),
        Together::Doubtful { .. } => true,
        Together::NobodyAsks | Together::Unheard(_) => {
            last_ran_at(member).is_none() || lacked_data(member, at) || another_starts(facts)
        }
    }
}

/// Does a member start that says nothing of old data? The others are not let in beside it.
fn another_starts(facts: &Facts<'_>) -> bool {
    facts.joined().any(|m| {
        let says = m.reported_server().is_some() && m.volume().is_some();
        says && !together::is_out(m) && allowed(m).is_none() && reported(m).is_none()
    })
}

/// Up to when the data of a member goes that is not started because that is too long ago, and
/// whose start nobody has allowed.
pub(super) fn too_old_since(member: &MemberFact) -> Option<Timestamp> {
    reported(member).filter(|at| allowed(member) != Some(*at))
}

/// The same, also where its start is allowed.
fn reported(member: &MemberFact) -> Option<Timestamp> {
    member.reported_server()?;
    Some(member.volume()?.last_ran_at.as_ref()?.0)
}

/// Was its start allowed since the whole ring was down, and is it still not started, since
/// it did not come up in time? Others may have come up, and have forgotten deletions.
fn has_run_out(facts: &Facts<'_>, member: &MemberFact, at: Timestamp) -> bool {
    let down = stood(member).filter(|d| d.since.0 == at);
    down.is_some_and(|d| facts.now().duration_since(d.until.0) > SEEN)
}

/// A person may allow it again: what a person allows is not on record as this is.
fn take_back(member: &MemberFact, since: Timestamp) -> Option<Step> {
    let object = member.object.as_ref()?;
    let patch = json!({ "spec": { "allowStaleStart": null, "ringDown": null } });
    let doing = Doing::StaleStartRanOut { member: member.name.clone(), since };
    Some(Step::patch_as_seen(kinds::MEMBER, &object.meta, patch, doing))
}

/// When the server of a member that is not started for that reason ran last. Of one that
/// has missed something before, the agent reports the time before that: it ran later,
/// and has taken deletions that others may lack.
pub(super) fn last_ran_at(member: &MemberFact) -> Option<Timestamp> {
    reported(member).filter(|_| member.volume().is_some_and(|v| v.missed.is_none()))
}

/// That the whole ring was down, where its start is allowed for that.
pub(super) fn stood(member: &MemberFact) -> Option<&RingDown> {
    let down = member.spec.as_ref()?.ring_down.as_ref();
    down.filter(|down| allowed(member) == Some(down.since.0))
}

/// The absence after which its start is allowed.
pub(super) fn allowed(member: &MemberFact) -> Option<Timestamp> {
    Some(member.spec.as_ref()?.allow_stale_start.as_ref()?.0)
}

fn allow(facts: &Facts<'_>, member: &MemberFact) -> Option<Step> {
    let (object, since) = (member.object.as_ref()?, last_ran_at(member)?);
    let down = RingDown { since: Time(since), until: Time(facts.now()) };
    let patch = json!({ "spec": { "allowStaleStart": down.since, "ringDown": down } });
    let doing = Doing::AllowStaleStart { member: member.name.clone(), since };
    // A user may have allowed it meanwhile, which is another permission than this one.
    Some(Step::patch_as_seen(kinds::MEMBER, &object.meta, patch, doing))
}

/// It is up: what it has missed is repaired, however long it was seen down.
fn forget(facts: &Facts<'_>, valid: &Valid, member: &MemberFact) -> Option<Step> {
    let (object, since) = (member.object.as_ref()?, allowed(member)?);
    let needs = match missed::stood_on_record(member, hints::window(valid)) {
        true => Needs::Nothing,
        false => Needs::Repair,
    };
    let repair = owed(facts, member, since, needs);
    let repair = repair.and_then(|debt| debts::spec_with(member, &debt));
    let spec = missed::with_mark(member, repair, needs);
    let mut spec = spec.unwrap_or_else(|| json!({}));
    (spec["allowStaleStart"], spec["ringDown"]) = (Value::Null, Value::Null);
    let mut patch = json!({ "spec": spec });
    if member.down_note().is_some() {
        patch["metadata"] = json!({ "annotations": { labels::DOWN_SINCE: null } });
    }
    let doing = Doing::ForgetStaleStart { member: member.name.clone() };
    Some(Step::patch_as_seen(kinds::MEMBER, &object.meta, patch, doing))
}

/// The repair that it needs. Of those that were down together one ended last, and hints of
/// what it took meanwhile are dropped as tombstones are: each range is repaired once. That
/// nobody has missed anything otherwise holds all the same, also when the ring is stopped again.
fn owed(facts: &Facts<'_>, member: &MemberFact, since: Timestamp, needs: Needs) -> Option<Debt> {
    if facts.joined().count() < 2 {
        return None;
    }
    let until = facts.now();
    Some(match needs {
        Needs::Repair => {
            let member = member.name.clone();
            debts::repair_of_itself(Cause::Away { member, since, until })
        }
        Needs::Nothing => debts::repair_of_each_range(facts, Cause::RingStood { since, until }),
    })
}
