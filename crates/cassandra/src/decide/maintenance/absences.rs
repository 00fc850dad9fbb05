//! Members that do not serve, or that others see down: since when, so that it
//! is known afterwards whether hints have covered the time. Whoever was away for
//! longer lacks writes, and needs a repair when it is back (safety rule 5.1).
//!
//! The time stands in an annotation of the member: it outlives the operator, the
//! pod and the agent. A restart is over before it would be written.

use super::missed::{self, Needs, Others};
use super::{cut_off, debts, hinted, hints};
use crate::decide::draft::Draft;
use crate::decide::evidence::marks;
use crate::decide::turn::stopping::{self, Standing};
use crate::facts::{ClaimFact, Facts, MemberFact};
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::maintenance::{Cause, Doing, Waiting};
use jiff::{SignedDuration, Timestamp};
use palladion_api::ids::HostId;
use palladion_api::labels;
use palladion_api::member::Liveness;
use palladion_plan::Step;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// An absence is written down after this long at the latest. Restarts take less.
const NOTED_AFTER: SignedDuration = SignedDuration::from_mins(10);
/// The clock of a kubelet may be ahead by so much; what it writes of a later
/// time counts from now (safety rule 7.7).
const AHEAD: SignedDuration = SignedDuration::from_mins(1);
/// Others see a member up again some rounds of gossip after its pod is Ready.
const SEEN_UP_AFTER: SignedDuration = SignedDuration::from_mins(2);

/// Note who goes away, and what is needed of those that are back, where the members keep
/// hints for so long.
pub fn decide(facts: &Facts<'_>, window: SignedDuration, draft: &mut Draft) {
    // In a ring that stands stopped nobody misses a write. One that finishes
    // what it has begun before takes writes meanwhile.
    match stopping::standing(facts) {
        Standing::Stops => return,
        Standing::Runs | Standing::Finishes { .. } => {}
    }
    let seen_down = seen_down(facts);
    let presence = |member: &MemberFact| {
        let is_down = member.recorded_host_id().is_some_and(|id| seen_down.contains(id));
        presence(facts, member, if is_down { Seen::Down } else { Seen::NotDown })
    };
    let all_serve = facts.joined().all(|m| presence(m) == Presence::Serves);
    let others = if all_serve { Others::Serve } else { Others::Away };
    for member in facts.joined() {
        if member.object.is_none() {
            continue;
        }
        match (presence(member), member.down_note()) {
            (Presence::Away { .. }, Some(since)) => {
                cut_off::report(facts, member, parsed(since), draft);
            }
            (Presence::Unclear, _) => {}
            (Presence::Serves, None) => {
                draft.steps.extend(reports(facts, member, window, others));
            }
            (Presence::Serves, Some(since)) => {
                draft.steps.extend(is_back(facts, member, since, window, others));
            }
            (Presence::Away { since, noted }, None) => {
                // A window that is shorter than that is told apart, too.
                let early = if window.is_zero() { noted } else { since + window / 2 };
                let due = noted.min(early);
                if facts.now() < due && member.is_stopped() {
                    // As people want it: nothing is waited for.
                    draft.wake_at(due);
                } else if facts.now() < due {
                    let waiting = Waiting::Down { member: member.name.clone(), since };
                    draft.wait_for(waiting).about(member.subject()).until(due);
                } else {
                    draft.steps.extend(note(member, since));
                }
            }
        }
    }
}

/// A full member that was away for longer than hints are kept, and is back in
/// this very moment: what it needs goes on record before anybody streams from it.
/// The note stays, from now on, until the member is seen to serve.
pub fn uncounted(facts: &Facts<'_>, valid: &Valid) -> Option<Step> {
    let (window, now) = (hints::window(valid), facts.now());
    facts.joined().filter(|m| m.is_normal()).find_map(|member| {
        let object = member.object.as_ref()?;
        let noticed = since_on_record(member).filter(|since| *since < now);
        let patch = match noticed.and_then(|since| lacks(facts, member, since, window)) {
            Some(spec) => {
                let mut patch = noted(json!(now));
                patch["spec"] = missed::with_mark(member, Some(spec), Needs::Repair)?;
                patch
            }
            None => {
                let spec = missed::counted(facts, member, window, Others::Stream)?;
                json!({ "spec": spec })
            }
        };
        let doing = debts::recorded(member);
        Some(Step::patch_as_seen(kinds::MEMBER, &object.meta, patch, doing))
    })
}

/// It was away by its own report, and nobody has noted that.
fn reports(
    facts: &Facts<'_>,
    member: &MemberFact,
    window: SignedDuration,
    others: Others,
) -> Option<Step> {
    // Whose start was allowed by name is counted when that is taken back.
    let spec = member.spec.as_ref().filter(|s| s.allow_stale_start.is_none());
    let meta = &member.object.as_ref().filter(|_| spec.is_some())?.meta;
    let spec = missed::counted(facts, member, window, others)?;
    let doing = Doing::RecordUp { member: member.name.clone() };
    let is_mark = spec.get("pendingMaintenance").is_none();
    let annotations = match missed::covered(member, &spec) {
        Some(away) => hinted::pending(facts, member, away, window),
        None => hinted::settled(member),
    };
    let patch = json!({ "metadata": { "annotations": annotations }, "spec": spec });
    // The marks of a ring that stood are one: none of them waits for the next look.
    let step = match is_mark {
        true => Step::patch_seen(kinds::MEMBER, meta, patch, doing),
        false => Step::patch_as_seen(kinds::MEMBER, meta, patch, doing),
    };
    Some(step.announced(missed::reported_late(facts, member, window)))
}

