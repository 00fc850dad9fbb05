//! From one phase of a server to the next, and what that does to disk and ring.

use super::ring::{Disks, JOIN, LEFT, NATIVE, Phase, REPLACE, ROUND, Ring, Seat, WAKE};
use super::volume::{Bootstrapped, Data};
use jiff::Timestamp;
use palladion_api::ids::HostId;
use palladion_api::member::MemberState;

impl Ring {
    pub(super) fn become_normal(&mut self, pod: &str, now: Timestamp, disks: &mut Disks) {
        let Some(server) = self.servers.get(pod).cloned() else {
            return;
        };
        let (Some(host), Some(lineage)) = (server.host_id.clone(), server.lineage) else {
            return;
        };
        let seat = Seat {
            lineage,
            address: server.address.clone(),
            state: MemberState::Normal,
            forgotten_at: None,
        };
        self.seats.insert(host, seat);
        let data = disks.get_mut(&server.disk).and_then(|d| d.content.data.as_mut());
        if let Some(data) = data {
            data.bootstrapped = Bootstrapped::Completed;
        }
        self.set_phase(pod, Phase::Normal, now + NATIVE);
        if !matches!(server.phase, Phase::Waking) {
            self.stream(lineage, disks);
        }
        self.told.push(format!("{} is NORMAL", server.member));
    }

    pub(super) fn become_unbootstrapped(&mut self, pod: &str, now: Timestamp, disks: &mut Disks) {
        let Some(server) = self.servers.get(pod) else {
            return;
        };
        if let Some(data) = disks.get_mut(&server.disk).and_then(|d| d.content.data.as_mut()) {
            data.bootstrapped = Bootstrapped::NeedsBootstrap;
        }
        self.set_phase(pod, Phase::Unbootstrapped, now + ROUND);
    }

    pub(super) fn become_left(&mut self, pod: &str, now: Timestamp, disks: &mut Disks) {
        let Some(server) = self.servers.get(pod).cloned() else {
            return;
        };
        let (Some(host), Some(lineage)) = (server.host_id, server.lineage) else {
            return;
        };
        let leaver = self.seats.remove(&host);
        self.stream(lineage, disks);
        if leaver.is_none() {
            self.breaches.push(format!("{} left a ring that did not know it", server.member));
        }
        self.set_phase(pod, Phase::Left, now + LEFT);
    }

    /// Another member takes a dead one out of the ring.
    pub fn remove_node(&mut self, host: &HostId, disks: &mut Disks) {
        let lives = self
            .servers
            .values()
            .any(|s| s.host_id.as_ref() == Some(host) && s.phase != Phase::Booting);
        if lives {
            self.breaches.push(format!("host ID {host} is removed while it lives"));
        }
        if let Some(seat) = self.seats.remove(host) {
            self.told.push(format!("host ID {host} is removed"));
            self.stream(seat.lineage, disks);
        }
    }

    /// Seat and phase of a server that streams its way into a ring.
    pub fn begin_join(
        &mut self,
        pod: &str,
        lineage: usize,
        replaces: Option<HostId>,
        now: Timestamp,
        disks: &mut Disks,
    ) {
        let Some(server) = self.servers.get(pod).cloned() else {
            return;
        };
        let kept = disks
            .get(&server.disk)
            .and_then(|d| d.content.data.as_ref())
            .map(|d| d.host_id.clone());
        let host = kept.unwrap_or_else(|| self.new_host());
        let time = if replaces.is_some() { REPLACE } else { JOIN };
        if replaces.is_none() {
            let seat = Seat {
                lineage,
                address: server.address.clone(),
                state: MemberState::Joining,
                forgotten_at: None,
            };
            self.seats.insert(host.clone(), seat);
        }
        write_data(disks, &server.disk, lineage, &host, Bootstrapped::InProgress);
        self.identify(pod, lineage, &host);
        self.set_phase(pod, Phase::Joining { replaces }, now + time);
        self.told.push(format!("{} is JOINING", server.member));
    }

    /// A new ring comes into being.
    pub fn begin_initialization(&mut self, pod: &str, now: Timestamp, disks: &mut Disks) {
        let Some(server) = self.servers.get(pod).cloned() else {
            return;
        };
        let kept = disks.get(&server.disk).and_then(|d| d.content.data.clone());
        let (lineage, host) = match kept {
            Some(data) => (data.lineage, data.host_id),
            None => {
                self.founders.push(server.member.clone());
                (self.founders.len() - 1, self.new_host())
            }
        };
        write_data(disks, &server.disk, lineage, &host, Bootstrapped::InProgress);
        self.identify(pod, lineage, &host);
        self.set_phase(pod, Phase::Initializing, now + WAKE);
        self.told.push(format!("{} founds a ring", server.member));
    }

    /// A member comes back with its data.
    pub fn begin_waking(&mut self, pod: &str, data: &Data, now: Timestamp) {
        let Some(server) = self.servers.get(pod) else {
            return;
        };
        if !self.seats.contains_key(&data.host_id) {
            self.breaches.push(format!(
                "{} came back under host ID {}, which the ring has removed",
                server.member, data.host_id
            ));
        }
        self.identify(pod, data.lineage, &data.host_id);
        self.set_phase(pod, Phase::Waking, now + WAKE);
    }

    fn identify(&mut self, pod: &str, lineage: usize, host: &HostId) {
        if let Some(server) = self.servers.get_mut(pod) {
            server.lineage = Some(lineage);
            server.host_id = Some(host.clone());
        }
    }
}

fn write_data(
    disks: &mut Disks,
    disk: &str,
    lineage: usize,
    host: &HostId,
    bootstrapped: Bootstrapped,
) {
    let Some(disk) = disks.get_mut(disk) else {
        return;
    };
    let rows = disk.content.data.take().map(|d| d.rows).unwrap_or_default();
    disk.content.data = Some(Data { lineage, host_id: host.clone(), bootstrapped, rows });
}
