//! What a member is ordered to do in a turn: one order for each question, whose ID names
//! it. Whatever comes of it, the question is put anew: what the cluster and its queues are
//! like afterwards decides, and not what a command has answered.

use super::{failing, postponed};
use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Agreed, Proof, Question};
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::words::queues::Queues;
use crate::words::turn::{Doing, Order, Waiting};
use jiff::{SignedDuration, Timestamp};
use palladion_api::ids::Nonce;
use palladion_api::member::OperationState;
use palladion_api::rabbitmq::NodeName;
use palladion_api::service::ServiceTurn;
use palladion_api::service_member::{
    ForgetQueues, MemberOperationKind, MemberOperationStatus, QueueNames,
};
use palladion_plan::{Fence, Step};
use serde_json::{Value, json};

/// From an order that came to nothing to the next.
const RETRY: SignedDuration = SignedDuration::from_secs(10);

/// A job for a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Job {
    /// Move the replicas of a node to others.
    MoveReplicas(NodeName),
    /// Forget a node.
    Forget(NodeName, ForgetQueues),
    /// Take replicas of queues.
    Grow,
    /// Spread the leaders of queues.
    Rebalance,
    /// Enable the stable feature flags.
    EnableFeatureFlags,
    /// Import the definitions with this hash.
    ImportDefinitions(String),
}

impl Job {
    fn kind(&self) -> MemberOperationKind {
        match self {
            Job::MoveReplicas(_) => MemberOperationKind::MoveReplicas,
            Job::Forget(..) => MemberOperationKind::Forget,
            Job::Grow => MemberOperationKind::Grow,
            Job::Rebalance => MemberOperationKind::Rebalance,
            Job::EnableFeatureFlags => MemberOperationKind::EnableFeatureFlags,
            Job::ImportDefinitions(_) => MemberOperationKind::ImportDefinitions,
        }
    }

    /// In words.
    pub fn words(&self) -> Order {
        match self {
            Job::MoveReplicas(node) => Order::MoveReplicas { node: node.clone() },
            Job::Forget(node, _) => Order::Forget { node: node.clone() },
            Job::Grow => Order::Grow,
            Job::Rebalance => Order::Rebalance,
            Job::EnableFeatureFlags => Order::EnableFeatureFlags,
            Job::ImportDefinitions(_) => Order::ImportDefinitions,
        }
    }

    /// The order as it stands in a member's spec. All fields are said: a merge patch would
    /// keep what the last order had.
    pub fn order(&self, id: &str, executor: &MemberFact) -> Option<Value> {
        let (node, queues, hash) = match self {
            Job::MoveReplicas(node) => (Some(node), None, None),
            Job::Forget(node, queues) => (Some(node), Some(queues), None),
            Job::Grow | Job::Rebalance | Job::EnableFeatureFlags => (None, None, None),
            Job::ImportDefinitions(hash) => (None, None, Some(hash)),
        };
        Some(json!({
            "id": id, "volumeID": executor.volume_id()?, "kind": self.kind(),
            "node": node, "queues": queues, "definitionsHash": hash, "reconfig": null,
        }))
    }
}

/// The ID of an order under the present question of a turn.
pub fn id_of(turn: &ServiceTurn) -> Option<String> {
    turn.question.as_ref().map(|question| format!("{}-{}", turn.nonce, question.nonce))
}

/// Is it the ID of an order of this turn, under whatever question?
pub fn is_of(turn: &ServiceTurn, id: &str) -> bool {
    id.strip_prefix(turn.nonce.as_str()).is_some_and(|rest| rest.starts_with('-'))
}

/// Has it carried out an order of this turn, or begun to? Where that is a leave, replicas may
/// have been moved off it. Its ledger keeps the last order, whatever pod it has.
pub fn has_worked(turn: &ServiceTurn, member: &MemberFact) -> bool {
    member.status.operation.as_ref().is_some_and(|operation| is_of(turn, &operation.id))
}

/// What has become of the last order of this turn that it was given, where the work has ended.
pub fn outcome<'a>(
    turn: &ServiceTurn,
    member: &'a MemberFact,
) -> Option<&'a MemberOperationStatus> {
    let last = member.status.operation.as_ref();
    last.filter(|answer| is_over(answer) && is_of(turn, &answer.id))
}

/// The ID of an order for the whole cluster, which belongs to no turn.
pub fn id_for_all(nonce: &Nonce) -> String {
    format!("cluster-{nonce}")
}

/// Is an order for the whole cluster?
pub fn is_for_all(id: &str) -> bool {
    id.starts_with("cluster-")
}

/// The member that was given an order of this ID, and its answer, if any.
pub fn given<'a>(
    facts: &'a Facts<'_>,
    id: &str,
) -> Option<(&'a MemberFact, Option<&'a MemberOperationStatus>)> {
    let has_it = |m: &&MemberFact| {
        m.spec.as_ref().and_then(|s| s.operation.as_ref()).is_some_and(|o| o.id == id)
    };
    let executor = facts.members.values().find(has_it)?;
    let answer = executor.status.operation.as_ref().filter(|o| o.id == id);
    Some((executor, answer.filter(|_| executor.agent_speaks())))
}

/// Was an order given under the present question?
pub fn is_given(facts: &Facts<'_>, turn: &ServiceTurn) -> bool {
    id_of(turn).is_some_and(|id| given(facts, &id).is_some())
}

/// Is an order under the present question carried out at this moment, or may it yet be?
pub fn is_under_way(facts: &Facts<'_>, turn: &ServiceTurn) -> bool {
    let given = id_of(turn).and_then(|id| given(facts, &id));
    given.is_some_and(|(executor, answer)| {
        executor.serves
            && executor.agent_answers(&facts.nodes)
            && answer.is_none_or(|a| !is_over(a))
    })
}

