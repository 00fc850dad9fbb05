//! What the calls of operators and people do to a server, beside leaving: each
//! may be refused, fail, or wait for somebody who is away.

use super::far::HERE;
use super::ring::{Disks, Phase, Ring};
use jiff::{SignedDuration, Timestamp};
use palladion_api::ids::HostId;
use palladion_api::member::{Liveness, MemberState, Operation, OperationKind};
use palladion_plan::sim::Activity;
use std::collections::{BTreeMap, BTreeSet};

/// Calls to remove a host ID. The server goes on with one that it has begun,
/// whatever happens to the agent that has called it.
#[derive(Clone, Debug)]
pub struct Removals {
    /// How long one takes.
    pub time: SignedDuration,
    /// Members whose next call ends with its agent, before the server has heard of it.
    pub unheard: BTreeSet<String>,
    /// By the pod whose server carries it out.
    under_way: BTreeMap<String, UnderWay>,
    /// Answers that nobody has read, by pod.
    answers: BTreeMap<String, Result<String, String>>,
}

/// A removal that a server carries out.
#[derive(Clone, Debug)]
struct UnderWay {
    host: HostId,
    done: Timestamp,
    /// Who was down when it began: a server waits for nobody that it does not see up then.
    left_out: BTreeSet<HostId>,
}

/// Another operation that a server carries out. It goes on with it, too.
#[derive(Clone, Debug)]
pub struct Ordered {
    pub operation: Operation,
    /// When it ends, unless it hangs.
    pub until: Timestamp,
}

impl Ordered {
    /// Does a server take some time for it, and would do it twice?
    fn takes_time(operation: &Operation) -> bool {
        match operation.kind {
            OperationKind::Repair
            | OperationKind::Cleanup
            | OperationKind::Rebuild
            | OperationKind::UpgradeSstables => true,
            OperationKind::AlterReplication
            | OperationKind::Flush
            | OperationKind::RemoveNode
            | OperationKind::Unknown(_) => false,
        }
    }
}

impl Default for Removals {
    fn default() -> Self {
        Self {
            time: SignedDuration::from_secs(2),
            unheard: BTreeSet::new(),
            under_way: BTreeMap::new(),
            answers: BTreeMap::new(),
        }
    }
}

impl Removals {
    /// Does a server carry one out?
    pub fn are_under_way(&self) -> bool {
        !self.under_way.is_empty()
    }

    /// Does a server take this host ID out of the ring?
    pub fn is_under_way_for(&self, host: &HostId) -> bool {
        self.under_way.values().any(|removal| removal.host == *host)
    }

    /// They are in the memory of a server that has ended.
    pub fn end_with(&mut self, pod: &str) {
        self.under_way.remove(pod);
        self.answers.remove(pod);
    }
}

impl Ring {
    /// An operation is begun.
    pub fn begin_operation(&mut self, pod: &str, operation: &Operation, until: Timestamp) {
        if operation.kind == OperationKind::Cleanup {
            self.begin_cleanup(pod);
        }
        if Ordered::takes_time(operation) {
            let member = self.servers.get(pod).map(|s| s.member.clone()).unwrap_or_default();
            if let Some(first) = self.ordered.get(pod) {
                let (id, of) = (&operation.id, &first.operation.id);
                self.breaches.push(format!("{member} begins {id} while {of} runs"));
            }
            if self.calls.contains_key(pod) {
                self.breaches.push(format!("{member} begins {} beside a job", operation.id));
            }
            let ordered = Ordered { operation: operation.clone(), until };
            self.ordered.insert(pod.to_string(), ordered);
        }
        let Some(target) =
            operation.target.as_ref().filter(|_| operation.kind == OperationKind::RemoveNode)
        else {
            return;
        };
        let member = self.servers.get(pod).map(|s| s.member.clone()).unwrap_or_default();
        if self.removals.unheard.remove(&member) || self.removals.under_way.contains_key(pod) {
            return;
        }
        self.removals.answers.remove(pod);
        if let Some(why) = self.removal_refused(pod, target) {
            self.removals.answers.insert(pod.to_string(), Err(why));
            return;
        }
        if let Some(seat) = self.seats.get_mut(target) {
            // All see it leaving from now on, whoever dies meanwhile.
            seat.state = MemberState::Leaving;
        }
        self.views.sees_leaving(pod, target);
        let done = self.now + self.removals.time;
        let left_out = self.seats.keys().filter(|host| !self.is_up(host)).cloned().collect();
        let removal = UnderWay { host: target.clone(), done, left_out };
        self.removals.under_way.insert(pod.to_string(), removal);
    }

