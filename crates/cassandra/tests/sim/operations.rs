//! What the calls of operators and people do to a server, beside leaving: each
//! may be refused, fail, or wait for somebody who is away.

use super::ring::{Disks, Phase, Ring};
use palladion_api::ids::HostId;
use palladion_api::member::{Liveness, MemberState, Operation, OperationKind};

impl Ring {
    /// An operation is begun.
    pub fn begin_operation(&mut self, pod: &str, operation: &Operation) {
        let Some(target) =
            operation.target.as_ref().filter(|_| operation.kind == OperationKind::RemoveNode)
        else {
            return;
        };
        let refused = self.removal_refused(pod, target).is_some();
        if let Some(seat) = self.seats.get_mut(target).filter(|_| !refused) {
            // All see it leaving from now on, whoever dies meanwhile.
            seat.state = MemberState::Leaving;
        }
    }

    /// What an operation does, once its time has passed. `None` = it hangs.
    pub fn carry_out(
        &mut self,
        pod: &str,
        operation: &Operation,
        disks: &mut Disks,
    ) -> Option<Result<String, String>> {
        let Some(server) = self.servers.get(pod) else {
            return Some(Err("the connection to the server was closed".into()));
        };
        if self.failing.contains(&server.member) {
            let member = server.member.clone();
            self.failing.remove(&member);
            return Some(Err("it failed".into()));
        }
        match operation.kind {
            OperationKind::AlterReplication if self.login.problem().is_some() => {
                Some(Err("the server asks for a user and password, and none are mounted".into()))
            }
            OperationKind::AlterReplication => {
                self.system_copies = operation.replication.values().next().copied();
                Some(Ok("altered".into()))
            }
            OperationKind::RemoveNode => {
                let target = operation.target.clone().unwrap_or_default();
                self.remove_node(pod, &target, disks)
            }
            OperationKind::Repair => Some(self.repair(pod, operation, disks)),
            OperationKind::Cleanup => Some(self.cleanup(pod, disks)),
            OperationKind::Flush | OperationKind::UpgradeSstables => Some(Ok("done".into())),
        }
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
        host: &HostId,
        disks: &mut Disks,
    ) -> Option<Result<String, String>> {
        if let Some(why) = self.removal_refused(pod, host) {
            return Some(Err(why));
        }
        let lives = self
            .servers
            .values()
            .any(|s| s.host_id.as_ref() == Some(host) && s.phase != Phase::Booting);
        if lives {
            self.breaches.push(format!("host ID {host} is removed while it lives"));
        }
        let streams = match self.streams_of_a_removal(host, disks) {
            Ok(streams) => streams,
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
