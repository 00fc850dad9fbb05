//! The truth about all servers: who runs, who is a member of which ring, and
//! what each phase of a start or a leave does to that.

use super::gossip::Views;
use super::operations::{Ordered, Removals};
use super::repair::Repaired;
use super::rows::{Cleanup, Clients};
use super::streams::{Stream, streamed};
use super::volume::Bootstrapped;
use super::work::Call;
use jiff::{SignedDuration, Timestamp};
use palladion_agent::render::Door;
use palladion_api::cluster::InternodeTlsMode;
use palladion_api::ids::{ClientAddress, HostId, StaticAddress};
use palladion_api::member::{AccessProblem, AccessProblemKind, MemberState, RingMember};
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
    pub rack: String,
    /// Which tokens: a replacement has those of whom it replaces.
    pub tokens: u64,
    pub state: MemberState,
    /// When a joiner that died is forgotten.
    pub forgotten_at: Option<Timestamp>,
}

/// A server process.
#[derive(Clone, Debug)]
pub struct Server {
    pub member: String,
    /// Which launch this is.
    pub tag: String,
    pub disk: String,
    pub address: StaticAddress,
    /// What it announces to clients, where that is not its address.
    pub client_address: Option<ClientAddress>,
    pub seeds: Vec<StaticAddress>,
    pub replace: Option<StaticAddress>,
    /// It came back to leave again: it may not bootstrap.
    pub resumes: bool,
    pub lineage: Option<usize>,
    pub host_id: Option<HostId>,
    pub phase: Phase,
    pub until: Timestamp,
    pub configuration: Configuration,
    /// Who can speak to it over CQL.
    pub door: Door,
    /// Does its launch record say that it takes no clients?
    pub called_shut: bool,
    /// Does its launch record say that its port was seen up?
    pub was_open: bool,
    /// To which time it was started to replay an archived commit log.
    pub rewound: Option<i64>,
    /// The tokens that it was started with.
    pub restored: Option<Vec<String>>,
    /// How it speaks to other members.
    pub internode: InternodeTlsMode,
    pub shown: Shown,
    /// What it has not read yet of that, and when it does.
    pub reads: Option<(Timestamp, Shown)>,
    /// The same for clients.
    pub shown_to_clients: Shown,
    pub reads_for_clients: Option<(Timestamp, Shown)>,
    pub version: String,
    /// What it streams, or is streamed, in this phase.
    pub streams: Vec<Stream>,
    /// It has refused to leave since its start: 5.0 says DECOMMISSION_FAILED of it then.
    pub refused: bool,
}

/// What of certificates other members, or clients, notice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// The authority of the certificate that it shows.
    pub shows: Option<String>,
    /// The authorities whose certificates it takes.
    pub takes: BTreeSet<String>,
}

/// What a server says to its configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Configuration {
    /// Nothing: it runs like this.
    Runs(Runs),
    /// It refuses it, in these words.
    Refused(String),
    /// It never comes up with it.
    Hangs,
}

/// How a server runs for clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    /// It asks who logs in.
    pub asks: bool,
    /// It serves with a certificate that the operator signs.
    pub certified: bool,
    /// It takes clients over TLS alone.
    pub tls_alone: bool,
    /// It takes them only once its member is rebuilt.
    pub added: bool,
    /// It keeps so many MiB of its commit log for readers of changes.
    pub keeps_mib: Option<u64>,
}

impl Configuration {
    /// Does it ask who logs in?
    pub fn asks(&self) -> bool {
        matches!(self, Configuration::Runs(Runs { asks: true, .. }))
    }

    /// Does it take clients over TLS alone?
    pub fn is_tls_alone(&self) -> bool {
        matches!(self, Configuration::Runs(Runs { tls_alone: true, .. }))
    }

    /// Was its datacenter added to a ring?
    pub fn is_added(&self) -> bool {
        matches!(self, Configuration::Runs(Runs { added: true, .. }))
    }

    /// How many MiB of its commit log does it keep for readers of changes, if it does?
    pub fn keeps_mib(&self) -> Option<u64> {
        match self {
            Configuration::Runs(runs) => runs.keeps_mib,
            Configuration::Refused(_) | Configuration::Hangs => None,
        }
    }

