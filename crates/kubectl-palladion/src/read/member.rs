//! A `CassandraMember`, as far as it is shown.

use super::maintenance::Maintenance;
use super::{items, text, time};
use jiff::Timestamp;
use palladion_api::reasons::Reason;
use serde::Serialize;
use serde_json::Value;

/// The process runs, and the server has been a full member since its start.
pub const RUNNING: &str = "Running";
/// Stopped because the spec says so.
pub const STOPPED: &str = "Stopped";
/// The process has exited.
pub const FAILED: &str = "Failed";
/// `spec.run` of one that has left the ring.
pub const HAS_LEFT: &str = "Terminated";
/// No server runs, or its agent does not know whether one does.
pub const WAITING: &str = "Waiting";
/// What only a person can give that a server waits for; the operator does the rest.
const FOR_A_PERSON: [Reason; 7] = [
    Reason::DataTooOld,
    Reason::MemberTerminated,
    Reason::RetainedVolumeInTheWay,
    Reason::StaleTwin,
    Reason::VolumeDamaged,
    Reason::VolumeForeign,
    Reason::VolumeNotMounted,
];

/// See the module.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// Namespace.
    pub namespace: String,
    /// Name of the object, and of its pod.
    pub name: String,
    /// Its ring.
    pub ring: String,
    /// Its datacenter.
    pub datacenter: String,
    /// Its rack.
    pub rack: String,
    /// Has the operator decided that it runs?
    pub run: String,
    /// What users want: whether it should run.
    pub run_wanted: String,
    /// State of the server.
    pub state: String,
    /// Mode that the server reports.
    pub mode: String,
    /// Does the server accept clients?
    pub native_transport: Option<bool>,
    /// Version that the server reports.
    pub version: String,
    /// Why it is in that state.
    pub reason: String,
    /// The same, for people.
    pub message: String,
    /// Since when.
    pub since: Option<Timestamp>,
    /// Static address.
    pub address: String,
    /// Host ID.
    #[serde(rename = "hostID")]
    pub host_id: String,
    /// Volume on record.
    #[serde(rename = "volumeID")]
    pub volume_id: String,
    /// Volume that a user has given up.
    pub terminated: String,
    /// Node of its pod.
    pub node: String,
    /// Version of its agent.
    pub agent: String,
    /// Restarts that it was given.
    pub restart_token: String,
    /// The restart that was asked for at the member itself.
    pub restart_asked: String,
    /// Restarts that it has carried out.
    pub restarted: String,
    /// Its part of a job, as its agent reports it.
    pub job: Option<Job>,
    /// The ring as it sees it.
    pub view: Option<View>,
    /// Bytes of data that its server holds, about.
    pub load_bytes: Option<u64>,
    /// How far the repair of its ranges is.
    pub repaired: Repaired,
    /// Maintenance that the operator does by itself.
    pub maintenance: Vec<Maintenance>,
}

/// How far the repair of a member's ranges is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state")]
pub enum Repaired {
    /// Nobody has reported it, or no schedule covers the ring.
    Unknown,
    /// Some ranges were never repaired since they are covered.
    Never,
    /// The last repair of each began no earlier than this.
    Since {
        /// When the oldest of them began.
        at: Timestamp,
    },
}

/// The part of a job that one member does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// Its ID, which begins with the nonce of the ring's job.
    pub id: String,
    /// Its state, for example `Running`.
    pub state: String,
    /// Percentage done.
    pub progress: Option<u64>,
}

/// The ring as one member sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct View {
    /// How many members it knows, itself included.
    pub members: u64,
    /// Hash of the sorted host IDs.
    pub hash: String,
    /// Do those that it reaches have one schema version?
    pub schema_agreed: bool,
    /// Those that are not up and normal.
    pub exceptions: Vec<Seen>,
}

/// A member as another one sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Seen {
    /// Host ID.
    #[serde(rename = "hostID")]
    pub host_id: String,
    /// Address.
    pub address: String,
    /// `Up` or `Down`.
    pub liveness: String,
    /// `Normal`, `Joining`, `Leaving`, `Moving`.
    pub state: String,
}

