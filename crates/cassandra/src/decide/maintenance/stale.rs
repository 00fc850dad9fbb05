//! Members that were down for longer than tombstones are kept. Their agents do
//! not start them, since deleted rows would come back (safety rule 7.8). Where
//! the whole ring was down, nobody has deleted anything meanwhile: all start but those
//! that lacked something before, and that is on record of each until it is up, so that
//! nothing is repaired for it. It holds for as long as tombstones are kept from then on:
//! whoever is not up by then is asked about again.

use super::missed::{self, Needs};
use super::{absences, debts, hints};
use crate::decide::draft::Draft;
use crate::decide::evidence::marks;
use crate::decide::turn::stopping;
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::maintenance::{Cause, Doing, Problem};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::ids::MemberName;
use palladion_api::labels;
use palladion_api::member::RingDown;
use palladion_plan::Step;
use palladion_plan::words::Names;
use serde_json::{Value, json};

/// Members that ended within this time have ended together: a sign of life is up
/// to a minute old, and the last to end took no deletion that the hints of the
/// others would not have brought.
const TOGETHER: SignedDuration = SignedDuration::from_mins(5);

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
    let still_down = !stopping::is_wanted(facts) && all_were_down_together(facts);
    for member in facts.members.values() {
        let Some(at) = last_ran_at(member) else {
            continue;
        };
        let has_run_out = has_run_out(facts, member, at);
        let is_due = allowed(member) != Some(at) || has_run_out;
        if still_down && is_due && !is_out(member) && !lacked_data(member, at) {
            draft.steps.extend(allow(facts, member));
        } else if has_run_out {
            draft.steps.extend(take_back(member, at));
        }
    }
    report(facts, draft);
}

/// Did it lack what others had when the ring went down at this time? Deletions may be among
/// that: the others drop their tombstones as soon as they are up.
fn lacked_data(member: &MemberFact, at: Timestamp) -> bool {
    let mut pending = member.spec.iter().flat_map(|s| &s.pending_maintenance);
    was_away_before(member, at) || pending.any(debts::may_lack)
}

/// Is its volume given up or marked for replacement? What no server starts on any more brings
/// nothing back.
fn is_out(member: &MemberFact) -> bool {
    member.is_terminated() || marks::of(member).is_some()
}

/// Is its data too old to start with, and is it not let in with the rest of the ring?
pub fn waits_for_a_user(member: &MemberFact) -> bool {
    last_ran_at(member).is_some_and(|at| allowed(member) != Some(at) && lacked_data(member, at))
}

/// Is it on record that it was down, or cut off, before the ring was?
pub(super) fn was_away_before(member: &MemberFact, at: Timestamp) -> bool {
    absences::since_on_record(member).is_some_and(|since| since < at - TOGETHER)
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
fn last_ran_at(member: &MemberFact) -> Option<Timestamp> {
    member.reported_server()?;
    let volume = member.volume().filter(|v| v.missed.is_none())?;
    Some(volume.last_ran_at.as_ref()?.0)
}

/// That the whole ring was down, where its start is allowed for that.
pub(super) fn stood(member: &MemberFact) -> Option<&RingDown> {
    let down = member.spec.as_ref()?.ring_down.as_ref();
    down.filter(|down| allowed(member) == Some(down.since.0))
}

fn allowed(member: &MemberFact) -> Option<Timestamp> {
    Some(member.spec.as_ref()?.allow_stale_start.as_ref()?.0)
}

/// Every member of the ring says so itself; one that is silent may have run.
fn all_were_down_together(facts: &Facts<'_>) -> bool {
    who_may_have_run(facts).is_some_and(|others| others.is_empty())
}

/// Who keeps the others from being let in together: one that does not say when it ran last,
/// has missed something before, or ran for longer than the first to end. `None` where nobody
/// asks to be let in.
fn who_may_have_run<'a>(facts: &'a Facts<'_>) -> Option<Vec<&'a MemberName>> {
    // One that was allowed to start just now says so no longer.
    let has_missed = |m: &MemberFact| m.volume().is_none_or(|v| v.missed.is_some());
    let is_starting = |m: &MemberFact| m.agent_speaks() && !m.is_normal() && !has_missed(m);
    let starting = |m: &MemberFact| allowed(m).filter(|_| is_starting(m));
    let all = facts.joined().filter(|m| !is_out(m));
    let times = all.map(|m| (m, last_ran_at(m).or_else(|| starting(m))));
    let times: Vec<(&MemberFact, Option<Timestamp>)> = times.collect();
    if times.iter().all(|(_, at)| at.is_none()) {
        return None;
    }
    // Who lacked something before may have ended before, too: it is not let in.
    let let_in = times.iter().filter(|(m, at)| at.is_some_and(|at| !lacked_data(m, at)));
    let first = let_in.filter_map(|(_, at)| *at).min();
    let ran_on = |at: Timestamp| first.is_none_or(|first| at.duration_since(first) > TOGETHER);
    let others = times.iter().filter(|(_, at)| at.is_none_or(ran_on));
    Some(others.map(|(m, _)| &m.name).collect())
}

/// Nobody is up, and one that is not there keeps the others from being let in together.
fn report(facts: &Facts<'_>, draft: &mut Draft) {
    let asks = |m: &&MemberFact| last_ran_at(m).is_some_and(|at| allowed(m) != Some(at));
    let waiting: Vec<&MemberName> = facts.joined().filter(asks).map(|m| &m.name).collect();
    let others = who_may_have_run(facts).unwrap_or_default();
    let is_up = facts.joined().any(MemberFact::is_normal) || stopping::is_wanted(facts);
    if is_up || waiting.is_empty() || others.is_empty() {
        return;
    }
    let (waiting, others) = (Names::of(waiting), Names::of(others));
    draft.report(Problem::NotTogether { waiting, others });
}

fn allow(facts: &Facts<'_>, member: &MemberFact) -> Option<Step> {
    let (object, since) = (member.object.as_ref()?, last_ran_at(member)?);
    let down = RingDown { since: Time(since), until: Time(facts.now()) };
    let patch = json!({ "spec": { "allowStaleStart": down.since, "ringDown": down } });
    let doing = Doing::AllowStaleStart { member: member.name.clone(), since };
    Some(Step::patch_seen(kinds::MEMBER, &object.meta, patch, doing))
}

/// It is up: what it has missed is repaired, however long it was seen down. Who was down
/// with the whole ring has missed nothing.
fn forget(facts: &Facts<'_>, valid: &Valid, member: &MemberFact) -> Option<Step> {
    let (object, since) = (member.object.as_ref()?, allowed(member)?);
    let repair = || {
        let cause = Cause::Away { member: member.name.clone(), since, until: facts.now() };
        debts::spec_with(member, &debts::repair_of_itself(cause))
    };
    let stood = missed::stood_on_record(member, hints::window(valid));
    let needs = if stood { Needs::Nothing } else { Needs::Repair };
    let spec = missed::with_mark(member, if stood { None } else { repair() }, needs);
    let mut spec = spec.unwrap_or_else(|| json!({}));
    (spec["allowStaleStart"], spec["ringDown"]) = (Value::Null, Value::Null);
    let mut patch = json!({ "spec": spec });
    if member.down_note().is_some() {
        patch["metadata"] = json!({ "annotations": { labels::DOWN_SINCE: null } });
    }
    let doing = Doing::ForgetStaleStart { member: member.name.clone() };
    Some(Step::patch_as_seen(kinds::MEMBER, &object.meta, patch, doing))
}
