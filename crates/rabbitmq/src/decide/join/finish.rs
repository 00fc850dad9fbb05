//! The end of a join and of a replacement: the node takes replicas, and has caught up.
//! Before that it only looks like one of so many: a queue whose replica is behind does
//! not bear the loss of another one.

use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Agreed, Question};
use crate::decide::turn::order::{self, Job};
use crate::facts::{Facts, MemberFact};
use crate::words::join::{Happened, Waiting};
use palladion_api::member::OperationState;
use palladion_api::service::ServiceTurn;
use palladion_plan::Event;
use palladion_plan::proof::ProofKind;

/// Bring a member that has joined to its replicas. `Some` when it has them, and all of
/// them have caught up, as all answer.
pub fn complete(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    member: &MemberFact,
    draft: &mut Draft,
) -> Option<Agreed> {
    // Another one may be lost meanwhile, whose replacement comes after this.
    let lost = facts.other_lost_nodes(member);
    let kind = if lost.is_empty() { ProofKind::AllWell } else { ProofKind::Dead };
    let question = Question::about(member).without(lost);
    if order::is_open(facts, turn, &question, draft) {
        return None;
    }
    let agreed = evidence::prove(facts, turn, &question, kind, draft)?;
    if !has_grown(turn, member) {
        draft.steps.extend(order::give(facts, turn, member, &Job::Grow, &agreed.proof));
        return None;
    }
    if !evidence::is_of_this_start(member) {
        let _ = evidence::renew(facts, turn, &question, draft);
        return None;
    }
    let name = member.name.clone();
    let waiting = match agreed.behind(&member.name) {
        Some(behind) if behind.is_empty() => return Some(agreed),
        Some(behind) => Waiting::CatchingUp { member: name, queues: (&behind).into() },
        None => Waiting::NotKnown { member: name },
    };
    evidence::look_again(facts, turn, &question, waiting, draft);
    None
}

/// What the end of a join, or of a replacement, announces: the queues that have refused a
/// replica, if there are any. A sick queue holds up no turn, and nobody else would say it.
pub fn announced(member: &MemberFact, otherwise: Option<Event>) -> Option<Event> {
    let left = member.status.operation.as_ref().and_then(|grown| grown.queues.as_ref());
    let refused = left.filter(|queues| !queues.is_empty()).map(|queues| {
        let (member, queues) = (member.name.clone(), queues.into());
        Event::warning(Happened::WithoutReplicas { member, queues })
    });
    refused.or(otherwise)
}

/// Has it taken replicas in this turn? Its ledger keeps the last order.
fn has_grown(turn: &ServiceTurn, member: &MemberFact) -> bool {
    let last = member.status.operation.as_ref().filter(|_| member.agent_speaks());
    last.is_some_and(|o| o.state == OperationState::Succeeded && order::is_of(turn, &o.id))
}