impl Member {
    /// Read the object.
    pub fn read(object: &Value) -> Self {
        let of = |pointer: &str| text(object, pointer);
        let host_id = of("/status/hostID");
        Self {
            namespace: of("/metadata/namespace"),
            name: of("/metadata/name"),
            ring: of("/spec/cluster"),
            datacenter: of("/spec/datacenter"),
            rack: of("/spec/rack"),
            run: of("/spec/run"),
            run_wanted: of("/spec/wanted/run"),
            state: of("/status/server/state"),
            mode: of("/status/server/mode"),
            native_transport: object
                .pointer("/status/server/nativeTransport")
                .and_then(Value::as_bool),
            version: of("/status/server/version"),
            reason: of("/status/server/reason"),
            message: of("/status/server/message"),
            since: time(object, "/status/server/since"),
            address: of("/spec/address"),
            host_id: if host_id.is_empty() { of("/spec/hostID") } else { host_id },
            volume_id: of("/spec/volumeID"),
            terminated: of("/spec/terminated/volumeID"),
            node: of("/status/agent/node"),
            agent: of("/status/agent/version"),
            restart_token: of("/spec/restartToken"),
            restart_asked: of("/spec/wanted/restartToken"),
            restarted: of("/status/server/restartToken"),
            job: object.pointer("/status/job").filter(|j| j.is_object()).map(job),
            view: object.pointer("/status/ring").filter(|r| r.is_object()).map(view),
            load_bytes: object.pointer("/status/server/loadBytes").and_then(Value::as_u64),
            repaired: repaired(object),
            maintenance: Maintenance::of(object),
        }
    }

    /// Its reason and message.
    pub fn why(&self) -> String {
        match self.message.as_str() {
            "" => self.reason.clone(),
            message => format!("{}: {message}", self.reason),
        }
    }

    /// Has it been told to run, and waits for what only a person can give?
    pub fn needs_a_person(&self) -> bool {
        let waits = self.run == RUNNING && self.state == WAITING;
        waits && Reason::read(&self.reason).is_some_and(|reason| FOR_A_PERSON.contains(&reason))
    }

    /// Does its agent wait, and say that no server runs? A reason that is not known here may
    /// mean anything. As the operator counts it.
    pub fn waits_without_a_server(&self) -> bool {
        self.state == WAITING && Reason::is_of_no_process(&self.reason)
    }

    /// Namespace, ring, rack, and the ordinal at the end of the name as a number.
    pub fn order(&self) -> (String, String, String, u32, String) {
        let ordinal = self.name.rsplit('-').next().and_then(|o| o.parse().ok()).unwrap_or(0);
        let (namespace, ring) = (self.namespace.clone(), self.ring.clone());
        (namespace, ring, self.rack.clone(), ordinal, self.name.clone())
    }

    /// Does its agent work at its part of this job of the ring?
    pub fn works_at(&self, nonce: &str) -> bool {
        let its = |job: &&Job| job.id.strip_prefix(nonce).is_some_and(|rest| rest.starts_with('-'));
        let job = self.job.as_ref().filter(its);
        job.is_some_and(|job| ["Running", "Stopping"].contains(&job.state.as_str()))
    }

    /// Does it accept clients, by its own word?
    pub fn serves(&self) -> bool {
        self.state == RUNNING && self.native_transport == Some(true) && !self.address.is_empty()
    }
}

fn job(job: &Value) -> Job {
    Job { id: text(job, "/id"), state: text(job, "/state"), progress: job["progress"].as_u64() }
}

fn repaired(object: &Value) -> Repaired {
    let never = object.pointer("/status/repair/neverRanges").and_then(Value::as_u64);
    match (never, time(object, "/status/repair/oldestAt")) {
        (Some(1..), _) => Repaired::Never,
        (_, Some(at)) => Repaired::Since { at },
        (_, None) => Repaired::Unknown,
    }
}

fn view(ring: &Value) -> View {
    let seen = |member: &Value| Seen {
        host_id: text(member, "/hostID"),
        address: text(member, "/address"),
        liveness: text(member, "/liveness"),
        state: text(member, "/state"),
    };
    View {
        members: ring["members"].as_u64().unwrap_or_default(),
        hash: text(ring, "/hash"),
        schema_agreed: ring["schemaAgreed"].as_bool().unwrap_or(false),
        exceptions: items(ring, "/exceptions").map(seen).collect(),
    }
}
