//! A turn that waits for a machine that does not answer. Its server may run there still, so
//! that nobody else starts, stops or leaves. The return of the machine ends that, or the
//! end of the pod (safety rule 2.10); both may need a person.

use super::permit::{self, Course};
use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::words::turn::HeldUp;
use palladion_api::cluster::{Turn, TurnStep};
use palladion_api::member::{IntentState, PermitState};

/// Report it, with what a person can do.
pub fn report(facts: &Facts<'_>, turn: &Turn, draft: &mut Draft) {
    let Some(member) = facts.members.get(&turn.member).filter(|m| is_at_work(turn, m)) else {
        return;
    };
    let Some(node) = member.silent_node(&facts.nodes) else { return };
    draft.report(HeldUp::SilentMachine {
        member: member.name.clone(),
        node: node.to_string(),
        work: turn.step.into(),
        since: turn.since.0,
    });
}

/// Has it begun what its turn is for, as far as is known, or may it have?
fn is_at_work(turn: &Turn, member: &MemberFact) -> bool {
    // Its pod can neither end nor come back there.
    if turn.step == TurnStep::Restart {
        return true;
    }
    let has_open_permit = match permit::course(turn, member) {
        Course::Open => true,
        Course::NotGiven => is_unconfirmed(member),
        Course::PodEnded | Course::Done | Course::Failed | Course::Refused(_) => false,
    };
    has_open_permit || leaves(turn, member)
}

/// Was a permit taken back that it has used, as far as it has said?
fn is_unconfirmed(member: &MemberFact) -> bool {
    let agent = member.status.agent.as_ref();
    let is_of_pod = agent.is_some_and(|a| member.pod.as_ref().is_some_and(|p| p.uid == a.pod_uid));
    let has_none = member.spec.as_ref().is_some_and(|s| s.start.is_none());
    let state = member.status.permit.as_ref().map(|p| p.state);
    is_of_pod && has_none && matches!(state, Some(PermitState::Used | PermitState::Unknown))
}

fn leaves(turn: &Turn, member: &MemberFact) -> bool {
    let intent = member.spec.as_ref().and_then(|s| s.intent.as_ref());
    let answer = member.status.intent.as_ref().filter(|i| i.nonce == turn.nonce);
    let is_open = match answer.map(|a| a.state) {
        None | Some(IntentState::Running | IntentState::Unknown) => true,
        Some(IntentState::Done | IntentState::Failed | IntentState::Refused) => false,
    };
    is_open && intent.is_some_and(|i| i.nonce == turn.nonce)
}