    /// Has it a certificate that the operator signs?
    pub fn is_certified(&self) -> bool {
        matches!(self, Configuration::Runs(Runs { certified: true, .. }))
    }
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
    /// A stream of its join has failed; the process stays.
    JoinFailed,
    /// A full member; clients are served from `until` on.
    Normal,
    /// Was drained: its process runs and serves nobody.
    Drained,
    /// Streams away what it owns.
    Leaving,
    /// A stream of its leave has failed: the others see it leaving for ever,
    /// and it serves.
    LeaveFailed,
    /// Has streamed all away and written down that it would have to bootstrap;
    /// the others have not heard of it.
    Unbootstrapped,
    /// Out of the ring; the process has not said so yet.
    Left,
    /// Has left.
    Decommissioned,
}

impl Phase {
    /// Does it end by itself after some time?
    fn passes(&self) -> bool {
        match self {
            Phase::Booting
            | Phase::Waking
            | Phase::Initializing
            | Phase::Joining { .. }
            | Phase::Leaving
            | Phase::Unbootstrapped
            | Phase::Left => true,
            Phase::JoinFailed
            | Phase::Normal
            | Phase::Drained
            | Phase::LeaveFailed
            | Phase::Decommissioned => false,
        }
    }
}

/// Does a leave go on although a keyspace has more copies than members are left?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Force {
    No,
    Yes,
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
    /// Members of other datacenters, which no record names: as each of ours is to see them.
    pub elsewhere: BTreeMap<HostId, RingMember>,
    /// Member that founded each ring there ever was.
    pub founders: Vec<String>,
    pub views: Views,
    pub exits: BTreeMap<String, Exit>,
    /// Calls to leave that were answered, by pod.
    pub answers: BTreeMap<String, Result<(), String>>,
    /// Host IDs of servers that said in gossip that they stop.
    pub stopped: BTreeSet<HostId>,
    tags: usize,
    /// Bytes that are free on members' disks, where that is not plenty.
    pub free: BTreeMap<String, u64>,
    /// What is in another datacenter.
    pub far: super::far::Far,
    /// The archives of its members' commit logs.
    pub archives: super::archive::Archives,
    /// What waits for readers of changes.
    pub segments: super::cdc::Segments,
    /// The store of its backups.
    pub store: super::transfers::Store,
    /// The tables that restores touch.
    pub tables: super::restores::Tables,
    /// The tokens of members that have begun with those of a backup.
    pub restored: BTreeMap<HostId, Vec<String>>,
    /// Members of backups whose roles were loaded.
    pub roles_of: BTreeSet<HostId>,
    /// What servers answer to every statement of a restore, if they refuse it.
    pub refuses_statements: Option<String>,
    /// What clients wrote and were told.
    pub clients: Clients,
    /// Now, as of the last step.
    pub now: Timestamp,
    /// Copies of the users' keyspace.
    pub copies: usize,
    /// Copies of the system keyspaces, once they were set.
    pub system_copies: Option<u32>,
    /// Members that have begun a permit or an intent of a region lock since this was emptied.
    pub begun_under_lock: Vec<String>,
    /// What must never happen and has.
    pub breaches: Vec<String>,
    /// What has happened, for the story.
    pub told: Vec<String>,
    hosts: usize,
    /// Members that no other member reaches; their agents reach the API server.
    pub cut: BTreeSet<String>,
    /// Members whose servers announce an address that is not their Service's any more:
    /// nobody reaches them there.
    pub astray: BTreeSet<String>,
    /// Members that hear nothing of members that are new.
    pub deaf: BTreeSet<String>,
    /// Members whose servers do not answer their agents.
    pub silent: BTreeSet<String>,
    /// Members whose native transport is down.
    pub closed: BTreeSet<String>,
    /// Members whose address the ring holds for somebody else's.
    pub colliding: BTreeSet<String>,
    /// Members whose streams, repairs and cleanups never end.
    pub hanging: BTreeSet<String>,
    /// Members whose servers do not end what they are asked to end.
    pub headstrong: BTreeSet<String>,
    /// Operations that were begun: by which member, and their IDs.
    pub begun: Vec<(String, String)>,
    /// Removals, which end with the server that carries them out, not with its agent.
    pub removals: Removals,
    /// Other operations that servers carry out, by pod.
    pub ordered: BTreeMap<String, Ordered>,
    /// Calls of jobs that servers carry out, by pod.
    pub calls: BTreeMap<String, Call>,
    /// What cleanups that were begun will leave, by pod.
    pub(super) cleanups: BTreeMap<String, Cleanup>,
    /// Jobs that were begun: by which member, and their IDs.
    pub units: Vec<(String, String)>,
    /// Ranges whose repair was begun as due.
    pub repaired: Vec<Repaired>,
    /// Ranges whose repair has come to its end and counts, in order.
    pub counted: Vec<u32>,
    /// `gc_grace_seconds` of the tables.
    pub grace: u32,
    /// The smallest of tables besides, of which no row is shown, once agents have learned it.
    pub learned_grace: Option<u32>,
    /// Members whose next stream fails.
    pub failing: BTreeSet<String>,
    /// What the native protocol says to an agent.
    pub login: Login,
    seats_taken: u64,
    /// Members whose servers end whenever they start.
    pub unlucky: BTreeSet<String>,
    /// Members whose servers repair by themselves.
    pub auto_repair: BTreeSet<String>,
    /// Members that have another schema than the rest.
    pub odd_schemas: BTreeSet<String>,
    /// Members that no replacement gets through for, whatever is tried.
    pub wedged: BTreeSet<String>,
    /// Host IDs that a person has called lost, naming their volumes: nobody need wait for them.
    pub called_lost: BTreeSet<HostId>,
    /// Rings, and whether they have roles of their own. Until then the superuser that everybody
    /// knows is there, or comes with the first server that asks.
    pub has_roles: BTreeMap<usize, bool>,
    /// Full members that are away, and since when.
    pub(super) away: BTreeMap<HostId, Timestamp>,
}

