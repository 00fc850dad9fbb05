//! Orders, as an agent carries them out: each may be done twice, and is done when what it
//! is for is so.

use super::agent::Agent;
use super::report::knows_new_flag;
use super::volume::{Kind, Queue};
use super::world::World;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_agent_rabbitmq::decide::replicas;
use palladion_agent_rabbitmq::decide::target::target;
use palladion_api::member::OperationState;
use palladion_api::rabbitmq::NodeName;
use palladion_api::service_member::{
    ForgetQueues, MemberOperation, MemberOperationKind, MemberOperationStatus, QueueNames,
    ServiceMemberSpec,
};
use palladion_plan::sim::{Activity, PodRun};
use std::collections::BTreeMap;

/// From one look at a replica that copies to the next.
const LOOK: SignedDuration = SignedDuration::from_secs(3);
/// As long is a replica waited for; then its queue is left as it is.
const CATCH_UP_TIME: SignedDuration = SignedDuration::from_secs(900);

/// Work on an order, as an agent has it in memory: whatever ends the agent ends it.
#[derive(Clone, Debug)]
pub struct Work {
    order: MemberOperation,
    left: Vec<String>,
    /// Queues that were begun with: until when a replica is waited for, and whether this work
    /// has added one.
    begun: BTreeMap<String, (Timestamp, bool)>,
}

impl World {
    /// One step of the work on an order: each is noted before it begins, goes on whether or not
    /// it still stands, and is noted when it has ended.
    pub(super) fn operate(
        &mut self,
        agent: &mut Agent,
        pod: &PodRun,
        spec: &ServiceMemberSpec,
    ) -> Activity {
        let runs = self.serves(pod.uid.as_str());
        if let Some(work) = agent.work.take() {
            return self.go_on(agent, pod, work, runs);
        }
        let noted = self.volume(pod).ledger.operation.clone();
        if let Some(open) = noted.as_ref().filter(|o| o.state == OperationState::Running) {
            // An earlier agent was at it.
            let interrupted = MemberOperationStatus {
                state: OperationState::Interrupted,
                finished_at: Some(Time(self.store.now)),
                ..open.clone()
            };
            self.volume(pod).ledger.operation = Some(interrupted);
            return Activity::ACTED;
        }
        let Some(order) = &spec.operation else { return Activity::default() };
        let is_known = noted.is_some_and(|o| o.id == order.id);
        let is_ours = self.volume(pod).id.as_deref() == Some(order.volume_id.as_str());
        if self.slow.contains(&pod.key.name) || is_known || !is_ours || !runs {
            return Activity::default();
        }
        self.volume(pod).ledger.operation = Some(MemberOperationStatus {
            id: order.id.clone(),
            state: OperationState::Running,
            answer: None,
            queues: None,
            message: None,
            finished_at: None,
        });
        let (order, left, begun) = (order.clone(), Vec::new(), BTreeMap::new());
        agent.work = Some(Work { order, left, begun });
        Activity::ACTED
    }

    fn go_on(&mut self, agent: &mut Agent, pod: &PodRun, mut work: Work, runs: bool) -> Activity {
        let done = match runs {
            true if self.busy.contains(&pod.key.name) => None,
            true if self.failing.contains(&pod.key.name) => {
                Some(Err("the management API answers 503".to_string()))
            }
            true => self.carry_out(pod, &mut work),
            false => Some(Err("the node does not run".to_string())),
        };
        let Some(done) = done else {
            agent.work = Some(work);
            return Activity::default().at(self.store.now + LOOK);
        };
        let (state, left, message) = match done {
            Ok(left) => (OperationState::Succeeded, QueueNames::of(left), None),
            Err(why) => (OperationState::Failed, QueueNames::default(), Some(why)),
        };
        let order = &work.order;
        self.tell(&format!(
            "{}: {:?} {:?}: {state:?} {left:?} {message:?}",
            pod.key.name, order.kind, order.node
        ));
        let queues = (!left.is_empty()).then_some(left);
        let finished_at = Some(Time(self.store.now));
        let id = order.id.clone();
        let done = MemberOperationStatus { id, state, answer: None, queues, message, finished_at };
        self.volume(pod).ledger.operation = Some(done);
        Activity::ACTED
    }

