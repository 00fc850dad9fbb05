//! The agent's side of the member protocol: one per running pod. It knows its
//! own member (a little late), its volume and its server, and nothing else.

use super::ring::{Configuration, Disks, Phase, Ring};
use super::volume::{self, Ledger, Membership, Unused, Volume};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::ids::VolumeId;
use palladion_api::member::{
    CassandraMemberSpec, CassandraMemberStatus, Evidence, IntentState, OperationKind,
    OperationState, OperationStatus, RunState, ServerState, VolumeState, VolumeStatus,
};
use palladion_api::reasons::Reason;
use palladion_plan::sim::kubernetes::Mount;
use palladion_plan::sim::{Activity, PodRun};
use serde_json::Value;

/// From a change of the member to the agent's knowing of it.
pub const LAG: SignedDuration = SignedDuration::from_millis(100);
/// How long an operation takes.
const OPERATION: SignedDuration = SignedDuration::from_secs(2);

/// An agent.
#[derive(Clone, Debug)]
pub struct Agent {
    pub pod: PodRun,
    /// The last spec that it has read; on its volume after that.
    pub spec: Option<CassandraMemberSpec>,
    /// The same as it was read.
    pub read: Value,
    /// The status that it has written last.
    pub reported: Option<CassandraMemberStatus>,
    /// What the server is started with.
    pub configuration: Configuration,
    /// Version of the server's image.
    pub version: String,
    pub state: ServerState,
    pub since: Timestamp,
    pub reason: Reason,
    pub message: String,
    pub not_before: Option<Timestamp>,
    pub failures: u32,
    pub(super) evidence: Option<Evidence>,
    operation_ends: Option<(String, Timestamp)>,
}

/// All that an agent can touch.
pub struct Reach<'a> {
    pub now: Timestamp,
    pub disks: &'a mut Disks,
    pub ring: &'a mut Ring,
    /// Volumes ever taken into use.
    pub volumes: &'a mut usize,
}

impl Agent {
    pub fn new(pod: PodRun, now: Timestamp, configuration: Configuration, version: String) -> Self {
        Agent {
            pod,
            version,
            spec: None,
            read: Value::Null,
            reported: None,
            configuration,
            state: ServerState::Waiting,
            since: now,
            reason: Reason::WaitingForMember,
            message: String::new(),
            not_before: None,
            failures: 0,
            evidence: None,
            operation_ends: None,
        }
    }

    /// Act on what is known.
    pub fn step(&mut self, reach: &mut Reach<'_>) -> Activity {
        let Some(spec) =
            self.spec.clone().or_else(|| self.volume(reach).and_then(|v| v.saved.clone()))
        else {
            return Activity::default();
        };
        self.take_volume_into_use(&spec, reach);
        self.note_exit(reach);
        if self.pod.ending {
            reach.ring.stop(&self.pod.uid, reach.now);
            self.set(
                ServerState::Stopping,
                Reason::StoppedByIntent,
                "the pod is being ended",
                reach.now,
            );
            return Activity::default();
        }
        let started = self.run_server(&spec, reach);
        self.observe(reach);
        self.follow_intent(&spec, reach);
        let working = self.run_operation(&spec, reach);
        self.answer(&spec, reach);
        started.and(working)
    }

    pub fn volume<'r>(&self, reach: &'r Reach<'_>) -> Option<&'r Volume> {
        reach.disks.get(&self.pod.disk).filter(|d| d.mount == Mount::Mounted).map(|d| &d.content)
    }

    pub fn ledger<'r>(&self, reach: &'r Reach<'_>) -> Option<&'r Ledger> {
        self.volume(reach).and_then(|v| v.ledger.as_ref())
    }

    pub fn ledger_mut<'r>(&self, reach: &'r mut Reach<'_>) -> Option<&'r mut Ledger> {
        reach.disks.get_mut(&self.pod.disk).and_then(|d| d.content.ledger.as_mut())
    }

    fn file_system(&self, reach: &Reach<'_>) -> String {
        match reach.disks.get(&self.pod.disk).map(|d| d.mount) {
            Some(Mount::Mounted) => format!("fs-{}", self.pod.disk),
            Some(Mount::Missing) | None => "fs-root".to_string(),
        }
    }

    fn take_volume_into_use(&mut self, spec: &CassandraMemberSpec, reach: &mut Reach<'_>) {
        let file_system = self.file_system(reach);
        let Some(disk) = reach.disks.get_mut(&self.pod.disk).filter(|d| d.mount == Mount::Mounted)
        else {
            return;
        };
        disk.content.saved = Some(spec.clone());
        if disk.content.ledger.is_some() || disk.content.data.is_some() {
            return;
        }
        let successor_of = match volume::unused(&file_system, spec) {
            Unused::New => None,
            Unused::Successor(lost) => Some(lost),
            Unused::NotMounted => return,
        };
        *reach.volumes += 1;
        disk.content.ledger =
            Some(Ledger::new(VolumeId::new(format!("volume-{}", reach.volumes)), successor_of));
    }