/// How an agent's log-in over the native protocol ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Login {
    /// Nobody is asked.
    NotAsked,
    /// With the Secret that is mounted it gets in.
    Accepted,
    /// With the Secret that is mounted it gets in, and so does anybody as `cassandra`.
    DefaultUserOpen,
    /// No Secret is mounted.
    Missing,
    /// No Secret is mounted; only servers whose configuration says so ask.
    MissingWhereAsked,
    /// Servers whose configuration says so ask, and have not said yet whom they accept.
    PendingWhereAsked,
    /// The Secret's password is wrong.
    Refused,
    /// The server's certificate is of an authority that the agent does not know.
    CertificateRefused,
}

impl Login {
    /// What the agent of a server with this configuration reports of it.
    pub fn problem(self, configuration: &Configuration) -> Option<AccessProblem> {
        let kind = match self {
            Login::NotAsked | Login::Accepted => return None,
            Login::MissingWhereAsked | Login::PendingWhereAsked if !configuration.asks() => {
                return None;
            }
            Login::DefaultUserOpen => AccessProblemKind::DefaultUserOpen,
            Login::PendingWhereAsked => AccessProblemKind::Pending,
            Login::Missing | Login::MissingWhereAsked => AccessProblemKind::CredentialsMissing,
            Login::Refused => AccessProblemKind::CredentialsRefused,
            Login::CertificateRefused => AccessProblemKind::CertificateRefused,
        };
        Some(AccessProblem { kind, message: None })
    }
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
pub const FAT_CLIENT: SignedDuration = SignedDuration::from_secs(30);

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
            has_roles: BTreeMap::new(),
            free: BTreeMap::new(),
            servers: BTreeMap::new(),
            seats: BTreeMap::new(),
            elsewhere: BTreeMap::new(),
            founders: Vec::new(),
            views: Views::default(),
            exits: BTreeMap::new(),
            answers: BTreeMap::new(),
            stopped: BTreeSet::new(),
            tags: 0,
            far: super::far::Far::default(),
            archives: super::archive::Archives::default(),
            segments: super::cdc::Segments::default(),
            store: super::transfers::Store::default(),
            tables: super::restores::Tables::default(),
            restored: BTreeMap::new(),
            roles_of: BTreeSet::new(),
            refuses_statements: None,
            clients: Clients::default(),
            now: Timestamp::UNIX_EPOCH,
            copies,
            system_copies: None,
            begun_under_lock: Vec::new(),
            breaches: Vec::new(),
            told: Vec::new(),
            hosts: 0,
            away: BTreeMap::new(),
            cut: BTreeSet::new(),
            astray: BTreeSet::new(),
            deaf: BTreeSet::new(),
            colliding: BTreeSet::new(),
            hanging: BTreeSet::new(),
            headstrong: BTreeSet::new(),
            begun: Vec::new(),
            removals: Removals::default(),
            ordered: BTreeMap::new(),
            calls: BTreeMap::new(),
            cleanups: BTreeMap::new(),
            units: Vec::new(),
            repaired: Vec::new(),
            counted: Vec::new(),
            grace: 864_000,
            learned_grace: None,
            failing: BTreeSet::new(),
            login: Login::NotAsked,
            seats_taken: 0,
            unlucky: BTreeSet::new(),
            auto_repair: BTreeSet::new(),
            odd_schemas: BTreeSet::new(),
            silent: BTreeSet::new(),
            closed: BTreeSet::new(),
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
        self.now = now;
        self.note_absences(now);
        let mut all = Activity { acted: self.deliver_hints(disks), next: None };
        all = all.and(self.go_on_with_removals(disks));
        all = all.and(self.purge(disks));
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
            .filter(|(_, s)| s.until <= now && s.phase.passes() && !self.hangs(s))
            .map(|(pod, _)| pod.clone())
            .collect();
        for pod in due {
            self.advance(&pod, now, disks);
            all.acted = true;
        }
        for server in self.servers.values() {
            if server.until > now && !self.hangs(server) {
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
            Phase::Joining { .. } if self.stream_fails(&server) => {
                self.told.push(format!("{} has failed to join", server.member));
                self.set_phase(pod, Phase::JoinFailed, now);
            }
            Phase::Joining { replaces } => {
                Ring::arrive(&server.streams, disks);
                self.become_normal_in_place_of(pod, replaces, now, disks);
            }
            Phase::Leaving if self.stream_fails(&server) => self.fail_to_leave(pod, now, disks),
            Phase::Leaving => {
                Ring::arrive(&server.streams, disks);
                self.become_unbootstrapped(pod, now, disks);
            }
            Phase::Unbootstrapped => self.become_left(pod, now, disks),
            Phase::Left => {
                if let Some(data) =
                    disks.get_mut(&server.disk).and_then(|d| d.content.data.as_mut())
                {
                    data.bootstrapped = Bootstrapped::Decommissioned;
                }
                self.set_phase(pod, Phase::Decommissioned, now);
                self.answers.insert(pod.to_string(), Ok(()));
                self.told.push(format!("{} is DECOMMISSIONED", server.member));
            }
            Phase::Normal
            | Phase::Drained
            | Phase::JoinFailed
            | Phase::LeaveFailed
            | Phase::Decommissioned => {}
        }
    }

