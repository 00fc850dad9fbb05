//! The start of one member that was stopped: while nobody joins or leaves, with
//! a seed to learn the ring from, and not too soon after another start.

use super::order::{self, Order};
use crate::decide::draft::Draft;
use crate::decide::evidence::marks;
use crate::decide::turn::{grace, lock, seeds};
use crate::facts::leaver::failed_halfway;
use crate::facts::words::{pod_words, server_words};
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::evidence::Objection;
use crate::words::wanted::{Doing, Ended, Happened, Starting};
use palladion_api::cluster::{Turn, TurnStep};
use palladion_api::ids::HostId;
use palladion_api::member::{MemberState, RunState, ServerState, WantedRun};
use palladion_api::reasons::Reason;
use palladion_plan::{Event, Step};
use serde_json::json;

/// May it be started? Says why not.
pub fn may_begin(facts: &Facts<'_>, valid: &Valid, member: &MemberFact, draft: &mut Draft) -> bool {
    let name = || member.name.clone();
    if member.volume().is_none() {
        let waiting = Starting::ForAgent { member: name(), pod: pod_words(member) };
        draft.wait_for(waiting).about(member.subject());
        return false;
    }
    // It would wait with the turn for what only people can give.
    if member.is_banned() {
        draft.wait_for(Starting::Banned { member: name() }).about(member.subject());
        return false;
    }
    if let Some(why) = on_the_move(facts, member) {
        draft.wait_for(Starting::ForRing { member: name(), why }).about(member.subject());
        return false;
    }
    if !has_a_seed(facts, valid, member) {
        draft.wait_for(Starting::ForSeed { member: name() }).about(member.subject());
        return false;
    }
    let earliest = grace::ends(facts, valid).filter(|t| *t > facts.now());
    if let Some(until) = earliest {
        let waiting = Starting::ForGrace { member: name(), until };
        draft.wait_for(waiting).about(member.subject()).until(until);
        return false;
    }
    true
}

/// Who joins, leaves or moves in the view of a member that serves. Not whose leave
/// has failed halfway: that goes on when this one is up, and nothing moves until
/// then. And not the member itself: its start is what ends that.
fn on_the_move(facts: &Facts<'_>, member: &MemberFact) -> Option<Objection> {
    let stands = |m: &&MemberFact| m.name == member.name || failed_halfway(m).is_some();
    let standing = facts.members.values().filter(stands);
    let standing: Vec<&HostId> = standing.filter_map(MemberFact::recorded_host_id).collect();
    let witnesses = facts.members.values().filter(|m| m.is_normal() && marks::of(m).is_none());
    witnesses.into_iter().find_map(|witness| {
        let seen = witness.status.ring.iter().flat_map(|ring| &ring.exceptions);
        let mut moving = seen.filter(|e| !standing.contains(&&e.host_id));
        let odd = moving.find(|e| match e.state {
            MemberState::Joining | MemberState::Leaving | MemberState::Moving => true,
            // What a newer agent calls otherwise may be one of these.
            MemberState::Unknown => true,
            MemberState::Normal => false,
        })?;
        Some(Objection::Sees {
            witness: witness.name.clone(),
            address: odd.address.clone(),
            life: odd.liveness.into(),
            part: odd.state.into(),
        })
    })
}

/// A seed that is up and normal, or is this very member.
fn has_a_seed(facts: &Facts<'_>, valid: &Valid, member: &MemberFact) -> bool {
    let seeds = seeds::of(facts, valid);
    let is_seed = |m: &MemberFact| {
        let address = m.spec.as_ref().and_then(|s| s.address.as_ref());
        address.is_some_and(|a| seeds.contains(a))
    };
    // In a ring that nobody has joined the first start is another work.
    seeds.is_empty()
        || is_seed(member)
        || facts.members.values().any(|m| m.is_normal() && is_seed(m))
}

/// Go on with a Start turn.
pub fn advance(facts: &Facts<'_>, valid: &Valid, turn: &Turn, draft: &mut Draft) {
    let Some(member) = facts.members.get(&turn.member) else {
        draft.steps.push(lock::end(facts, turn, Ended::NoMember, None));
        return;
    };
    if order::is_on_its_way(member) {
        draft.steps.push(lock::end(facts, turn, Ended::NotWanted, None));
        return;
    }
    if !member.is_stopped() {
        return follow(facts, valid, turn, member, draft);
    }
    if order::of(member) != Some(Order::Start) {
        draft.steps.push(lock::end(facts, turn, Ended::NotWanted, None));
        return;
    }
    let Some(meta) = member.object.as_ref().map(|o| &o.meta) else {
        return;
    };
    let name = || member.name.clone();
    let patch = json!({ "spec": { "run": RunState::Running } });
    let event = Event::normal(Happened::Starts { member: name() });
    let step = Step::patch_as_seen(kinds::MEMBER, meta, patch, Doing::Start { member: name() });
    draft.steps.push(step.fenced(facts.fence(turn)).announced(event));
}

/// The order is given: the turn is held until it serves, or is in need of
/// something else than time.
fn follow(facts: &Facts<'_>, valid: &Valid, turn: &Turn, member: &MemberFact, draft: &mut Draft) {
    let name = || member.name.clone();
    if member.is_normal() {
        let event = Event::normal(Happened::Started { member: name() });
        draft.steps.push(lock::finish(facts, turn, Some(event)));
        return;
    }
    if let Some((step, doing)) = instead(facts, valid, member) {
        let Some(volume) = order::volume(member) else { return };
        let other = lock::new(facts, &member.name, &volume, step, 1);
        draft.steps.push(lock::pass(facts, &other, doing, None));
        return;
    }
    if !member.agent_answers(&facts.nodes) {
        draft.steps.push(lock::end(facts, turn, Ended::Silent, None));
        return;
    }
    let server = member.reported_server();
    let is_stalled = server.and_then(|s| s.reason.as_deref()) == Some(Reason::NoProgress.as_str());
    let has_failed = server.is_some_and(|s| match s.state {
        // It serves no more, or the reason says what it needs; `Degraded` tells it.
        ServerState::Failed | ServerState::Waiting | ServerState::Decommissioned => true,
        // It has not read the order yet, or is at it.
        ServerState::Stopped
        | ServerState::Stopping
        | ServerState::Starting
        | ServerState::Running
        | ServerState::Unknown => is_stalled,
    });
    if has_failed {
        let failed = Ended::Failed { server: server_words(member) };
        draft.steps.push(lock::end(facts, turn, failed, None));
        return;
    }
    let waiting = Starting::Boots { member: name(), server: server_words(member) };
    draft.wait_for(waiting).about(member.subject());
}

/// One that does not come up would hold the turn for ever: people may take it
/// back, and a newer spec overtakes it.
fn instead(facts: &Facts<'_>, valid: &Valid, member: &MemberFact) -> Option<(TurnStep, Doing)> {
    let name = || member.name.clone();
    if member.wanted().and_then(|w| w.run) == Some(WantedRun::Stopped) {
        return Some((TurnStep::Stop, Doing::StopInstead { member: name() }));
    }
    let rack = valid.racks.iter().find(|r| r.name == member.rack)?;
    let newest = facts.newest_revision(&rack.set)?;
    let pod = member.pod.as_ref().filter(|p| !p.terminating && p.revision != newest)?;
    let doing = Doing::UpdateInstead { member: name(), revision: pod.revision.clone() };
    Some((TurnStep::Restart, doing))
}