fn note(member: &MemberFact, since: Timestamp) -> Option<Step> {
    let meta = &member.object.as_ref()?.meta;
    let doing = Doing::RecordDown { member: member.name.clone(), since };
    Some(Step::patch_seen(kinds::MEMBER, meta, noted(json!(since)), doing))
}

/// It serves again: the note goes, in one write with the repair that it needs.
fn is_back(
    facts: &Facts<'_>,
    member: &MemberFact,
    since: &str,
    window: SignedDuration,
    others: Others,
) -> Option<Step> {
    let object = member.object.as_ref()?;
    let away = (parsed(since), facts.now());
    let spec = match lacks(facts, member, away.0, window) {
        Some(spec) => missed::with_mark(member, Some(spec), Needs::Repair),
        None => missed::counted(facts, member, window, others),
    };
    let is_repaired = spec.as_ref().is_some_and(|s| s.get("pendingMaintenance").is_some());
    let mut annotations = match is_repaired {
        true => hinted::settled(member),
        false => hinted::pending(facts, member, away, window),
    };
    annotations[labels::DOWN_SINCE] = Value::Null;
    let mut patch = json!({ "metadata": { "annotations": annotations } });
    if let Some(spec) = spec {
        patch["spec"] = spec;
    }
    let doing = Doing::RecordUp { member: member.name.clone() };
    let away = (parsed(since), facts.now());
    let event = missed::returned_late(facts, member, away, window);
    let step = Step::patch_as_seen(kinds::MEMBER, &object.meta, patch, doing);
    Some(step.announced(event))
}

/// The patch that sets the note, or takes it off.
fn noted(since: Value) -> Value {
    json!({ "metadata": { "annotations": { labels::DOWN_SINCE: since } } })
}

/// Since when a member is away, by its note. A time that nobody can read may be any.
pub(super) fn since_on_record(member: &MemberFact) -> Option<Timestamp> {
    member.down_note().map(parsed)
}

/// Since when the member with this data was away when its record was lost, as its claim says.
pub fn on_claim(claim: &ClaimFact) -> Option<&str> {
    let annotations = &claim.object.meta.annotations;
    annotations.get(labels::DOWN_SINCE).filter(|_| claim.host_id.is_some()).map(String::as_str)
}

fn parsed(since: &str) -> Timestamp {
    since.parse().unwrap_or(Timestamp::UNIX_EPOCH)
}

/// The repair that goes on record for a member that was away until now, if hints
/// did not cover the time. One that is alone has nobody to repair from.
fn lacks(
    facts: &Facts<'_>,
    member: &MemberFact,
    since: Timestamp,
    window: SignedDuration,
) -> Option<Value> {
    let until = facts.now();
    if until.duration_since(since) < window || facts.joined().count() < 2 {
        return None;
    }
    if missed::stood_on_record(member, window) {
        return None;
    }
    let cause = Cause::Away { member: member.name.clone(), since, until };
    debts::spec_with(member, &debts::repair_of_itself(cause))
}

/// How the full members see another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    /// One of them sees it down.
    Down,
    /// None does.
    NotDown,
}

/// Where a member is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Presence {
    /// It serves, and nobody sees it down.
    Serves,
    /// It does not serve, or somebody sees it down; written down at the given time.
    Away { since: Timestamp, noted: Timestamp },
    /// It is on its way, or its pod is being recreated.
    Unclear,
}

fn presence(facts: &Facts<'_>, member: &MemberFact, seen: Seen) -> Presence {
    let now = facts.now();
    let pod = member.pod.as_ref();
    match (pod.and_then(|p| p.ready_since), seen) {
        (_, Seen::NotDown) if member.lives_by_its_own_word(&facts.nodes) => Presence::Serves,
        (_, Seen::NotDown) if member.is_sealed() && member.agent_answers(&facts.nodes) => {
            Presence::Serves
        }
        (Some(_), Seen::NotDown) => Presence::Unclear,
        (Some(ready), Seen::Down) => {
            let noted = if ready > now + AHEAD { now } else { ready + SEEN_UP_AFTER };
            Presence::Away { since: if now < noted { ready } else { now }, noted }
        }
        (None, seen) => match pod.and_then(|p| p.not_ready_since) {
            Some(since) if since > now + AHEAD => Presence::Away { since: now, noted: now },
            Some(since) => Presence::Away { since: since.min(now), noted: since + NOTED_AFTER },
            None if seen == Seen::Down => Presence::Away { since: now, noted: now },
            // Its set recreates the pod at once, or others will see it down.
            None => Presence::Unclear,
        },
    }
}

/// Host IDs that a full member sees down. Whoever is cut off sees all that are on the other
/// side down: where some see most of the ring up, only they are asked. What a few take
/// meanwhile is in their own ranges, and the repair of those brings it to the rest.
fn seen_down<'a>(facts: &'a Facts<'_>) -> BTreeSet<&'a HostId> {
    let members: BTreeSet<&HostId> = facts.joined().filter_map(|m| m.recorded_host_id()).collect();
    let witnesses = facts.members.values().filter(|m| m.is_normal() && marks::of(m).is_none());
    let views = witnesses.filter_map(|m| m.status.ring.as_ref()).map(|ring| {
        let down = ring.exceptions.iter().filter(|e| e.liveness == Liveness::Down);
        down.map(|e| &e.host_id).filter(|id| members.contains(id)).collect()
    });
    let views: Vec<BTreeSet<&HostId>> = views.collect();
    let sees_most = |down: &&BTreeSet<&HostId>| 2 * (members.len() - down.len()) > members.len();
    let is_few = |down: &&BTreeSet<&HostId>| 2 * (members.len() - down.len()) < members.len();
    let most_are_asked = views.iter().any(|down| sees_most(&down));
    let asked = views.iter().filter(|down| !(most_are_asked && is_few(down)));
    asked.flatten().copied().collect()
}
