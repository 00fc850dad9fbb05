//! Who leaves next, and what must be so before it may have the turn.

use super::never;
use crate::decide::backups;
use crate::decide::departure;
use crate::decide::draft::Draft;
use crate::decide::evidence;
use crate::decide::evidence::absence::left_by_hand;
use crate::decide::leave::{delivered, refused};
use crate::decide::maintenance::{debts, pay, system_keyspaces};
use crate::decide::objects::replicas;
use crate::decide::turn::lock;
use crate::facts::{Facts, MemberFact};
use crate::validate::{Valid, ValidRack};
use crate::words::evidence::{Forbidden, Objection};
use crate::words::leave::{Doing, Happened, Obstacle, Refused, Waiting};
use crate::words::turn::{self, Work};
use jiff::SignedDuration;
use palladion_api::cluster::{Turn, TurnStep};
use palladion_api::member::{Evidence, IntentState};
use palladion_plan::words::{Count, Names};
use palladion_plan::{Event, Flow};

/// Disks that lack room are looked at again after this long.
const LOOK_FOR_ROOM: SignedDuration = SignedDuration::from_secs(120);
/// A leave that failed is not tried again at once: its cause is rarely gone.
const LEAVE_RETRY: SignedDuration = SignedDuration::from_secs(60);

/// The next member that should leave, if the ring can spare it.
pub fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    let Some((rack, member)) = candidate(facts, valid) else {
        return Flow::Free;
    };
    if member.recorded_host_id().is_none() {
        return never::next(facts, member, draft);
    }
    let name = member.name.clone();
    // Before anything is lowered for it; and it holds up nothing else (safety rule 7.6).
    let quiet = evidence::ring_is_quiet(facts);
    if let Some(refused) = refusal(facts, member, &quiet) {
        draft.report(refused);
        return Flow::Free;
    }
    if let Some(waits) = backups::waits_for_uploads(facts) {
        draft.wait_for(waits).about(member.subject());
        return Flow::Free;
    }
    if let Some(waits) = delivered::before(facts, valid, member) {
        draft.wait_for(waits).about(member.subject());
        return Flow::Free;
    }
    if let Err(why) = quiet {
        let otherwise = |why| Forbidden::Leave { member: name, why };
        evidence::wait_for_ring(member, Work::Leave, why, otherwise, draft);
        return Flow::Busy;
    }
    if let Some(pending) = debts::first(facts) {
        draft.wait_for(Waiting::Maintenance { member: name, pending }).about(member.subject());
        return pay::pay(facts, draft);
    }
    let members = facts.not_rebuilt();
    // With the datacenter nothing is left that others would lack.
    if !members.is_empty() && !facts.leaves() {
        let members = Names::of(members);
        draft.wait_for(Waiting::NotRebuilt { member: name, members }).about(member.subject());
        return Flow::Free;
    }
    let before = draft.steps.len();
    if is_held_up(facts, valid, member, draft).is_busy() {
        // What waits for room, or for its next try, holds up nothing else (safety rule 7.6).
        let fits = system_keyspaces::fit(facts, valid, left_without(facts));
        let idle = draft.steps.len() == before && (fits || system_keyspaces::is_refused(facts));
        return if idle { Flow::Free } else { Flow::Busy };
    }
    let Some(volume) = member.volume() else {
        return Flow::Free;
    };
    let turn = lock::new(facts, &member.name, &volume.volume_id, TurnStep::Leave, 1);
    let members = Count::of(member.ordinal, "member");
    let event = Event::normal(Happened::ScalingDown { rack: rack.name.clone(), members });
    draft.steps.push(lock::take(facts, &turn, Doing::Start { member: name }, Some(event)));
    Flow::Busy
}

/// Where all that had joined have left with their datacenter, who never joined goes as well.
pub fn never_joined(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let mut unwanted = candidates(facts, valid).map(|(_, member)| member);
    if let Some(member) = unwanted.find(|m| m.recorded_host_id().is_none()) {
        let _ = never::next(facts, member, draft);
    }
}

/// Does a leave that may go on want the system keyspaces kept by fewer members?
/// While servers refuse that, or the leave waits for something else, all else goes
/// on, and nothing but the leave touches the replication.
pub fn lowers_replication(facts: &Facts<'_>, valid: &Valid) -> bool {
    let Some((_, member)) = candidate(facts, valid) else {
        return false;
    };
    let quiet = evidence::ring_is_quiet(facts);
    member.recorded_host_id().is_some()
        && !left_by_hand(facts, member)
        && refusal(facts, member, &quiet).is_none()
        && backups::waits_for_uploads(facts).is_none()
        && delivered::before(facts, valid, member).is_none()
}

/// A member that is to leave and has left already goes before everybody else:
/// until that is on record the ring is not whole. What is missing is the proof.
pub fn already_left(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    let mut unwanted = candidates(facts, valid).map(|(_, member)| member);
    let Some(member) = unwanted.find(|m| left_by_hand(facts, m)) else {
        return Flow::Free;
    };
    let Some(volume) = member.volume() else {
        return Flow::Free;
    };
    let turn = lock::new(facts, &member.name, &volume.volume_id, TurnStep::Leave, 1);
    let doing = Doing::FindOut { member: member.name.clone() };
    draft.steps.push(lock::take(facts, &turn, doing, None));
    Flow::Busy
}

/// How many members would be left.
fn left_without(facts: &Facts<'_>) -> usize {
    let members = facts.joined();
    members.count().saturating_sub(1)
}

