//! `CassandraMember`: the record of intent (`spec`, written by the operator,
//! but for `spec.wanted`, which is the users' own) and of fact (`status`, written by that member's agent alone).
//!
//! The operator and the agent never call each other; this object is all they
//! share. The rules of each field are in `docs/concepts/member-protocol.md`.

use crate::backup::{ArchiveOrder, Transfer};
use crate::ids::{
    ClaimUid, ClientAddress, HostId, LockToken, Nonce, RackName, SeedAddress, StaticAddress, Uid,
    VolumeId,
};
use crate::repair::Coverage;
use crate::rules::member as rules;
use crate::runtime::RuntimeSettings;
use jiff::SignedDuration;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube_derive::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

mod access;
mod begin;
mod cdc;
mod drain;
mod guard;
mod health;
mod job;
mod missed;
mod operation;
mod permit;
mod rebuild;
mod ring;
mod status;
mod tls;
mod unknown;
mod wanted;
pub use crate::word::Word;
pub use access::{AccessProblem, AccessProblemKind};
pub use begin::{ANSWER_LIFE, BeginAnswer, BeginQuestion, KNOWS_BEGIN, LEASE_LEFT};
pub use cdc::{CdcState, CdcStatus};
pub use drain::Drain;
pub use guard::{Guard, MOST_GUARDS, missing as missing_guards};
pub use health::{HealthRecord, HealthResult, LONGEST_MESSAGE, LONGEST_MODE, MOST_HEALTH_RECORDS};
pub use job::{Batch, Grant, Job, JobCause, JobState, JobStatus, JobUnit, JobWanted};
pub use missed::{Missed, RingDown};
pub use operation::{Debt, DebtKind, Operation, OperationKind, RepairRanges};
pub use permit::{DataBeforeStart, PermitKind, RestoredStart, StartPermit};
pub use rebuild::{Closing, MOST_REBUILT, Opening, RebuildStatus, lacking};
pub use ring::{
    DatacenterSummary, Disk, Evidence, Liveness, MOST_DATACENTERS, MOST_VERSIONS, MemberState,
    RingMember, RingSummary,
};
pub use status::{
    AgentStatus, CassandraMemberStatus, IntentState, IntentStatus, OperationState, OperationStatus,
    PermitState, PermitStatus, ServerState, ServerStatus, StartRecord, VolumeState, VolumeStatus,
};
pub use tls::{
    CertificateProblem, CertificateProblemKind, CertificateStatus, MOST_CLIENT_ADDRESSES,
    MOST_TRUSTED, MemberCertificate, MemberTls, MemberTlsStatus, Purpose,
};
pub use wanted::{SeedChoice, Termination, Wanted, WantedRun, WhenToStop};

