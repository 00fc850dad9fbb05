//! The truth about all servers: who runs, who is a member of which ring, and
//! what each phase of a start or a leave does to that.

use super::gossip::Views;
use super::volume::Bootstrapped;
use jiff::{SignedDuration, Timestamp};
use palladion_api::ids::{HostId, StaticAddress};
use palladion_api::member::MemberState;
use palladion_plan::sim::kubernetes::Disk;
use palladion_plan::sim::{Activity, Random};
use std::collections::{BTreeMap, BTreeSet};

use super::volume::Volume;

/// Disks by name.
pub type Disks = BTreeMap<String, Disk<Volume>>;

/// A place in a ring, as all its members will learn of it.
#[derive(Clone, Debug)]
pub struct Seat {
    pub lineage: usize,
    pub address: StaticAddress,
    pub state: MemberState,
    /// When a joiner that died is forgotten.
    pub forgotten_at: Option<Timestamp>,
}

/// A server process.
#[derive(Clone, Debug)]
pub struct Server {
    pub member: String,
    pub disk: String,
    pub address: StaticAddress,
    pub seeds: Vec<StaticAddress>,
    pub replace: Option<StaticAddress>,
    /// It came back to leave again: it may not bootstrap.
    pub resumes: bool,
    pub lineage: Option<usize>,
    pub host_id: Option<HostId>,
    pub phase: Phase,
    pub until: Timestamp,
    pub configuration: Configuration,
    pub version: String,
}

/// What a server says to its configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Configuration {
    /// Nothing.
    Sound,
    /// It refuses it, in these words.
    Refused(String),
    /// It never comes up with it.
    Hangs,
}

/// What a server is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Reads its data, contacts seeds.
    Booting,
    /// Has decided what it is and comes up with its data.
    Waking,
    /// Founds a ring.
    Initializing,
    /// Streams what it will own; replacing this host ID if any.
    Joining { replaces: Option<HostId> },
    /// A full member; clients are served from `until` on.
    Normal,
    /// Streams away what it owns.
    Leaving,
    /// Has streamed all away and written down that it would have to bootstrap;
    /// the others have not heard of it.
    Unbootstrapped,
    /// Out of the ring; the process has not said so yet.
    Left,
    /// Has left.
    Decommissioned,
}

/// How a process ended by itself.
#[derive(Clone, Debug)]
pub struct Exit {
    pub code: i32,
    pub message: String,
}

/// All servers and rings.
#[derive(Clone)]
pub struct Ring {
    pub servers: BTreeMap<String, Server>,
    pub seats: BTreeMap<HostId, Seat>,
    /// Member that founded each ring there ever was.
    pub founders: Vec<String>,
    pub views: Views,
    pub exits: BTreeMap<String, Exit>,
    /// Bytes that are free on members' disks, where that is not plenty.
    pub free: BTreeMap<String, u64>,
    /// Rows ever written.
    pub rows: u32,
    /// Copies of the users' keyspace.
    pub copies: usize,
    /// Copies of the system keyspaces, once they were set.
    pub system_copies: Option<u32>,
    /// What must never happen and has.
    pub breaches: Vec<String>,
    /// What has happened, for the story.
    pub told: Vec<String>,
    hosts: usize,
    /// Members that no other member reaches; their agents reach the API server.
    pub cut: BTreeSet<String>,
    /// Members whose address the ring holds for somebody else's.
    pub colliding: BTreeSet<String>,
    /// Members whose servers end whenever they start.
    pub unlucky: BTreeSet<String>,
    /// Members that no replacement gets through for, whatever is tried.
    pub wedged: BTreeSet<String>,
    /// Host IDs that a person has called lost, naming their volumes: nobody need wait for them.
    pub called_lost: BTreeSet<HostId>,
    /// Full members that are away, and since when.
    pub(super) away: BTreeMap<HostId, Timestamp>,
}

pub const BOOT: SignedDuration = SignedDuration::from_secs(2);
pub const WAKE: SignedDuration = SignedDuration::from_secs(2);
pub const JOIN: SignedDuration = SignedDuration::from_secs(8);
/// Replacing under a new address sleeps for 60 s.
pub const REPLACE: SignedDuration = SignedDuration::from_secs(68);
pub const NATIVE: SignedDuration = SignedDuration::from_secs(1);
const LEAVE: SignedDuration = SignedDuration::from_secs(5);
/// A round of gossip.
pub const ROUND: SignedDuration = SignedDuration::from_secs(1);
/// The others drop the host ID this long before the leaver says that it has left.
pub const LEFT: SignedDuration = SignedDuration::from_secs(4);
/// Gossip keeps a joiner that died.
const FAT_CLIENT: SignedDuration = SignedDuration::from_secs(30);

impl Ring {
    /// How full a member's disk is.
    pub fn disk_of(&self, member: &str) -> palladion_api::member::Disk {
        palladion_api::member::Disk {
            data_bytes: 10 << 30,
            free_bytes: self.free.get(member).copied().unwrap_or(1 << 40),
        }
    }

