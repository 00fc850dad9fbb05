//! A node whose volume is lost: out of every queue that has a majority elsewhere, and then
//! out of the cluster.

use super::allowed::{Asked, ask, is_allowed, nonce_of};
use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Agreed, Question};
use crate::decide::turn::order::{self, Job};
use crate::facts::{Facts, MemberFact};
use crate::words::replace::{Loses, Problem, Waiting};
use palladion_api::labels;
use palladion_api::rabbitmq::NodeName;
use palladion_api::service::ServiceTurn;
use palladion_api::service_member::{ForgetQueues, NodeQueues, QueueNames};
use palladion_plan::members::lost;
use palladion_plan::words::Several;

/// Is the node of this member forgotten, as all answer? If not, the next step towards it
/// is taken, or it is said what is waited for.
pub fn is_forgotten(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    question: &Question<'_>,
    agreed: &Agreed,
    draft: &mut Draft,
) -> bool {
    let member = question.whom;
    let node = lost_node(facts, turn, member);
    let on_it = agreed.on(&node);
    let would_lose = loses(&on_it);
    let queues = match would_lose.is_empty() {
        true => ForgetQueues::MustNotName,
        false => ForgetQueues::MayName,
    };
    if !agreed.names(&node) && movable(&on_it) == 0 {
        // Whoever goes on from here takes the volume.
        return !lost::hold(facts, [member], draft).is_busy();
    }
    // The others would refuse to forget it.
    if agreed.names(&node) && agreed.see(&node) {
        let (name, server) = (member.name.clone(), member.server_words());
        let waiting = Waiting::StillServes { member: name, server };
        evidence::look_again(facts, turn, question, waiting, draft);
        return false;
    }
    if agreed.names(&node)
        && !would_lose.is_empty()
        && !may_lose(facts, turn, question, (&node, &on_it), draft)
    {
        return false;
    }
    // With its first replica that is deleted the node can come back no more.
    if lost::hold(facts, [member], draft).is_busy() {
        return false;
    }
    let job = match movable(&on_it) {
        0 => Job::Forget(node.clone(), queues),
        _ => Job::MoveReplicas(node.clone()),
    };
    let Some(executor) = order::executor(facts, turn, agreed, &node) else { return false };
    if let Some(again) = order::pause(facts, turn, executor).filter(|_| movable(&on_it) > 0) {
        let queues = (&on_it.replicas).into();
        let waiting = Waiting::ForReplicas { member: member.name.clone(), queues };
        draft.wait_for(waiting).about(member.subject()).until(again);
        return false;
    }
    draft.steps.extend(order::give(facts, turn, executor, &job, &agreed.proof));
    false
}

/// The node of the volume that is lost.
fn lost_node(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact) -> NodeName {
    let of_turn = turn.replaces.as_ref().and_then(|lost| lost.node_name.clone());
    of_turn.unwrap_or_else(|| facts.node_of(member))
}

/// Replicas that can be taken off the node: a majority of the others is online.
fn movable(on_it: &NodeQueues) -> u32 {
    let all = on_it.replicas.count + on_it.streams.count;
    all.saturating_sub(on_it.without_majority.count + on_it.only_here.count)
}

/// What would be lost with the node.
fn loses(on_it: &NodeQueues) -> Vec<Loses> {
    let quorum = &on_it.without_majority;
    let quorum = (!quorum.is_empty()).then(|| Loses::Quorum { queues: quorum.into() });
    let alone = [&on_it.only_here, &on_it.classic].into_iter().filter(|q| !q.is_empty());
    quorum.into_iter().chain(alone.map(|queues| Loses::All { queues: queues.into() })).collect()
}

fn may_lose(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    question: &Question<'_>,
    (node, on_it): (&NodeName, &NodeQueues),
    draft: &mut Draft,
) -> bool {
    let queues: [&QueueNames; 3] = [&on_it.without_majority, &on_it.only_here, &on_it.classic];
    let nonce = nonce_of(facts, question.whom, node, &queues);
    match is_allowed(facts, turn, &nonce, draft) {
        Asked::Allowed => return true,
        Asked::Recorded => return false,
        Asked::No => {}
    }
    let (name, owner) = (|| question.whom.name.clone(), &facts.snapshot.owner.meta);
    let problem = Problem::QueuesWouldLoseQuorum {
        member: name(),
        loses: Several(loses(on_it)),
        namespace: owner.namespace.clone(),
        cluster: owner.name.clone(),
        annotation: labels::ALLOW_FORGET,
        nonce: nonce.clone(),
    };
    ask(nonce, &queues, problem, draft);
    let waiting = Waiting::ForUser { member: name() };
    evidence::look_again(facts, turn, question, waiting, draft);
    false
}