    /// Removals whose time has passed come to their end.
    pub(super) fn go_on_with_removals(&mut self, disks: &mut Disks) -> Activity {
        let mut all = Activity::default();
        for (pod, removal) in self.removals.under_way.clone() {
            if removal.done > self.now {
                all = all.at(removal.done);
                continue;
            }
            let Some(answer) = self.remove_node(&pod, &removal, disks) else {
                continue;
            };
            self.removals.under_way.remove(&pod);
            self.removals.answers.insert(pod, answer);
            all.acted = true;
        }
        all
    }

    /// What an operation does, once its time has passed. `None` = it hangs.
    pub fn carry_out(
        &mut self,
        pod: &str,
        operation: &Operation,
        disks: &mut Disks,
    ) -> Option<Result<String, String>> {
        let outcome = self.come_to_its_end(pod, operation, disks)?;
        self.ordered.remove(pod);
        Some(outcome)
    }

    fn come_to_its_end(
        &mut self,
        pod: &str,
        operation: &Operation,
        disks: &mut Disks,
    ) -> Option<Result<String, String>> {
        let Some(server) = self.servers.get(pod) else {
            return Some(Err("the connection to the server was closed".into()));
        };
        let member = server.member.clone();
        if operation.kind != OperationKind::RemoveNode && self.failing.remove(&member) {
            return Some(Err("it failed".into()));
        }
        match operation.kind {
            OperationKind::Repair | OperationKind::Cleanup | OperationKind::Rebuild
                if self.hanging.contains(&server.member) =>
            {
                None
            }
            OperationKind::AlterReplication
                if self.login.problem(&server.configuration).is_some() =>
            {
                Some(Err("the server asks for a user and password, and none are mounted".into()))
            }
            OperationKind::AlterReplication => {
                self.alter_system_keyspaces(operation);
                let here = operation.replication.get(HERE);
                self.system_copies = here.copied().or(self.system_copies);
                Some(Ok("altered".into()))
            }
            OperationKind::RemoveNode if self.removals.under_way.contains_key(pod) => None,
            OperationKind::RemoveNode => {
                let closed = || Err("the connection to the server was closed".into());
                Some(self.removals.answers.remove(pod).unwrap_or_else(closed))
            }
            OperationKind::Repair => Some(self.repair(pod, operation, disks)),
            OperationKind::Rebuild => Some(self.copy_from_elsewhere(pod, operation, disks)),
            OperationKind::Cleanup => Some(self.cleanup(pod, disks)),
            OperationKind::UpgradeSstables => Some(self.rewrite(pod, disks)),
            OperationKind::Flush => Some(Ok("done".into())),
            OperationKind::Unknown(word) => {
                self.breaches.push(format!("an operation that nobody knows was begun: {word}"));
                Some(Err("nobody knows it".into()))
            }
        }
    }

    /// Members whose servers carry out an operation, of these pods.
    pub fn at_operations(&self, pods: &BTreeSet<&str>) -> Vec<(&str, &Operation)> {
        let ordered = self.ordered.iter().filter(|(pod, _)| pods.contains(pod.as_str()));
        let member = |pod: &String| Some(self.servers.get(pod)?.member.as_str());
        ordered.filter_map(|(pod, one)| Some((member(pod)?, &one.operation))).collect()
    }

    fn removal_refused(&self, pod: &str, host: &HostId) -> Option<String> {
        let view = self.views.of(pod);
        match view.iter().find(|m| m.host_id == *host) {
            None => Some("Host ID not found.".into()),
            Some(m) if m.liveness == Liveness::Up => Some(format!(
                "Node {} is alive and owns this node's ID. Use decommission command to remove it from the ring",
                m.address
            )),
            Some(_) => None,
        }
    }

    /// A member takes a dead one out of the ring: the new owners of its ranges
    /// stream them, and all must confirm.
    fn remove_node(
        &mut self,
        pod: &str,
        UnderWay { host, left_out, .. }: &UnderWay,
        disks: &mut Disks,
    ) -> Option<Result<String, String>> {
        let member = self.servers.get(pod).map(|s| s.member.clone()).unwrap_or_default();
        if self.failing.remove(&member) {
            return Some(Err("it failed".into()));
        }
        let lives = self
            .servers
            .values()
            .any(|s| s.host_id.as_ref() == Some(host) && s.phase != Phase::Booting);
        if lives {
            self.breaches.push(format!("host ID {host} is removed while it lives"));
        }
        let streams = match self.streams_of_a_removal(host, disks) {
            Ok(streams) => {
                streams.into_iter().filter(|s| !left_out.contains(&s.to)).collect::<Vec<_>>()
            }
            Err(why) => return Some(Err(why)),
        };
        if self.broken_stream(&streams).is_some() {
            return None;
        }
        Ring::arrive(&streams, disks);
        self.seats.remove(host);
        self.told.push(format!("host ID {host} is removed"));
        Some(Ok(format!("host ID {host} is removed")))
    }
}