    /// The volume as it is reported.
    pub fn volume_state(&self, spec: &CassandraMemberSpec, reach: &Reach<'_>) -> VolumeStatus {
        let file_system = self.file_system(reach);
        let message = None;
        match (self.volume(reach), self.ledger(reach)) {
            (Some(volume), Some(ledger)) => VolumeStatus {
                volume_id: ledger.volume_id.clone(),
                state: volume::state(volume, ledger, spec),
                file_system,
                ring: ledger.ring.clone(),
                message,
            },
            (Some(volume), None) if volume.data.is_some() => VolumeStatus {
                volume_id: VolumeId::default(),
                state: VolumeState::Unaccounted,
                file_system,
                ring: None,
                message,
            },
            (Some(_) | None, _) => VolumeStatus {
                volume_id: VolumeId::default(),
                state: VolumeState::NotMounted,
                file_system,
                ring: None,
                message,
            },
        }
    }

    pub fn set(&mut self, state: ServerState, reason: Reason, message: &str, now: Timestamp) {
        if self.state != state {
            self.since = now;
        }
        (self.state, self.reason) = (state, reason);
        self.message = message.to_string();
    }

    /// What the server has become.
    fn observe(&mut self, reach: &mut Reach<'_>) {
        let Some(server) = reach.ring.servers.get(&self.pod.uid).cloned() else {
            return;
        };
        let now = reach.now;
        match server.phase {
            Phase::Normal if server.until <= now => {
                let (host, address) = (server.host_id.clone(), server.address.clone());
                if let Some(ledger) = self.ledger_mut(reach) {
                    ledger.host_id = host;
                    ledger.address = Some(address);
                    ledger.membership = Membership::Joined;
                    if let Some(permit) = ledger
                        .permit
                        .as_mut()
                        .filter(|p| p.state == palladion_api::member::PermitState::Used)
                    {
                        permit.state = palladion_api::member::PermitState::Done;
                    }
                    if let Some(start) = ledger.starts.first_mut().filter(|s| s.normal_at.is_none())
                    {
                        start.normal_at = Some(Time(now));
                    }
                }
                self.failures = 0;
                self.set(ServerState::Running, Reason::Running, "", now);
            }
            Phase::Decommissioned => {
                if let Some(ledger) = self.ledger_mut(reach) {
                    ledger.membership = Membership::Left;
                    if let Some(intent) =
                        ledger.intent.as_mut().filter(|i| i.state != IntentState::Done)
                    {
                        intent.state = IntentState::Done;
                        intent.since = Some(Time(now));
                    }
                }
                self.set(ServerState::Decommissioned, Reason::Decommissioned, "", now);
            }
            Phase::Leaving | Phase::Unbootstrapped | Phase::Left => {}
            Phase::Booting
            | Phase::Waking
            | Phase::Initializing
            | Phase::Joining { .. }
            | Phase::Normal => {
                self.set(ServerState::Starting, Reason::Starting, "", now);
            }
        }
    }

    fn run_operation(&mut self, spec: &CassandraMemberSpec, reach: &mut Reach<'_>) -> Activity {
        let Some(operation) = &spec.operation else {
            return Activity::default();
        };
        let now = reach.now;
        let known = self
            .ledger(reach)
            .and_then(|l| l.operations.iter().find(|o| o.id == operation.id).cloned());
        let mine = self.operation_ends.clone().filter(|(id, _)| *id == operation.id);
        let outcome = match (known.map(|k| k.state), mine) {
            (None, _) if self.state != ServerState::Running => return Activity::default(),
            (None, _) => {
                self.operation_ends = Some((operation.id.clone(), now + OPERATION));
                OperationState::Running
            }
            (Some(OperationState::Running), None) => OperationState::Interrupted,
            (Some(OperationState::Running), Some((_, end))) if end > now => {
                return Activity::default().at(end);
            }
            (Some(OperationState::Running), Some(_)) => {
                if operation.kind == OperationKind::AlterReplication {
                    reach.ring.system_copies = operation.replication.values().next().copied();
                }
                if let Some(host) = operation.target.as_ref() {
                    reach.ring.remove_node(host, reach.disks);
                }
                OperationState::Succeeded
            }
            (Some(_), _) => return Activity::default(),
        };
        let finished_at = (outcome != OperationState::Running).then_some(Time(now));
        let status = OperationStatus {
            id: operation.id.clone(),
            state: outcome,
            progress: None,
            message: None,
            started_at: None,
            finished_at,
        };
        if let Some(ledger) = self.ledger_mut(reach) {
            ledger.operations.retain(|o| o.id != status.id);
            ledger.operations.insert(0, status);
        }
        Activity::ACTED.at(now + OPERATION)
    }

    /// Should the server run at all?
    pub fn is_wanted(spec: &CassandraMemberSpec) -> bool {
        spec.run == RunState::Running
    }
}
