//! Who comes back under another address next.

use super::moved::{self, Moved};
use crate::decide::draft::Draft;
use crate::decide::evidence;
use crate::decide::turn::{lock, seeds};
use crate::facts::words::server_words;
use crate::facts::{Facts, MemberFact, Process};
use crate::validate::Valid;
use crate::words::readdress::{Doing, Problem, Waiting};
use palladion_api::cluster::{Replaced, TurnStep};
use palladion_api::ids::{HostId, MemberName};
use palladion_api::labels;
use palladion_api::member::{PermitKind, PermitState};
use palladion_api::reasons::Reason;
use palladion_plan::Flow;
use palladion_plan::words::Names;

/// Agents of before this protocol do not know the permit.
const KNOWS_READDRESS: u32 = 5;

/// Give the turn to a member that has another address than the ring knows. Seeds
/// come first: where nobody is up, only a seed comes up alone.
pub fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    let mut all: Vec<Moved<'_>> = facts.members.values().filter_map(moved::of).collect();
    all.sort_by_key(|m| !seeds::is_designated(valid, m.member));
    for moved in &all {
        if !may_begin(facts, valid, moved, draft) {
            continue;
        }
        let Some(volume) = moved.member.volume() else { continue };
        let name = &moved.member.name;
        let mut turn = lock::new(facts, name, &volume.volume_id, TurnStep::Readdress, 1);
        turn.replaces =
            Some(Replaced { host_id: moved.host_id.clone(), address: moved.before.clone() });
        let doing = Doing::Start { member: name.clone() };
        draft.steps.push(lock::take(facts, &turn, doing, None));
        return Flow::Busy;
    }
    Flow::Free
}

/// The cheap look; says what is in the way.
fn may_begin(facts: &Facts<'_>, valid: &Valid, moved: &Moved<'_>, draft: &mut Draft) -> bool {
    let (member, name) = (moved.member, || moved.member.name.clone());
    if let Some(waiting) = still_known(facts, moved) {
        draft.wait_for(waiting).about(member.subject());
        return false;
    }
    if let Some(problem) = forbids(facts, moved) {
        draft.report(problem);
        return false;
    }
    // Told with its own reason: a permit would start nobody, and hold up the rest.
    let others_first = [Reason::DataTooOld, Reason::WaitingForRevision, Reason::WaitingForAddress]
        .map(Reason::as_str);
    let reason = member.reported_server().and_then(|s| s.reason.as_deref());
    if reason.is_some_and(|reason| others_first.contains(&reason)) {
        return false;
    }
    if moved::loses_claim(member) {
        draft.wait_for(Waiting::ClaimGoes { member: name() }).about(member.subject());
        return false;
    }
    let others = evidence::others(facts, &member.name);
    // What it announces is known when it is up.
    if member.may_run() && !member.is_normal() {
        return false;
    }
    if !others.is_empty() {
        let up = evidence::seen_up_by(facts, &member.name, moved.host_id);
        if !up.is_empty() {
            let (by, address) = (Names::of(&up), moved.now.clone());
            let waiting = Waiting::SeenUp { member: name(), address, by };
            draft.wait_for(waiting).about(member.subject());
            return false;
        }
        if let (true, Err(why)) = (member.may_run(), evidence::others_are_quiet(facts, member)) {
            let waiting = Waiting::Runs { member: name(), address: moved.before.clone(), why };
            draft.wait_for(waiting).about(member.subject());
            return false;
        }
        return true;
    }
    if evidence::is_given_up(facts, member, moved.before).is_some() {
        return true;
    }
    let rest = || facts.joined().filter(|m| m.name != member.name);
    let others_start = rest().find(|m| m.process() == Process::MayRun).map(|other| {
        let (other, server) = (other.name.clone(), server_words(other));
        Waiting::OthersStart { member: name(), other, server }
    });
    let not_heard = || {
        let other = rest().find(|m| m.process() == Process::Unknown)?;
        let (other, server) = (other.name.clone(), server_words(other));
        Some(Waiting::OthersNotHeard { member: name(), other, server })
    };
    if let Some(waiting) = others_start.or_else(not_heard) {
        draft.wait_for(waiting).about(member.subject());
        return false;
    }
    draft.report(Problem::NobodyUp {
        member: name(),
        before: moved.before.clone(),
        now: moved.now.clone(),
        namespace: valid.namespace.clone(),
        cluster: valid.name.clone(),
        annotation: labels::GIVE_UP_ADDRESSES,
    });
    false
}

/// What asks for a person before the ring is asked.
fn forbids(facts: &Facts<'_>, moved: &Moved<'_>) -> Option<Problem> {
    let (member, name) = (moved.member, moved.member.name.clone());
    if let Some(other) = moved::also_of(facts, moved) {
        let (address, other) = (moved.now.clone(), other.name.clone());
        return Some(Problem::InUse { member: name, address, other });
    }
    if let Some((witness, host_id)) = known_there(facts, moved) {
        let address = moved.now.clone();
        return Some(Problem::Known { member: name, address, witness, host_id });
    }
    let agent = member.status.agent.as_ref()?;
    if agent.protocol < KNOWS_READDRESS {
        return Some(Problem::OldAgent { member: name, version: agent.version.clone() });
    }
    let why = refused(member)?;
    Some(Problem::AgentRefused { member: name, why })
}

/// Who of the others has somebody else in trouble under the new address: one on no record,
/// perhaps. The ring would be asked in vain, again and again.
fn known_there(facts: &Facts<'_>, moved: &Moved<'_>) -> Option<(MemberName, HostId)> {
    let others = evidence::others(facts, &moved.member.name);
    others.into_iter().find_map(|witness| {
        let ring = witness.status.ring.as_ref()?;
        let mut odd = ring.exceptions.iter();
        let there = odd.find(|m| m.address == *moved.now && m.host_id != *moved.host_id)?;
        Some((witness.name.clone(), there.host_id.clone()))
    })
}

/// A member that is under another address by now, of which somebody has not heard yet. It
/// needs nobody.
fn still_known(facts: &Facts<'_>, moved: &Moved<'_>) -> Option<Waiting> {
    let (witness, host_id) = known_there(facts, moved)?;
    let has_moved = moved::also_of(facts, moved).is_none();
    let other = facts.joined().find(|m| m.recorded_host_id() == Some(&host_id))?;
    let (member, address) = (moved.member.name.clone(), moved.now.clone());
    let other = other.name.clone();
    has_moved.then_some(Waiting::StillKnown { member, address, witness, other })
}

/// What the agent of this pod has said to the last permit of this kind.
fn refused(member: &MemberFact) -> Option<String> {
    let start = member.spec.as_ref()?.start.as_ref()?;
    let is_of_pod = member.pod.as_ref().is_some_and(|p| p.uid == start.pod_uid);
    let answer = member.status.permit.as_ref().filter(|p| p.nonce == start.nonce)?;
    let is_refused = answer.state == PermitState::Refused && start.kind == PermitKind::Readdress;
    (is_of_pod && is_refused).then(|| answer.message.clone().unwrap_or_default())
}
