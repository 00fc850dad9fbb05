//! Orders, as an agent carries them out: each may be done twice, and is done when what it
//! is for is so.

use super::model::App;
use super::report::knows_new_flag;
use super::volume::Kind;
use super::world::World;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::member::OperationState;
use palladion_api::service_member::{
    ForgetQueues, MemberOperation, MemberOperationKind, MemberOperationStatus, QueueNames,
    ServiceMemberSpec,
};
use palladion_plan::sim::PodRun;

impl World {
    pub(super) fn operate(&mut self, pod: &PodRun, spec: &ServiceMemberSpec) {
        let Some(order) = &spec.operation else { return };
        let uid = pod.uid.as_str();
        let runs = self.rabbit.nodes.get(uid).is_some_and(|p| p.app == App::Running);
        let volume = self.volume(pod).clone();
        let is_known = volume.ledger.operation.as_ref().is_some_and(|o| o.id == order.id);
        let is_ours = volume.id.as_deref() == Some(order.volume_id.as_str());
        if self.slow.contains(&pod.key.name) || is_known || !is_ours || !runs {
            return;
        }
        let (state, left, message) = match self.carry_out(pod, order) {
            Ok(left) => (OperationState::Succeeded, left, None),
            Err(why) => (OperationState::Failed, QueueNames::default(), Some(why)),
        };
        self.tell(&format!(
            "{}: {:?} {:?}: {state:?} {left:?} {message:?}",
            pod.key.name, order.kind, order.node
        ));
        let queues = (!left.is_empty()).then_some(left);
        let finished_at = Some(Time(self.store.now));
        let id = order.id.clone();
        let done = MemberOperationStatus { id, state, answer: None, queues, message, finished_at };
        self.volume(pod).ledger.operation = Some(done);
    }

    fn carry_out(&mut self, pod: &PodRun, order: &MemberOperation) -> Result<QueueNames, String> {
        let node = order.node.as_ref().map(ToString::to_string).unwrap_or_default();
        match order.kind {
            MemberOperationKind::MoveReplicas => Ok(self.move_replicas(&node)),
            MemberOperationKind::Forget => self.forget(&node, order.queues.unwrap_or_default()),
            MemberOperationKind::Grow => Ok(self.grow(pod)),
            MemberOperationKind::Rebalance => Ok(QueueNames::default()),
            MemberOperationKind::EnableFeatureFlags => {
                self.flags_disabled.clear();
                let running = self.rabbit.running();
                self.new_flag_enabled |= running.into_iter().all(knows_new_flag);
                Ok(QueueNames::default())
            }
            MemberOperationKind::ImportDefinitions => {
                if order.definitions_hash != self.definitions {
                    return Err("the file has another hash".to_string());
                }
                self.imported.extend(self.definitions.clone());
                Ok(QueueNames::default())
            }
            MemberOperationKind::Reconfig | MemberOperationKind::Unknown(_) => {
                Err("not of RabbitMQ".to_string())
            }
        }
    }

    /// One queue after the other: a new replica where there is room, and then the old out.
    fn move_replicas(&mut self, node: &str) -> QueueNames {
        let mut left = Vec::new();
        for (name, queue) in self.rabbit.queues(&self.kube.disks) {
            if queue.kind == Kind::Classic || !queue.replicas.contains(node) {
                continue;
            }
            let others = self.rabbit.online(&queue).iter().filter(|p| p.name != node).count();
            let is_alone = queue.replicas.len() == 1;
            if others * 2 <= queue.replicas.len() && !is_alone {
                // On another node first; only a majority can take one out.
                let still = self.rabbit.leader(&name, &queue, &self.kube.disks).is_some();
                if !still {
                    left.push(name);
                    continue;
                }
            }
            let room = self.rabbit.running().into_iter().map(|p| p.name.clone());
            let room = room.filter(|n| n != node && !queue.replicas.contains(n));
            if let Some(target) = room.into_iter().next() {
                self.rabbit.add_member(&name, &target, &mut self.kube.disks);
                for _ in 0..1000 {
                    self.rabbit.step(&mut self.kube.disks);
                    let caught = self.rabbit.by_name(&target);
                    if caught.is_none_or(|(_, p)| p.caught_up.contains(&name)) {
                        break;
                    }
                }
            }
            if !self.rabbit.delete_member(&name, node, &mut self.kube.disks) {
                left.push(name);
            }
        }
        QueueNames::of(left)
    }

    fn forget(&mut self, node: &str, queues: ForgetQueues) -> Result<QueueNames, String> {
        let on_it = self.rabbit.queues(&self.kube.disks);
        let named = on_it.iter().any(|(_, queue)| queue.replicas.contains(node));
        if named && queues == ForgetQueues::MustNotName && !self.rabbit.forgets_first {
            return Err(format!("a queue names {node}"));
        }
        self.rabbit.forget(node, &mut self.kube.disks).map(|()| QueueNames::default())
    }

    /// A replica here of each queue that has fewer than it should; those that refuse it.
    fn grow(&mut self, pod: &PodRun) -> QueueNames {
        let mut left = Vec::new();
        let own = self.rabbit.nodes[pod.uid.as_str()].name.clone();
        let running = self.rabbit.running().len();
        for (name, queue) in self.rabbit.queues(&self.kube.disks) {
            let lacks = queue.replicas.len() < queue.wanted.min(running);
            if queue.kind != Kind::Quorum || !lacks || queue.replicas.contains(&own) {
                continue;
            }
            if self.sick.contains(&name)
                || !self.rabbit.add_member(&name, &own, &mut self.kube.disks)
            {
                left.push(name);
            }
        }
        QueueNames::of(left)
    }
}
