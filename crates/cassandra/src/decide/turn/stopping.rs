//! Stopping a whole ring and starting it again: replicas go to 0 and come back,
//! and nothing else changes. What is on its way comes to an end before, so that
//! no member is stopped in the middle of a join or a leave.

use crate::decide::draft::Draft;
use crate::decide::turn::{lock, permit};
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::words::turn::{Ended, Waiting, Work};
use palladion_api::cluster::{RingRun, Turn, TurnStep};
use palladion_api::ids::MemberName;
use palladion_api::member::{IntentState, PermitState};
use palladion_plan::wait::Subject;
use palladion_plan::words::Count;
use palladion_plan::{Fence, Flow, ObjectKey};
use serde_json::json;

/// Where a ring stands between running and stopped.
#[derive(Debug, PartialEq, Eq)]
pub enum Standing {
    /// It should run.
    Runs,
    /// It should stop, and this must come to its end first.
    Finishes {
        /// Whose work it is.
        member: MemberName,
        /// What it is in the middle of.
        work: Work,
    },
    /// Nothing is in the way of its having no pods.
    Stops,
}

/// Where the ring stands.
pub fn standing(facts: &Facts<'_>) -> Standing {
    match facts.spec.run {
        RingRun::Running => Standing::Runs,
        RingRun::Stopped => match unfinished(facts) {
            Some((member, work)) => Standing::Finishes { member, work },
            None => Standing::Stops,
        },
    }
}

/// Should the ring be stopped?
pub fn is_wanted(facts: &Facts<'_>) -> bool {
    match facts.spec.run {
        RingRun::Running => false,
        RingRun::Stopped => true,
    }
}

/// What a stop would cut in two: a join or a leave that a server is in the middle of.
fn unfinished(facts: &Facts<'_>) -> Option<(MemberName, Work)> {
    let turn = facts.turn()?;
    let member = facts.members.get(&turn.member)?;
    // One whose agent is silent cannot be waited for; its permit ends with its pod.
    let in_the_middle = member.agent_speaks()
        && match turn.step {
            TurnStep::Restart
            | TurnStep::Remove
            | TurnStep::Stop
            | TurnStep::Start
            | TurnStep::Readdress => false,
            TurnStep::Leave => is_leaving(turn, member),
            TurnStep::Initialize | TurnStep::Join | TurnStep::Replace | TurnStep::ResumeLeave => {
                uses_permit(turn, member)
            }
        };
    in_the_middle.then(|| (turn.member.clone(), turn.step.into()))
}

fn is_leaving(turn: &Turn, member: &MemberFact) -> bool {
    let intent = member.spec.as_ref().and_then(|s| s.intent.as_ref());
    let answer = member.status.intent.as_ref().map(|i| (&i.nonce, i.state));
    let is_over = answer.is_some_and(|(nonce, state)| {
        *nonce == turn.nonce && matches!(state, IntentState::Failed | IntentState::Refused)
    });
    intent.is_some() && !is_over
}

fn uses_permit(turn: &Turn, member: &MemberFact) -> bool {
    let given = member.spec.as_ref().and_then(|s| s.start.as_ref());
    let Some(start) = given.filter(|s| s.nonce == turn.nonce) else {
        return false;
    };
    let for_this_pod = member.pod.as_ref().is_some_and(|p| p.uid == start.pod_uid);
    let answer = member.status.permit.as_ref().filter(|p| p.nonce == turn.nonce).map(|p| p.state);
    let runs = member.status.server.as_ref().is_some_and(|s| s.state.may_run());
    for_this_pod
        && match answer {
            // It may be about to start, or has joined and is not recorded yet; what is not
            // known may be either.
            None | Some(PermitState::Done | PermitState::Unknown) => true,
            Some(PermitState::Used) => runs,
            Some(PermitState::Failed | PermitState::Refused | PermitState::Withdrawn) => false,
        }
}

/// No turn is given to a ring that should stop.
pub fn hold(facts: &Facts<'_>, draft: &mut Draft) -> Flow {
    match standing(facts) {
        Standing::Runs => Flow::Free,
        Standing::Finishes { member, work } => {
            let about = Subject::new(kinds::MEMBER, &member);
            draft.wait_for(Waiting::Unfinished { member, work }).about(about);
            Flow::Free
        }
        Standing::Stops => {
            end_turn(facts, draft);
            let left = facts.members.values().filter(|m| m.pod.is_some()).count();
            if left > 0 {
                draft.wait_for(Waiting::Draining { members: Count::of(left, "member") });
            }
            Flow::Busy
        }
    }
}

/// A turn that has begun nothing ends; one that the ring may know of stays on
/// record, and goes on when the ring runs again.
fn end_turn(facts: &Facts<'_>, draft: &mut Draft) {
    let Some(turn) = facts.turn() else { return };
    match turn.step {
        TurnStep::Leave | TurnStep::ResumeLeave | TurnStep::Replace | TurnStep::Remove => {}
        TurnStep::Initialize
        | TurnStep::Join
        | TurnStep::Restart
        | TurnStep::Stop
        | TurnStep::Start => draft.steps.push(lock::end(facts, turn, Ended::RingStops, None)),
        TurnStep::Readdress => {
            let member = facts.members.get(&turn.member);
            draft.steps.extend(member.and_then(|m| permit::withdraw_unused(facts, m)));
            draft.steps.push(lock::end(facts, turn, Ended::RingStops, None));
        }
    }
}

/// Scaling to 0 holds only as long as the spec says so: a leader that was frozen
/// before this write must not stop a ring that runs again.
pub fn fence(facts: &Facts<'_>) -> Fence {
    let owner = &facts.snapshot.owner.meta;
    Fence {
        object: ObjectKey::new(kinds::CLUSTER, &owner.namespace, &owner.name),
        pointer: "/spec/run".to_string(),
        expected: json!(RingRun::Stopped),
        lock: None,
    }
}
