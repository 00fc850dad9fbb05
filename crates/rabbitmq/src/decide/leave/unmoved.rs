//! Leavers with queues that cannot be moved, as those without a majority of their replicas: that is
//! for a person, the turn is free for others, and the move is tried again some minutes later.

use crate::decide::draft::Draft;
use crate::decide::turn::{failing, order, postponed};
use crate::facts::{Facts, MemberFact};
use crate::words::leave::{Cut, Waiting};
use palladion_api::member::OperationState;
use palladion_api::rabbitmq::PostponedTurn;
use palladion_api::service::ServiceTurn;
use palladion_api::service_member::{NodeQueues, QueueNames};
use palladion_plan::Flow;

/// The record with which this turn makes room, where it has had its time and the move was tried in
/// it: if that has left queues where they were, or has failed too often. Where everything was moved
/// and another queue came, that is moved as well.
pub(super) fn gives_way(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    member: &MemberFact,
    on_it: &NodeQueues,
) -> Option<PostponedTurn> {
    // In the turn of its leave a leaver is given no other order than to move what is on its node:
    // that it is forgotten is for others.
    let last = order::outcome(turn, member).filter(|_| postponed::has_waited(facts, turn))?;
    let record = postponed::of(facts, turn);
    match last.state {
        OperationState::Succeeded => {
            let unmoved = still(&order::left(last), on_it);
            (!unmoved.is_empty()).then_some(PostponedTurn { unmoved, ..record })
        }
        OperationState::Failed | OperationState::Interrupted => {
            let why = || last.message.clone().unwrap_or_else(|| Cut::Short.to_string());
            let is_failing = failing::is_so(facts, turn);
            let (unmoved, failure) = (replicas(on_it), Some(why()));
            is_failing.then_some(PostponedTurn { unmoved, failure, ..record })
        }
        OperationState::Running | OperationState::Unknown => None,
    }
}

/// Busy with nothing, while what was found lately counts.
pub(super) fn wait(facts: &Facts<'_>, member: &MemberFact, draft: &mut Draft) -> Flow {
    if failing::wait(facts, member, draft).is_busy() {
        return Flow::Busy;
    }
    let again = postponed::until(facts, &member.name);
    let Some((found, again)) = unmoved(facts, member).zip(again) else {
        return Flow::Free;
    };
    let queues = (&found.unmoved).into();
    let waiting = Waiting::ForReplicas { member: member.name.clone(), queues };
    draft.wait_for(waiting).about(member.subject()).until(again);
    Flow::Busy
}

/// Was its leave begun, and did it give way to others, as far as is known?
pub fn is_postponed(facts: &Facts<'_>, member: &MemberFact) -> bool {
    failing::trouble(facts, member).is_some() || unmoved(facts, member).is_some()
}

/// Would it wait?
pub(super) fn waits(facts: &Facts<'_>, member: &MemberFact) -> bool {
    let is_unmoved = || unmoved(facts, member).and(postponed::until(facts, &member.name));
    failing::until(facts, member).is_some() || is_unmoved().is_some()
}

/// What is on record of queues that could not be moved off the node of this leaver, and that are
/// still on it as far as it answers: also while others have the turn, however long, while the move is
/// tried once more, and while its node is away. One whose volume is lost has something else to wait
/// for.
pub fn unmoved(facts: &Facts<'_>, member: &MemberFact) -> Option<PostponedTurn> {
    let is_leaver = postponed::is_surplus(facts, member) && !member.is_gone() && !member.is_lost();
    let record = postponed::on_record(facts, &member.name).filter(|_| is_leaver)?;
    let queues = member.status.evidence.as_ref().and_then(|answer| answer.queues.as_ref());
    let unmoved = match queues {
        Some(queues) => still(&record.unmoved, &queues.on(&facts.node_of(member))),
        None => record.unmoved.clone(),
    };
    (!unmoved.is_empty()).then(|| PostponedTurn { unmoved, ..record.clone() })
}

/// Those of them that are still on a node, as far as both lists are whole.
fn still(queues: &QueueNames, on_it: &NodeQueues) -> QueueNames {
    let there = replicas(on_it);
    let is_whole = |list: &QueueNames| usize::try_from(list.count) == Ok(list.names.len());
    if is_whole(queues) && is_whole(&there) {
        let names = queues.names.iter().filter(|name| there.names.contains(name));
        return QueueNames::of(names.cloned());
    }
    match there.is_empty() {
        true => QueueNames::default(),
        false => queues.clone(),
    }
}

/// Queues and streams with a replica on a node.
pub(super) fn replicas(on_it: &NodeQueues) -> QueueNames {
    let names = on_it.replicas.names.iter().chain(&on_it.streams.names).cloned();
    QueueNames { count: on_it.replicas.count + on_it.streams.count, ..QueueNames::of(names) }
}