/// Has the work on an order ended?
pub fn is_over(answer: &MemberOperationStatus) -> bool {
    match answer.state {
        OperationState::Succeeded | OperationState::Failed | OperationState::Interrupted => true,
        OperationState::Running | OperationState::Unknown => false,
    }
}

/// Until when the next order of this turn waits after one that has left nothing: where others go on
/// to report what it was for, they have not heard of it yet, or clients make more of it.
pub fn pause(facts: &Facts<'_>, turn: &ServiceTurn, executor: &MemberFact) -> Option<Timestamp> {
    let last = outcome(turn, executor)?;
    let has_left = last.state != OperationState::Succeeded || !left(last).is_empty();
    let again = turn.question.as_ref().filter(|_| !has_left)?.since.0 + RETRY;
    (facts.now() < again).then_some(again)
}

/// Is an order under the present question still to be waited for? Where it has ended, or
/// its member has no pod any more that could carry it out, the question is put anew.
pub fn is_open(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    question: &Question<'_>,
    draft: &mut Draft,
) -> bool {
    let Some((executor, answer)) = id_of(turn).and_then(|id| given(facts, &id)) else {
        return false;
    };
    let subject = question.whom.subject();
    let name = || executor.name.clone();
    let order = || what(executor);
    // By our own clock: that of an agent may be another one.
    let again = turn.question.as_ref().map_or(facts.now(), |put| put.since.0) + RETRY;
    match answer.filter(|answer| is_over(answer)) {
        Some(answer) if answer.state == OperationState::Succeeded && left(answer).is_empty() => {
            let turn = failing::after(facts, turn, executor, answer);
            let _ = evidence::renew(facts, &turn, question, draft);
        }
        Some(answer) => {
            if facts.now() >= again {
                let turn = failing::after(facts, turn, executor, answer);
                if !failing::gives_way(facts, &turn, draft).is_busy() {
                    let _ = evidence::renew(facts, &turn, question, draft);
                }
                return true;
            }
            let why =
                answer.message.clone().unwrap_or_else(|| Queues::from(&left(answer)).to_string());
            let waiting = Waiting::Again { executor: name(), order: order(), why };
            draft.wait_for(waiting).about(subject).until(again);
        }
        // Moving and catching up take as long as they take.
        None if executor.agent_answers(&facts.nodes) && executor.serves => {
            let waiting = Waiting::ForOperation { executor: name(), order: order() };
            draft.wait_for(waiting).about(subject);
        }
        None => {
            let _ = evidence::renew(facts, turn, question, draft);
        }
    }
    true
}

/// Queues that the work has left as they were.
pub fn left(answer: &MemberOperationStatus) -> QueueNames {
    answer.queues.clone().unwrap_or_default()
}

/// What kind of order a member has.
pub fn kind(executor: &MemberFact) -> Option<MemberOperationKind> {
    Some(executor.spec.as_ref()?.operation.as_ref()?.kind)
}

/// What a member is ordered to do, in words.
pub fn what(executor: &MemberFact) -> Order {
    let order = executor.spec.as_ref().and_then(|s| s.operation.as_ref());
    let node = order.and_then(|o| o.node.clone()).unwrap_or_default();
    match order.map(|o| o.kind) {
        Some(MemberOperationKind::MoveReplicas) => Order::MoveReplicas { node },
        Some(MemberOperationKind::Forget) => Order::Forget { node },
        Some(MemberOperationKind::Rebalance) => Order::Rebalance,
        Some(MemberOperationKind::EnableFeatureFlags) => Order::EnableFeatureFlags,
        Some(MemberOperationKind::ImportDefinitions) => Order::ImportDefinitions,
        Some(
            MemberOperationKind::Grow
            | MemberOperationKind::Reconfig
            | MemberOperationKind::Unknown(_),
        )
        | None => Order::Grow,
    }
}

/// Order a member to do this, on the ground of what all have answered.
pub fn give(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    executor: &MemberFact,
    job: &Job,
    proof: &Proof,
) -> Option<Step> {
    let id = id_of(turn)?;
    let step = write(executor, job, &id, facts.fence())?;
    Some(step.proven(proof.carried_out_by(executor).stated()))
}

/// Write an order into a member's spec.
pub fn write(executor: &MemberFact, job: &Job, id: &str, fence: Fence) -> Option<Step> {
    let patch = json!({ "spec": { "operation": job.order(id, executor)? } });
    let meta = &executor.object.as_ref()?.meta;
    let doing = Doing::Order { executor: executor.name.clone(), order: job.words() };
    Some(Step::patch_as_seen(kinds::MEMBER, meta, patch, doing).fenced(fence))
}

/// Who carries out what is about this node: the first other member that has answered, so
/// that later decisions choose the same one, and after each failure the next one.
pub fn executor<'a>(
    facts: &'a Facts<'_>,
    turn: &ServiceTurn,
    agreed: &Agreed,
    about: &NodeName,
) -> Option<&'a MemberFact> {
    let others = agreed.answers.keys().filter_map(|name| facts.members.get(name));
    let can = |m: &&MemberFact| facts.node_of(m) != *about && m.agent_answers(&facts.nodes);
    let able: Vec<&MemberFact> = others.filter(can).collect();
    let in_this_turn = turn.failing.as_ref().map(|failing| &failing.executor);
    let before = || postponed::lately(facts, &turn.member)?.executor.as_ref();
    let last = in_this_turn.or_else(before);
    let next = last.and_then(|last| able.iter().find(|m| m.name > *last));
    next.or(able.first()).copied()
}
