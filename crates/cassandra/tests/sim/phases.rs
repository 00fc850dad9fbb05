//! From one phase of a server to the next, and what that does to disk and ring.

use super::formats;
use super::ring::{Disks, JOIN, LEFT, NATIVE, Phase, REPLACE, ROUND, Ring, Seat, WAKE};
use super::streams::Stream;
use super::volume::{Bootstrapped, Data};
use jiff::Timestamp;
use palladion_agent::render::Door;
use palladion_api::ids::HostId;
use palladion_api::member::MemberState;
use std::collections::BTreeSet;

impl Ring {
    pub(super) fn become_normal(&mut self, pod: &str, now: Timestamp, disks: &mut Disks) {
        self.become_normal_in_place_of(pod, None, now, disks);
    }

    /// Its seat is its own from now on; one that was replaced is gone.
    pub(super) fn become_normal_in_place_of(
        &mut self,
        pod: &str,
        replaces: Option<HostId>,
        now: Timestamp,
        disks: &mut Disks,
    ) {
        let Some(server) = self.servers.get(pod).cloned() else {
            return;
        };
        let (Some(host), Some(lineage)) = (server.host_id.clone(), server.lineage) else {
            return;
        };
        let old = replaces.and_then(|old| self.seats.remove(&old));
        let known = self.seats.get(&host).map(|seat| seat.tokens);
        let tokens = old.map(|seat| seat.tokens).or(known).unwrap_or_else(|| self.new_tokens());
        let is_theirs = |(id, seat): (&HostId, &Seat)| {
            *id != host && seat.lineage == lineage && seat.address == server.address
        };
        if self.seats.iter().any(is_theirs) {
            let (member, address) = (&server.member, &server.address);
            self.breaches.push(format!("{member} announces {address}, which is another member's"));
        }
        let seat = Seat {
            lineage,
            address: server.address.clone(),
            rack: rack_of(&server.member),
            tokens,
            state: MemberState::Normal,
            forgotten_at: None,
        };
        self.seats.insert(host, seat);
        let data = disks.get_mut(&server.disk).and_then(|d| d.content.data.as_mut());
        if let Some(data) = data {
            data.bootstrapped = Bootstrapped::Completed;
            data.formats.insert(formats::of(&server.version));
        }
        if matches!(server.phase, Phase::Joining { .. }) {
            self.copy_from_here(pod, disks);
        }
        self.set_phase(pod, Phase::Normal, now + NATIVE);
        if server.door == Door::Open {
            self.port_opens(pod, disks);
        }
        self.told.push(format!("{} is NORMAL", server.member));
    }

    /// A stream of a leave has failed: the call says so, and nobody takes the
    /// announcement back. What went to others is through, and noted.
    pub(super) fn fail_to_leave(&mut self, pod: &str, now: Timestamp, disks: &mut Disks) {
        let Some(server) = self.servers.get(pod).cloned() else {
            return;
        };
        let last = server.streams.last().map(|s| s.to.clone());
        let failed = self.broken_stream(&server.streams).or(last);
        let through = |s: &&Stream| Some(&s.to) != failed.as_ref() && self.is_up(&s.to);
        let through: Vec<Stream> = server.streams.iter().filter(through).cloned().collect();
        Ring::arrive(&through, disks);
        if let Some(data) = disks.get_mut(&server.disk).and_then(|d| d.content.data.as_mut()) {
            data.streamed.extend(through.into_iter().map(|s| (s.range, s.to)));
        }
        self.told.push(format!("{} has failed to leave", server.member));
        let words = "java.lang.RuntimeException: org.apache.cassandra.streaming.StreamException: Stream failed";
        self.answers.insert(pod.to_string(), Err(words.into()));
        self.set_phase(pod, Phase::LeaveFailed, now);
    }

    /// What a server answers that is told to leave while it leaves: 4.x refuses,
    /// 5.0 says yes at once.
    pub(super) fn leaves_already(&mut self, pod: &str, version: &str) -> Result<(), String> {
        if version.starts_with("4.") {
            return Err("java.lang.IllegalStateException : Node is still decommissioning. Check nodetool netstats.".into());
        }
        self.answers.insert(pod.to_string(), Ok(()));
        Ok(())
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
        let Some(host) = server.host_id else {
            return;
        };
        let leaver = self.seats.remove(&host);
        self.ranges_move_from(&server.disk, disks);
        self.hand_hints_on(pod, disks);
        if leaver.is_none() {
            self.breaches.push(format!("{} left a ring that did not know it", server.member));
        }
        self.set_phase(pod, Phase::Left, now + LEFT);
    }

    /// What a leaver kept for others it gives to another member.
    fn hand_hints_on(&mut self, pod: &str, disks: &mut Disks) {
        let Some(own) = self.servers.get(pod).map(|s| s.disk.clone()) else {
            return;
        };
        let taker = self.servers.values().find(|s| s.phase == Phase::Normal && s.disk != own);
        let Some(taker) = taker.map(|s| s.disk.clone()) else {
            return;
        };
        let data = disks.get_mut(&own).and_then(|d| d.content.data.as_mut());
        let hints = data.map(|d| std::mem::take(&mut d.hints)).unwrap_or_default();
        if let Some(data) = disks.get_mut(&taker).and_then(|d| d.content.data.as_mut()) {
            data.hints.extend(hints);
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
        let streams = match &replaces {
            Some(old) => self.streams_of_a_replacement(&host, old, disks),
            None => Ok(Vec::new()),
        };
        let time = if replaces.is_some() { REPLACE } else { JOIN };
        if replaces.is_none() {
            let seat = Seat {
                lineage,
                address: server.address.clone(),
                rack: rack_of(&server.member),
                tokens: self.new_tokens(),
                state: MemberState::Joining,
                forgotten_at: None,
            };
            self.seats.insert(host.clone(), seat);
        }
        // A seat that joins counts for what it will own.
        let streams = match (streams, replaces.is_some()) {
            (Ok(_), false) => self.streams_of_a_join(&host),
            (streams, _) => streams,
        };
        let streams = match streams {
            Ok(streams) => streams,
            Err(why) => {
                if let Some(seat) = self.seats.get_mut(&host) {
                    seat.forgotten_at = Some(now + super::ring::FAT_CLIENT);
                }
                return self.exit(pod, &why);
            }
        };
        if let Some(server) = self.servers.get_mut(pod) {
            server.streams = streams;
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
        self.has_roles.entry(lineage).or_insert(false);
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
        if self.removals.is_under_way_for(&data.host_id) {
            let (member, host) = (&server.member, &data.host_id);
            self.breaches.push(format!("{member} starts while host ID {host} is removed"));
        }
        self.identify(pod, data.lineage, &data.host_id);
        self.set_phase(pod, Phase::Waking, now + WAKE);
    }

    fn identify(&mut self, pod: &str, lineage: usize, host: &HostId) {
        self.take_tokens(pod, host);
        self.stopped.remove(host);
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
    let kept = disk.content.data.take().map(|d| (d.rows, d.hints, d.formats, d.copied));
    let (rows, hints, formats, copied) = kept.unwrap_or_default();
    let (host_id, streamed) = (host.clone(), BTreeSet::new());
    let data = Data { lineage, host_id, bootstrapped, rows, hints, streamed, formats, copied };
    disk.content.data = Some(data);
}

/// A member's rack: its name without the ordinal.
fn rack_of(member: &str) -> String {
    member.rsplit_once('-').map_or(member, |(rack, _)| rack).to_string()
}