    pub fn new(copies: usize) -> Self {
        Ring {
            free: BTreeMap::new(),
            servers: BTreeMap::new(),
            seats: BTreeMap::new(),
            founders: Vec::new(),
            views: Views::default(),
            exits: BTreeMap::new(),
            rows: 0,
            copies,
            system_copies: None,
            breaches: Vec::new(),
            told: Vec::new(),
            hosts: 0,
            away: BTreeMap::new(),
            cut: BTreeSet::new(),
            colliding: BTreeSet::new(),
            unlucky: BTreeSet::new(),
            wedged: BTreeSet::new(),
            called_lost: BTreeSet::new(),
        }
    }

    /// A server that is in this phase, with its pod.
    pub fn in_phase(&self, phase: &Phase) -> Option<(&String, &Server)> {
        self.servers.iter().find(|(_, s)| s.phase == *phase)
    }

    /// Let time pass for every server.
    pub fn step(
        &mut self,
        now: Timestamp,
        disks: &mut Disks,
        random: &mut Option<Random>,
    ) -> Activity {
        self.note_absences(now);
        let mut all = Activity::default();
        let forgotten: Vec<HostId> = self
            .seats
            .iter()
            .filter(|(_, s)| s.forgotten_at.is_some_and(|t| t <= now))
            .map(|(id, _)| id.clone())
            .collect();
        for host in forgotten {
            self.seats.remove(&host);
            all.acted = true;
        }
        let due: Vec<String> = self
            .servers
            .iter()
            .filter(|(_, s)| {
                s.until <= now && !matches!(s.phase, Phase::Normal | Phase::Decommissioned)
            })
            .map(|(pod, _)| pod.clone())
            .collect();
        for pod in due {
            self.advance(&pod, now, disks);
            all.acted = true;
        }
        for server in self.servers.values() {
            if server.until > now {
                all = all.at(server.until);
            }
        }
        for seat in self.seats.values() {
            if let Some(time) = seat.forgotten_at {
                all = all.at(time);
            }
        }
        all.and(self.gossip(now, random))
    }

    fn advance(&mut self, pod: &str, now: Timestamp, disks: &mut Disks) {
        let Some(server) = self.servers.get(pod).cloned() else {
            return;
        };
        match server.phase {
            Phase::Booting => self.boot(pod, now, disks),
            Phase::Waking | Phase::Initializing => self.become_normal(pod, now, disks),
            Phase::Joining { replaces } => {
                if let Some(old) = replaces {
                    self.seats.remove(&old);
                }
                self.become_normal(pod, now, disks);
            }
            Phase::Leaving => self.become_unbootstrapped(pod, now, disks),
            Phase::Unbootstrapped => self.become_left(pod, now, disks),
            Phase::Left => {
                if let Some(data) =
                    disks.get_mut(&server.disk).and_then(|d| d.content.data.as_mut())
                {
                    data.bootstrapped = Bootstrapped::Decommissioned;
                }
                self.set_phase(pod, Phase::Decommissioned, now);
                self.told.push(format!("{} is DECOMMISSIONED", server.member));
            }
            Phase::Normal | Phase::Decommissioned => {}
        }
    }

    pub fn set_phase(&mut self, pod: &str, phase: Phase, until: Timestamp) {
        if let Some(server) = self.servers.get_mut(pod) {
            server.phase = phase;
            server.until = until;
        }
    }

    /// A server ends by itself.
    pub fn exit(&mut self, pod: &str, message: &str) {
        if let Some(server) = self.servers.remove(pod) {
            self.told.push(format!("{} exits: {message}", server.member));
            self.exits.insert(pod.to_string(), Exit { code: 3, message: message.to_string() });
        }
    }

    /// A server is stopped or killed.
    pub fn stop(&mut self, pod: &str, now: Timestamp) {
        let Some(server) = self.servers.remove(pod) else {
            return;
        };
        self.views.forget(pod);
        let Some(seat) = server.host_id.and_then(|h| self.seats.get_mut(&h)) else {
            return;
        };
        match server.phase {
            Phase::Joining { .. } | Phase::Initializing => {
                seat.forgotten_at = Some(now + FAT_CLIENT)
            }
            Phase::Booting
            | Phase::Waking
            | Phase::Normal
            | Phase::Leaving
            | Phase::Unbootstrapped
            | Phase::Left
            | Phase::Decommissioned => {}
        }
    }

    /// Start to leave, or the server's refusal.
    pub fn decommission(&mut self, pod: &str, now: Timestamp) -> Result<(), String> {
        let Some(server) = self.servers.get(pod).cloned() else {
            return Err("no server runs".into());
        };
        let full = self
            .seats
            .values()
            .filter(|s| Some(s.lineage) == server.lineage && s.state == MemberState::Normal)
            .count();
        let needed =
            self.system_copies.map_or(3, |c| usize::try_from(c).unwrap_or(3)).max(self.copies);
        if full <= needed {
            return Err(format!(
                "Not enough live nodes to maintain replication factor (RF = {needed}, N = {full})"
            ));
        }
        if let Some(seat) = server.host_id.as_ref().and_then(|h| self.seats.get_mut(h)) {
            seat.state = MemberState::Leaving;
        }
        self.set_phase(pod, Phase::Leaving, now + LEAVE);
        self.told.push(format!("{} is LEAVING", server.member));
        Ok(())
    }

    pub(super) fn new_host(&mut self) -> HostId {
        self.hosts += 1;
        HostId::new(format!("host-{}", self.hosts))
    }
}
