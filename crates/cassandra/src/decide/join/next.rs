//! Who joins next, and what must be so before it may have the turn.

use crate::clients;
use crate::decide::draft::Draft;
use crate::decide::evidence::{self, marks};
use crate::decide::maintenance::access;
use crate::decide::objects::replicas;
use crate::decide::turn::{failed_start, grace, lock};
use crate::facts::words::pod_words;
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::evidence::Forbidden;
use crate::words::join::{Doing, Problem, Waiting};
use crate::words::turn::{self, Work};
use palladion_api::cluster::{Replaced, TurnStep};
use palladion_api::member::{PermitKind, PermitState, VolumeState, VolumeStatus};
use palladion_plan::Flow;

/// The next member that should join, if the ring allows it.
pub fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> Flow {
    let Some(member) = candidate(facts, valid, draft) else {
        return Flow::Free;
    };
    let (name, subject) = (member.name.clone(), member.subject());
    if let Err(why) = evidence::ring_is_quiet(facts) {
        let otherwise = |why| Forbidden::Join { member: name, why };
        evidence::wait_for_ring(member, Work::Join, why, otherwise, draft);
        return Flow::Busy;
    }
    if access::is_open_to_all(facts, valid) {
        draft.wait_for(Waiting::ForRoles { member: name }).about(subject);
        return Flow::Free;
    }
    let earliest = grace::ends(facts, valid);
    if let Some(until) = earliest.filter(|t| *t > facts.now()) {
        draft.wait_for(Waiting::ForGrace { member: name, until }).about(subject).until(until);
        return Flow::Busy;
    }
    let Some(volume) = member.volume() else {
        return Flow::Free;
    };
    let turn = lock::new(facts, &member.name, &volume.volume_id, TurnStep::Join, 1);
    draft.steps.push(lock::take(facts, &turn, Doing::Start { member: name }, None));
    Flow::Busy
}

/// Is it to join? A ring that is restored becomes what the backup was, and then what is asked for.
pub fn is_asked_for(facts: &Facts<'_>, valid: &Valid, member: &MemberFact) -> bool {
    replicas::is_wanted(valid, member) || facts.place_of(&member.name).is_some()
}

/// First in order with an agent that speaks and a volume that has not joined.
pub fn candidate<'a>(
    facts: &'a Facts<'_>,
    valid: &Valid,
    draft: &mut Draft,
) -> Option<&'a MemberFact> {
    for (_, name) in replicas::in_order(facts, valid) {
        let Some(member) = facts.members.get(&name) else {
            continue;
        };
        let has_a_past = member.recorded_host_id().is_some() || marks::of(member).is_some();
        // Who was stopped before it joined is not begun with.
        let is_out = member.is_gone() || member.is_stopped();
        if is_out || has_a_past || !is_asked_for(facts, valid, member) {
            continue;
        }
        let Some(volume) = member.volume() else {
            let subject = member.subject();
            let pod = pod_words(member);
            draft.wait_for(Waiting::ForPod { member: name, pod }).about(subject);
            continue;
        };
        if !matches!(volume.state, VolumeState::Empty | VolumeState::Incomplete | VolumeState::Left)
        {
            continue; // Reported by status with its own reason.
        }
        // Nobody joins a ring that is being restored but those who take a place of the backup.
        if facts.restoring().is_some() {
            let place = facts.place_of(&member.name);
            if place.is_none_or(|place| !member.has_tokens_of(place)) {
                continue;
            }
        }
        // `load_balancers` says so.
        if clients::lacks_address(valid, member) {
            continue;
        }
        if let Some(problem) = terminated(member, volume) {
            draft.report(problem);
            continue;
        }
        if failed_start::has_failed_for_good(member) {
            failed_start::report_for_good(member, draft);
            continue;
        }
        return Some(member);
    }
    None
}

/// No server starts on a volume that a user has terminated: not that of the member
/// that it was taken from the ring with, and of no other one (safety rule 6.14).
fn terminated(member: &MemberFact, volume: &VolumeStatus) -> Option<Problem> {
    let claim = member.claim.as_ref()?;
    let is_recorded = claim.terminated_volume().as_ref() == Some(&volume.volume_id);
    (is_recorded || member.is_banned()).then(|| Problem::Terminated {
        member: member.name.clone(),
        volume: volume.volume_id.clone(),
        claim: claim.object.meta.name.clone(),
    })
}

/// A permit that is in use although no turn is on record (the status was
/// lost): the turn is taken up again under the same nonce.
pub fn adopt_permit(facts: &Facts<'_>, draft: &mut Draft) -> Flow {
    for member in facts.members.values() {
        let Some(start) = member.spec.as_ref().and_then(|s| s.start.as_ref()) else {
            continue;
        };
        let for_this_pod = member.pod.as_ref().is_some_and(|p| p.uid == start.pod_uid);
        let state =
            member.status.permit.as_ref().filter(|p| p.nonce == start.nonce).map(|p| p.state);
        let open = matches!(
            state,
            None | Some(PermitState::Used | PermitState::Done | PermitState::Unknown)
        );
        if !for_this_pod || !open {
            continue;
        }
        let step = match start.kind {
            PermitKind::Initialize => TurnStep::Initialize,
            PermitKind::Join | PermitKind::Restore => TurnStep::Join,
            PermitKind::Replace => TurnStep::Replace,
            PermitKind::ResumeLeave | PermitKind::Readdress => continue,
            // Of a newer operator: nothing else starts while it may be in use.
            PermitKind::Unknown(_) => {
                let waiting = Waiting::UnknownPermit { member: member.name.clone() };
                draft.wait_for(waiting).about(member.subject());
                return Flow::Busy;
            }
        };
        let mut turn = lock::new(facts, &member.name, &start.volume_id, step, start.attempt);
        turn.nonce.clone_from(&start.nonce);
        let replaced = start.host_id.clone().zip(start.replace_address.clone());
        turn.replaces = replaced.map(|(host_id, address)| Replaced { host_id, address });
        let doing = turn::Doing::Resume { member: member.name.clone(), work: step.into() };
        draft.steps.push(lock::take(facts, &turn, doing, None));
        return Flow::Busy;
    }
    Flow::Free
}