    /// Queues that are left as they are; `None` while something is waited for.
    fn carry_out(&mut self, pod: &PodRun, work: &mut Work) -> Option<Result<Vec<String>, String>> {
        let order = work.order.clone();
        let node = order.node.as_ref().map(ToString::to_string).unwrap_or_default();
        Some(match order.kind {
            MemberOperationKind::MoveReplicas => {
                let own = self.rabbit.nodes[pod.uid.as_str()].name.clone();
                Ok(self.move_replicas(&own, &node, work)?)
            }
            MemberOperationKind::Forget => self.forget(&node, order.queues.unwrap_or_default()),
            MemberOperationKind::Grow => Ok(self.grow(pod)),
            MemberOperationKind::Rebalance => Ok(Vec::new()),
            MemberOperationKind::EnableFeatureFlags => {
                self.flags_disabled.clear();
                let running = self.rabbit.running();
                self.new_flag_enabled |= running.into_iter().all(knows_new_flag);
                Ok(Vec::new())
            }
            MemberOperationKind::ImportDefinitions => {
                match order.definitions_hash == self.definitions {
                    true => {
                        self.imported.extend(self.definitions.clone());
                        Ok(Vec::new())
                    }
                    false => Err("the file has another hash".to_string()),
                }
            }
            MemberOperationKind::Reconfig | MemberOperationKind::Unknown(_) => {
                Err("not of RabbitMQ".to_string())
            }
        })
    }

    /// One queue after the other: a new replica where there is room and no earlier try has left
    /// one, and then the old out.
    fn move_replicas(&mut self, own: &str, node: &str, work: &mut Work) -> Option<Vec<String>> {
        for (name, queue) in self.rabbit.queues(&self.kube.disks) {
            let is_named = queue.kind.is_replicated() && queue.replicas.contains(node);
            if !is_named || work.left.contains(&name) {
                continue;
            }
            if self.rabbit.leader(&name, &queue, &self.kube.disks).is_none() {
                work.left.push(name);
                continue;
            }
            let now = self.store.now;
            let has = queue.replicas.len();
            let has_spare = replicas::has_spare(has, queue.wanted);
            let Some((until, added)) = work.begun.get(&name).copied() else {
                let target = self.target((own, node), &queue).filter(|_| !has_spare);
                work.begun.insert(name.clone(), (now + CATCH_UP_TIME, target.is_some()));
                if let Some(target) = target {
                    self.rabbit.add_member(&name, &target, &mut self.kube.disks);
                }
                return None;
            };
            let waits = added || has_spare || queue.kind == Kind::Stream;
            if waits && !self.has_caught_up(&name, &queue, node) {
                if now < until {
                    return None;
                }
                work.left.push(name);
                continue;
            }
            if self.stubborn.contains(&name)
                || !self.rabbit.delete_member(&name, node, &mut self.kube.disks)
            {
                work.left.push(name);
            }
        }
        Some(std::mem::take(&mut work.left))
    }

    /// Who gets the replica that this node moves off another one, or off itself.
    fn target(&self, (own, node): (&str, &str), queue: &Queue) -> Option<String> {
        let names = |names: Vec<&String>| -> Vec<NodeName> {
            names.into_iter().map(NodeName::new).collect()
        };
        let running = names(self.rabbit.running().into_iter().map(|p| &p.name).collect());
        let members = names(queue.replicas.iter().collect());
        let whose = (&NodeName::new(own), &NodeName::new(node));
        target(whose, &members, &running, &BTreeMap::new()).map(|node| node.to_string())
    }

    /// Have more than half of those that stay what their leader has?
    fn has_caught_up(&self, name: &str, queue: &Queue, gone: &str) -> bool {
        let rest = queue.replicas.iter().filter(|replica| *replica != gone);
        let is_whole = |replica: &&String| {
            self.rabbit.by_name(replica).is_some_and(|(_, p)| p.caught_up.contains(name))
        };
        let rest: Vec<&String> = rest.collect();
        rest.iter().filter(|replica| is_whole(replica)).count() * 2 > rest.len()
    }

    fn forget(&mut self, node: &str, queues: ForgetQueues) -> Result<Vec<String>, String> {
        let on_it = self.rabbit.queues(&self.kube.disks);
        let named = on_it.iter().any(|(_, queue)| queue.replicas.contains(node));
        if named && queues == ForgetQueues::MustNotName && !self.rabbit.forgets_first {
            return Err(format!("a queue names {node}"));
        }
        self.rabbit.forget(node, &mut self.kube.disks).map(|()| Vec::new())
    }

    /// A replica here of each queue that lacks one; those that refuse it.
    fn grow(&mut self, pod: &PodRun) -> Vec<String> {
        let mut left = Vec::new();
        let own = self.rabbit.nodes[pod.uid.as_str()].name.clone();
        let running = self.rabbit.running().len();
        for (name, queue) in self.rabbit.queues(&self.kube.disks) {
            let lacks = replicas::lacks_one(queue.replicas.len(), queue.wanted, running);
            if !queue.kind.is_replicated() || !lacks || queue.replicas.contains(&own) {
                continue;
            }
            if self.sick.contains(&name)
                || !self.rabbit.add_member(&name, &own, &mut self.kube.disks)
            {
                left.push(name);
            }
        }
        left
    }
}
