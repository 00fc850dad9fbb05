//! Leavers with queues that cannot be moved, as those without a majority of their replicas: that is
//! for a person, the turn is free for others, and the move is tried again some minutes later.

use crate::decide::draft::Draft;
use crate::decide::turn::{order, postponed};
use crate::facts::{Facts, MemberFact};
use crate::words::leave::Waiting;
use palladion_api::service::ServiceTurn;
use palladion_api::service_member::{NodeQueues, QueueNames};
use palladion_plan::Flow;
use palladion_plan::members::leave::is_lost_leaver;

/// Was the move tried in this turn, has it left queues where they were, and has the turn had its
/// time? Where everything was moved and another queue came, that is moved as well.
pub(super) fn gives_way(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact) -> bool {
    let is_of_turn = order::came_to_nothing(member).is_some_and(|a| order::is_of(turn, &a.id));
    is_of_turn && postponed::has_waited(facts, turn)
}

/// Busy with nothing, while what was found lately counts.
pub(super) fn wait(facts: &Facts<'_>, member: &MemberFact, draft: &mut Draft) -> Flow {
    let again = postponed::until(facts, &member.name);
    let Some((queues, again)) = unmoved(facts, member).zip(again) else {
        return Flow::Free;
    };
    let waiting = Waiting::ForReplicas { member: member.name.clone(), queues: (&queues).into() };
    draft.wait_for(waiting).about(member.subject()).until(again);
    Flow::Busy
}

/// Queues that could not be moved off the node of this leaver, by what it has answered last: also
/// while others have the turn, and while the move is tried once more. A node that does not serve,
/// or whose volume is lost, has something else to wait for.
pub fn unmoved(facts: &Facts<'_>, member: &MemberFact) -> Option<QueueNames> {
    let is_leaver = member.ordinal >= i32::try_from(facts.spec.nodes).unwrap_or(i32::MAX)
        && !member.is_gone()
        && !is_lost_leaver(member);
    if !is_leaver || !postponed::was_lately(facts, &member.name) {
        return None;
    }
    order::came_to_nothing(member)?;
    let answer = member.status.evidence.as_ref().filter(|_| member.serves)?;
    let on_it = answer.queues.as_ref()?.on(&facts.node_of(member));
    Some(replicas(&on_it)).filter(|queues| !queues.is_empty())
}

/// Queues and streams with a replica on a node.
fn replicas(on_it: &NodeQueues) -> QueueNames {
    let names = on_it.replicas.names.iter().chain(&on_it.streams.names).cloned();
    QueueNames { count: on_it.replicas.count + on_it.streams.count, ..QueueNames::of(names) }
}