/// What forbids this leave until a user changes the ring.
pub(super) fn refusal(
    facts: &Facts<'_>,
    member: &MemberFact,
    quiet: &Result<(), Objection>,
) -> Option<Refused> {
    let (left, name) = (left_without(facts), member.name.clone());
    // With its datacenter it leaves as the last one too: no keyspace of clients names it.
    if departure::takes_along(facts, member) {
        return None;
    }
    if left == 0 {
        return Some(Refused::Last { member: name });
    }
    let obstacle = refused::by_replication(facts, &member.rack, left)?;
    // A ring that is not whole is waited for; in one that is, not to know forbids.
    if matches!(obstacle, Obstacle::ReplicationUnknown) && quiet.is_err() {
        return None;
    }
    Some(Refused::Obstructed { member: name, obstacle })
}

/// What is in the way although the ring is well: the system keyspaces, disks, a
/// leave that has failed.
pub(super) fn is_held_up(
    facts: &Facts<'_>,
    valid: &Valid,
    member: &MemberFact,
    draft: &mut Draft,
) -> Flow {
    let left = left_without(facts);
    let is_with_all = departure::takes_along(facts, member);
    if !is_with_all && !system_keyspaces::fit(facts, valid, left) {
        system_keyspaces::set(facts, valid, left, draft);
        return Flow::Busy;
    }
    let by_disk = || refused::by_disk(facts, member, last_figures);
    if let Some((obstacle, read_at)) = (!is_with_all).then(by_disk).flatten() {
        let again = facts.again(read_at, answered(facts), LOOK_FOR_ROOM);
        if facts.now() < again {
            refused_by_disk(member, &obstacle, again, draft);
            return Flow::Busy;
        }
    }
    if let Some(at) = failed_until(facts, member) {
        let name = member.name.clone();
        draft.wait_for(Waiting::Retry { member: name, at }).about(member.subject()).until(at);
        return Flow::Busy;
    }
    Flow::Free
}

/// What a member answered last.
pub fn last_answer(member: &MemberFact) -> Option<&Evidence> {
    member.status.evidence.as_ref()
}

/// The last answer to whatever was asked: of disks it is a good hint.
fn last_figures(member: &MemberFact) -> Option<&Evidence> {
    last_answer(member).filter(|e| e.disk.is_some())
}

/// When the members last answered a question, by the clocks that can be right: one
/// that is ahead or behind must not make the disks be looked at without end, or
/// never again (safety rule 7.7).
fn answered(facts: &Facts<'_>) -> Option<jiff::Timestamp> {
    let answers = facts.members.values().filter_map(|m| Some(last_figures(m)?.read_at.0));
    answers.filter(|at| *at <= facts.now()).max()
}

/// When disks are looked at again that were found too small by answers to this turn.
pub fn looks_again(facts: &Facts<'_>, turn: &Turn, read_at: jiff::Timestamp) -> jiff::Timestamp {
    facts.again(read_at, Some(turn.since.0), LOOK_FOR_ROOM)
}

/// Wait: the disks of those that stay cannot take what the leaver holds.
pub fn refused_by_disk(
    member: &MemberFact,
    obstacle: &Obstacle,
    again: jiff::Timestamp,
    draft: &mut Draft,
) {
    let (name, obstacle) = (member.name.clone(), obstacle.clone());
    let refused = Refused::Obstructed { member: name, obstacle };
    draft.report(refused.clone());
    draft.wait_for(refused).about(member.subject()).until(again);
}

/// Highest ordinal of the largest rack that is above its target, so that racks
/// stay of one size for as long as possible; of two the one further above it.
pub fn candidate<'a, 'v>(
    facts: &'a Facts<'_>,
    valid: &'v Valid,
) -> Option<(&'v ValidRack, &'a MemberFact)> {
    candidates(facts, valid).max_by_key(|(rack, member)| (member.ordinal, -rack.members))
}

/// Highest ordinal of each rack that is above its target.
fn candidates<'a, 'v>(
    facts: &'a Facts<'_>,
    valid: &'v Valid,
) -> impl Iterator<Item = (&'v ValidRack, &'a MemberFact)> {
    valid
        .racks
        .iter()
        .map(|rack| (replicas::of(facts, rack), rack))
        .filter(|(have, rack)| *have > rack.members)
        .filter_map(|(have, rack)| {
            let name = palladion_api::names::member(&rack.set, have - 1);
            facts.members.get(&name).map(|m| (rack, m))
        })
}

/// An intent that is under way although no turn is on record (the status was
/// lost): the turn is taken up again under the same nonce.
pub fn adopt_intent(facts: &Facts<'_>, draft: &mut Draft) -> Flow {
    let open = facts.members.values().filter(|m| !m.is_gone());
    let mut found = open.filter_map(|m| Some((m, m.spec.as_ref()?.intent.as_ref()?)));
    let Some((member, intent)) = found.next() else {
        return Flow::Free;
    };
    let mut turn = lock::new(facts, &member.name, &intent.volume_id, TurnStep::Leave, 1);
    turn.nonce.clone_from(&intent.nonce);
    let doing = turn::Doing::Resume { member: member.name.clone(), work: turn.step.into() };
    draft.steps.push(lock::take(facts, &turn, doing, None));
    Flow::Busy
}

fn failed_until(facts: &Facts<'_>, member: &MemberFact) -> Option<jiff::Timestamp> {
    let failed = member.status.intent.as_ref().filter(|i| i.state == IntentState::Failed)?;
    let since = failed.since.as_ref()?.0;
    let again = since + LEAVE_RETRY;
    // A member whose clock is ahead holds up nothing (safety rule 7.7).
    (since <= facts.now() && facts.now() < again).then_some(again)
}