    /// Do its streams never end?
    fn hangs(&self, server: &Server) -> bool {
        matches!(server.phase, Phase::Joining { .. } | Phase::Leaving)
            && self.hanging.contains(&server.member)
    }

    /// Has a stream of this server failed?
    fn stream_fails(&mut self, server: &Server) -> bool {
        self.failing.remove(&server.member) || self.broken_stream(&server.streams).is_some()
    }

    /// Whose stream had an end that has just stopped fails at once, not at its end.
    fn fail_streams(&mut self, now: Timestamp) {
        let broken: Vec<String> = self
            .servers
            .iter()
            .filter(|(_, s)| matches!(s.phase, Phase::Joining { .. } | Phase::Leaving))
            .filter(|(_, s)| self.broken_stream(&s.streams).is_some())
            .map(|(pod, _)| pod.clone())
            .collect();
        for pod in broken {
            if let Some(server) = self.servers.get_mut(&pod) {
                server.until = now;
            }
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
            self.removals.end_with(pod);
            self.calls.remove(pod);
            self.cleanups.remove(pod);
            self.ordered.remove(pod);
            self.told.push(format!("{} exits: {message}", server.member));
            self.exits.insert(pod.to_string(), Exit { code: 3, message: message.to_string() });
        }
    }

    /// A server is drained and told to end: it says so in gossip.
    pub fn stop_in_order(&mut self, pod: &str, now: Timestamp) {
        let host = self.servers.get(pod).and_then(|s| s.host_id.clone());
        self.stopped.extend(host);
        self.stop(pod, now);
    }