/// What one ring member should do, and what its agent sees.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "palladion.dev",
    version = "v1alpha1",
    kind = "CassandraMember",
    namespaced,
    status = "CassandraMemberStatus",
    shortname = "cmember",
    category = "palladion",
    derive = "PartialEq",
    derive = "Default",
    crates(kube_core = "::kube_core")
)]
#[kube(
    printcolumn(name = "Rack", type_ = "string", json_path = ".spec.rack"),
    printcolumn(name = "State", type_ = "string", json_path = ".status.server.state"),
    printcolumn(name = "Mode", type_ = "string", json_path = ".status.server.mode"),
    printcolumn(name = "Address", type_ = "string", json_path = ".spec.address"),
    printcolumn(name = "Repaired", type_ = "date", json_path = ".status.repair.oldestAt"),
    printcolumn(
        name = "Pending",
        type_ = "string",
        json_path = ".spec.pendingMaintenance[*].kind"
    ),
    printcolumn(name = "Host-ID", type_ = "string", json_path = ".status.hostID", priority = 1),
    printcolumn(name = "Reason", type_ = "string", json_path = ".status.server.reason"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(
    validation = rules::is_fixed("cluster"),
    validation = rules::is_fixed("ring"),
    validation = rules::is_fixed("datacenter"),
    validation = rules::is_fixed("rack"),
    validation = rules::terminated_is_final(),
    validation = rules::termination_of_a_volume_is_final()
)]
#[serde(rename_all = "camelCase")]
pub struct CassandraMemberSpec {
    /// Name of the `CassandraCluster`. Immutable.
    #[schemars(length(min = 1, max = 63))]
    pub cluster: String,
    /// Cluster name of the server (`cluster_name`). Immutable.
    #[schemars(length(min = 1, max = 128))]
    pub ring: String,
    /// Datacenter of the member. Immutable.
    #[schemars(length(min = 1, max = 48))]
    pub datacenter: String,
    /// Rack of the member. Immutable.
    #[schemars(length(min = 1, max = 48))]
    pub rack: RackName,
    /// Static address of the member, which it broadcasts: the ClusterIP of its Service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<StaticAddress>,
    /// Address under which clients find the member, which it announces: that of its load balancer. Only with `network.broadcast.clients: LoadBalancer` of the cluster, and as long as its load balancer exists. It holds from the next start of the server. Agents of protocol 16 know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_address: Option<ClientAddress>,
    /// What users want of this member. The only part of this spec that is theirs alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted: Option<Wanted>,
    /// Whether the server runs, as the operator has decided. Users write `wanted.run`. Default `Running`.
    #[serde(default)]
    pub run: RunState,
    /// The volume that a user has terminated. The agent bans it, and never starts a server on it again; only a replacement of the member goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminated: Option<Termination>,
    /// When the operator last stopped the server under `wanted.when: Now`, which counts for one stop. As long as this time stands, the next stop waits for the other members. The operator removes it when `wanted.when` is not `Now` any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_now_at: Option<Time>,
    /// A new value restarts the server once, drained first. Written by the operator; users write `wanted.restartToken`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart_token: Option<String>,
    /// Pod revisions (`controller-revision-hash`) in which the agent may start the server.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub revisions: Vec<String>,
    /// Recorded host ID of this member.
    #[serde(default, rename = "hostID", skip_serializing_if = "Option::is_none")]
    pub host_id: Option<HostId>,
    /// Recorded volume of this member. An agent on another volume is a stale twin and stops its server.
    #[serde(default, rename = "volumeID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub volume_id: Option<VolumeId>,
    /// Host ID that left the ring, or was removed from it, with the data that this member's claim holds. No server starts with that data; it is set aside when the member joins under another host ID.
    #[serde(default, rename = "leftHostID", skip_serializing_if = "Option::is_none")]
    pub left_host_id: Option<HostId>,
    /// Recorded file system of this member's volume. It distinguishes a volume that lost its data from one that is not mounted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_system: Option<String>,
    /// Permit to start a server that has not joined the ring, or that left it unfinished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<StartPermit>,
    /// The server may start although it last ran, or began to miss writes, at this time, longer ago than tombstones are kept (reason `DataTooOld`). Any other time allows nothing. The operator removes it when the member is up, and sets it where the members of the ring ended together and are a majority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_stale_start: Option<Time>,
    /// The whole ring was down: the operator allowed the start for that reason, so that the member has missed nothing from `since` to `until`. The operator removes it when the member is up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ring_down: Option<RingDown>,
    /// The end of the last absence that the operator has taken into account. What the member missed until then, it has once `pendingMaintenance` contains no repair of all its ranges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted_until: Option<Time>,
    /// The end of the last absence for which the operator recorded a repair of all ranges. The operator removes it when such a repair has succeeded, or all ranges of the ring were repaired later because they were due; until then the member counts as one that lacks data, also if the repair was removed from `pendingMaintenance`. Agents of before take no notice of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair_owed_until: Option<Time>,
    /// A change of membership for the member to carry out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<Intent>,
    /// The answer to `status.begin`: the permit or intent in hand may be begun. Agents of protocol 14 know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begin: Option<BeginAnswer>,
    /// A job for the member to run. One at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<Operation>,
    /// Work of a `CassandraTask` for this member. One at a time. Agents of protocol 3 know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<Job>,
    /// An order to drain the server, for a `CassandraTask`. Agents of protocol 5 know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain: Option<Drain>,
    /// Work of a `CassandraBackup` or a `CassandraRestore` for this member. One at a time, beside `operation` and `job`. Agents of protocol 9 know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer: Option<Transfer>,
    /// The archive of the member's commit log. Agents of protocol 12 know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archive: Option<ArchiveOrder>,
    /// The member takes clients. Only in a datacenter that was added to a ring, whose members are closed until they are rebuilt. Agents of protocol 13 know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opening: Option<Opening>,
    /// The member takes no clients any more, since its datacenter leaves the ring. Agents of protocol 15 know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closing: Option<Closing>,
    /// What is repaired on this member before deletions are forgotten, by the schedule that covers the ring. The agent reports in `status.repair` what is due. Agents of protocol 4 know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair: Option<Coverage>,
    /// Addresses of the seeds. Applied without a restart (Cassandra 4.0 and later).
    #[serde(default)]
    #[schemars(length(max = 512))]
    pub seeds: Vec<StaticAddress>,
    /// Addresses or DNS names of seeds in other datacenters, beside `seeds`. Agents of protocol 13 know it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST_EXTERNAL))]
    pub external_seeds: Vec<SeedAddress>,
    /// Settings that are applied to the running server without a restart.
    #[serde(default, skip_serializing_if = "RuntimeSettings::is_empty")]
    pub runtime_settings: RuntimeSettings,
    /// Certificates that the operator signs for this member. Agents of protocol 6 know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<MemberTls>,
    /// What no server of this member is started without: its agent notes it on the volume, so that an older operator, or one that has lost its records, does not open the ring. Agents of protocol 8 know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = MOST_GUARDS))]
    pub security_floor: Option<Vec<Guard>>,
    /// A request for a fresh view of the ring.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<EvidenceRequest>,
    /// When the first request for a view of the ring was made that the agent has not answered. The operator reports an agent that does not read for two minutes what it is asked (`AgentSilent`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_since: Option<Time>,
    /// Pending maintenance of this member: repairs, cleanups and SSTable upgrades. Remove an entry to skip it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub pending_maintenance: Vec<Debt>,
    /// The former name of `pendingMaintenance`. The operator moves its entries there; this field goes with the next version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub owes: Vec<Debt>,
    /// The volume is marked for replacement: when the ring proves the member dead, the member is replaced, or removed if the spec no longer asks for it. Set by the operator when the Node is gone, or from the label `palladion.dev/replace` or a `CassandraTask`. It names the volume, so it cannot apply to a later one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replace: Option<Replacement>,
    /// Another member removes this one from the ring. No server starts on that volume any more, and nothing cancels the replacement or removal meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removal: Option<Removal>,
    /// Epoch of the leader that last took over the turn naming this member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_epoch: Option<i64>,
}

