//! Shrinking over a member that never joined: it holds no ranges. That ends in a ban
//! on its volume and in the end of its pod, so it is done in a turn: its permit is
//! withdrawn first, then others are asked whether the ring knows it (safety rule 6.6).

use super::next::candidate;
use super::steps::{end, terminate, withdraw_permit};
use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Purpose, Unproven};
use crate::decide::turn::lock;
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::evidence::Forbidden;
use crate::words::leave::{Doing, Ended, Waiting};
use crate::words::turn;
use palladion_api::cluster::{Turn, TurnStep};
use palladion_api::member::{PermitState, ServerState, VolumeState};
use palladion_plan::Flow;

/// Give the turn to a member that is not wanted and never joined.
pub fn next(facts: &Facts<'_>, member: &MemberFact, draft: &mut Draft) -> Flow {
    if member.spec.is_none() {
        return Flow::Free;
    }
    if let Some(waiting) = is_at_it(facts, member) {
        draft.wait_for(waiting).about(member.subject());
        return Flow::Busy;
    }
    if let Err(why) = evidence::may_be_nobody(facts, member) {
        let forbidden = Forbidden::Leave { member: member.name.clone(), why };
        draft.wait_for(forbidden).about(member.subject());
        return Flow::Busy;
    }
    // One without a pod has no volume that anybody could name.
    let volume_id = member.volume().map(|v| v.volume_id.clone()).unwrap_or_default();
    let turn = lock::new(facts, &member.name, &volume_id, TurnStep::Leave, 1);
    let doing = Doing::AskWhetherJoined { member: member.name.clone() };
    draft.steps.push(lock::take(facts, &turn, doing, None));
    Flow::Busy
}

/// Go on with the turn of a member that has no host ID on record.
pub fn advance(
    facts: &Facts<'_>,
    valid: &Valid,
    turn: &Turn,
    member: &MemberFact,
    draft: &mut Draft,
) {
    if candidate(facts, valid).is_none_or(|(_, m)| m.name != member.name) {
        return end(facts, turn, Ended::RequestedAgain, None, draft);
    }
    if let Some(waiting) = is_at_it(facts, member) {
        draft.wait_for(waiting).about(member.subject());
        return end(facts, turn, Ended::StillJoins, None, draft);
    }
    if member.spec.as_ref().is_some_and(|s| s.start.is_some()) {
        draft.steps.extend(withdraw_permit(facts, turn, member));
        return;
    }
    if !is_withdrawn(facts, member) {
        let name = member.name.clone();
        let waiting = match member.silent_node(&facts.nodes) {
            // Reported with what a person can do.
            Some(node) => Waiting::Silent { member: name, node: node.to_string() },
            None => Waiting::Withdrawn { member: name },
        };
        draft.wait_for(waiting).about(member.subject());
        return;
    }
    match evidence::prove(facts, turn, member, &Purpose::NeverJoined, draft) {
        Ok(proof) => draft.steps.push(terminate(facts, valid, member, &proof, turn)),
        Err(Unproven::Waiting) => {}
        Err(Unproven::AskAgain(why)) => {
            end(facts, turn, turn::Ended::Objection { why }, None, draft);
        }
    }
}

/// Is a permit that was taken back over: by the word of its agent, which has read so, or
/// with the pod that it was for (safety rule 2.10)? An agent that has read it late may
/// have started its server a moment before.
fn is_withdrawn(facts: &Facts<'_>, member: &MemberFact) -> bool {
    let (pod, status) = (member.pod.as_ref(), &member.status);
    // Permits are for pods whose agents have reported.
    let may_use_one =
        status.agent.as_ref().is_some_and(|a| pod.is_some_and(|p| p.uid == a.pod_uid));
    if !may_use_one {
        return true;
    }
    let generation = member.object.as_ref().map_or(0, |o| o.meta.generation);
    let has_read = status.observed_generation.is_some_and(|observed| observed >= generation);
    match status.permit.as_ref().map(|p| p.state) {
        Some(PermitState::Used | PermitState::Unknown) => false,
        // What its last permit came to it has said; nothing more is heard of a dead machine.
        None
        | Some(
            PermitState::Done | PermitState::Failed | PermitState::Refused | PermitState::Withdrawn,
        ) => {
            // A container that cannot start again starts no server, and its next agent reads first.
            let cannot_run = pod.is_some_and(|p| p.trouble.is_some());
            has_read || cannot_run || !member.agent_answers(&facts.nodes)
        }
    }
}

/// Does its server run by a permit, or has it joined by now?
fn is_at_it(facts: &Facts<'_>, member: &MemberFact) -> Option<Waiting> {
    let name = member.name.clone();
    if member.volume().is_some_and(|v| v.state == VolumeState::Joined) {
        return Some(Waiting::Recording { member: name });
    }
    let runs = |state: ServerState| match state {
        ServerState::Starting | ServerState::Running | ServerState::Stopping => true,
        ServerState::Waiting
        | ServerState::Failed
        | ServerState::Stopped
        | ServerState::Decommissioned
        | ServerState::Unknown => false,
    };
    // What a dead machine said last is no sign of life.
    let server = member.reported_server().filter(|_| member.silent_node(&facts.nodes).is_none());
    let is_running = server.is_some_and(|server| runs(server.state));
    is_running.then_some(Waiting::Joining { member: name })
}