    /// A server is drained and goes on running: it leaves gossip.
    pub fn drain(&mut self, pod: &str, now: Timestamp) {
        let Some(server) = self.servers.get(pod).cloned() else {
            return;
        };
        let host = server.host_id.clone();
        self.watch_others(
            &format!("{} is drained", server.member),
            &host.iter().collect::<Vec<_>>(),
            now,
        );
        self.stopped.extend(host);
        self.calls.remove(pod);
        self.cleanups.remove(pod);
        self.ordered.remove(pod);
        self.set_phase(pod, Phase::Drained, now);
        self.told.push(format!("{} is DRAINED", server.member));
    }

    /// A server is killed.
    pub fn stop(&mut self, pod: &str, now: Timestamp) {
        let Some(server) = self.servers.remove(pod) else {
            return;
        };
        self.views.forget(pod);
        self.removals.end_with(pod);
        self.calls.remove(pod);
        self.cleanups.remove(pod);
        self.ordered.remove(pod);
        self.fail_streams(now);
        let Some(seat) = server.host_id.and_then(|h| self.seats.get_mut(&h)) else {
            return;
        };
        match server.phase {
            Phase::Joining { .. } | Phase::JoinFailed | Phase::Initializing
                if seat.state == MemberState::Joining =>
            {
                seat.forgotten_at = Some(now + FAT_CLIENT);
            }
            Phase::Booting
            | Phase::Waking
            | Phase::Initializing
            | Phase::Joining { .. }
            | Phase::JoinFailed
            | Phase::Normal
            | Phase::Drained
            | Phase::Leaving
            | Phase::LeaveFailed
            | Phase::Unbootstrapped
            | Phase::Left
            | Phase::Decommissioned => {}
        }
    }

    /// Start to leave, or the server's refusal.
    pub fn decommission(
        &mut self,
        pod: &str,
        force: Force,
        now: Timestamp,
        disks: &Disks,
    ) -> Result<(), String> {
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
        if matches!(server.phase, Phase::Leaving | Phase::Unbootstrapped | Phase::Left) {
            return self.leaves_already(pod, &server.version);
        }
        let again = server.phase == Phase::LeaveFailed;
        if full <= needed && !again && force == Force::No {
            if let Some(server) = self.servers.get_mut(pod) {
                server.refused = true;
            }
            return Err(format!(
                "Not enough live nodes to maintain replication factor (RF = {needed}, N = {full}). Perform a forceful decommission to ignore."
            ));
        }
        let host = server.host_id.unwrap_or_default();
        // What an earlier try has streamed is not streamed again, whatever was written since.
        let noted = streamed(disks, &server.disk);
        let mut streams = self.streams_of_a_leave(&host);
        streams.retain(|s| !noted.contains(&(s.range, s.to.clone())));
        if let Some(seat) = self.seats.get_mut(&host) {
            seat.state = MemberState::Leaving;
        }
        if let Some(server) = self.servers.get_mut(pod) {
            server.streams = streams;
            server.refused = false;
        }
        self.set_phase(pod, Phase::Leaving, now + LEAVE);
        self.told.push(format!("{} is LEAVING", server.member));
        Ok(())
    }

    /// What a launch is known by.
    pub fn new_tag(&mut self) -> String {
        self.tags += 1;
        format!("launch-{}", self.tags)
    }

    /// Tokens that nobody has.
    pub(super) fn new_tokens(&mut self) -> u64 {
        self.seats_taken += 1;
        self.seats_taken
    }

    pub(super) fn new_host(&mut self) -> HostId {
        self.hosts += 1;
        HostId::new(format!("host-{}", self.hosts))
    }
}