/// A volume that is marked for replacement.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Replacement {
    /// The volume that is marked for replacement.
    #[serde(rename = "volumeID")]
    pub volume_id: VolumeId,
    /// Host ID of the member on that volume.
    #[serde(rename = "hostID")]
    pub host_id: HostId,
    /// Static address by which the ring knows that member.
    pub address: StaticAddress,
    /// uid of the PersistentVolumeClaim that is deleted with it.
    #[serde(default, rename = "claimUID", skip_serializing_if = "Option::is_none")]
    pub claim_uid: Option<ClaimUid>,
    /// Who marked it.
    pub cause: ReplacementCause,
    /// Why, in words.
    pub reason: String,
    /// uid of the CassandraTask that asked for it; if that is deleted while it waits, it is taken back.
    #[serde(default, rename = "taskUID", skip_serializing_if = "Option::is_none")]
    pub task_uid: Option<Uid>,
}

/// A removal that is ordered, on record before another member carries it out.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Removal {
    /// Nonce of the turn.
    pub nonce: Nonce,
    /// Host ID that is removed from the ring.
    #[serde(rename = "hostID")]
    pub host_id: HostId,
    /// Volume on which no server starts any more.
    #[serde(rename = "volumeID")]
    pub volume_id: VolumeId,
    /// When it was put on record first, by the clock of the operator; none in a record of an older version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
}

/// Who marked a volume for replacement.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplacementCause {
    /// The operator: the Node with the local volume was deleted.
    NodeGone,
    /// A user, with the label, or with a task that names no volume.
    #[serde(alias = "Person")]
    User,
    /// A user, with a task that names the volume: the remaining members may decide for the ring.
    Task,
    /// What a newer Palladion says and this build does not know.
    #[serde(untagged)]
    #[schemars(skip, !untagged)]
    Unknown(Word),
}

/// Whether the server of a member should run.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum RunState {
    /// The server runs whenever it may.
    #[default]
    Running,
    /// The server is drained and stopped; data and membership are kept.
    Stopped,
    /// The server is stopped for good and never starts again.
    Terminated,
    /// What a newer Palladion says and this build does not know.
    #[serde(untagged)]
    #[schemars(skip, !untagged)]
    Unknown(Word),
}

/// A change of membership.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Intent {
    /// What to do.
    pub kind: IntentKind,
    /// Nonce of the turn.
    pub nonce: Nonce,
    /// Host ID of the member. An agent with another host ID reports `Refused` and does nothing.
    #[serde(rename = "hostID")]
    pub host_id: HostId,
    /// Volume of the member. An agent on another volume reports `Refused` and does nothing.
    #[serde(rename = "volumeID")]
    pub volume_id: VolumeId,
    /// The region lock under which the intent was given. Before it begins, the agent asks with `status.begin` whether that still holds. Agents of protocol 14 know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub lock_token: Option<LockToken>,
}

/// Kinds of [`Intent`].
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntentKind {
    /// Leave the ring and stream all data to the other members.
    Decommission,
    /// Leave the ring with the whole datacenter: the agent looks right before the call whether a keyspace but the three that the operator keeps has copies in the datacenter, and refuses then. Fewer members than copies of those three are no obstacle, so the last member leaves too. Agents of protocol 15 know it.
    LeaveWithDatacenter,
    /// What a newer Palladion says and this build does not know.
    #[serde(untagged)]
    #[schemars(skip, !untagged)]
    Unknown(Word),
}

/// A request to report the ring, read after this nonce was seen.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct EvidenceRequest {
    /// Different for every request.
    pub nonce: Nonce,
}

/// Version of the member protocol that this build speaks. Since 2 an agent knows
/// the ranges of a repair; since 3 it knows `spec.job`, and volumes that a user has terminated;
/// since 4 it reports `status.health`, knows `spec.repair`, and repairs what is due;
/// since 5 it knows `spec.drain` and the permit `Readdress`, and repairs beside other members what it
/// is granted; since 6 it makes a key and asks for certificates that `spec.tls` orders; since 7 for those of the
/// other members, too; since 8 it starts a new ring sealed, and notes `spec.securityFloor`; since 9
/// it knows `spec.transfer`; since 10 it takes part in restores by it; since 11 also in that of a whole
/// ring, and it reports of certificates for clients, too, whom the server trusts and whose
/// certificate it presents; since 12 it archives the commit log by `spec.archive`, and takes part
/// in restores to a point in time; since 13 its views of the ring say in which datacenter each member
/// is, it knows `spec.externalSeeds`, leaves the copies of other datacenters as they are when it alters a
/// replication, and knows rebuilds, `spec.opening` and tasks `replication`; since 14 it asks back, by
/// `status.begin`, before it begins a permit or an intent that was given under a region lock; since 15
/// it knows `spec.closing`, the intent `LeaveWithDatacenter` and tasks `removeDatacenter`, and drops
/// a datacenter without members from the system keyspaces; since 16 it knows `spec.clientAddress`
/// and `network.broadcast` of the cluster, and reports `status.server.clientAddress`; since 17 it
/// knows backups that leave members out.
pub const PROTOCOL: u32 = 17;

/// Agents of before this protocol announce the static address to clients, and cannot read the
/// configuration of a server that is to announce another one.
pub const KNOWS_CLIENT_ADDRESSES: u32 = 16;

/// Most seeds in other datacenters that a member is given: all that a ring may list.
pub const MOST_EXTERNAL: usize =
    crate::cluster::MOST_EXTERNAL_SEEDS * crate::cluster::MOST_SEED_ADDRESSES;

/// Tables that keep deletions for less keep no member from starting that was away for longer
/// (ADR 18). A ring that is stopped for a night comes back without a person: its members end and
/// look at different moments, and the shorter the time, the likelier it lies between them.
pub const SHORTEST_GRACE: SignedDuration = SignedDuration::from_hours(24);
