//! Status of a `CassandraCluster`: what is observed, and the ring's one turn.

use super::ClusterRetention;
use super::health::{MOST_CONTACT_POINTS, RingHealth};
use super::unmet::{MOST_UNMET, Unmet};
use super::{InternodeTlsMode, SecurityStatus};
use crate::backup::{OwnGrace, PointInTime};
use crate::ids::{HostId, LockToken, MemberName, Nonce, RackName, StaticAddress, Uid, VolumeId};
use crate::restore::RestoreSourced;
use crate::service::ServiceStatus;
use crate::task::TaskKind;
use crate::waits::{MOST, Wait};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is observed, what is being done, and what the operator waits for.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct CassandraClusterStatus {
    /// The `metadata.generation` that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Conditions: Accepted, Available, Progressing, Degraded, Healthy, Paused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// What the operator waits for, the most important first. Absent when it waits for nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST), extend("x-kubernetes-list-type" = "atomic"))]
    pub waits: Vec<Wait>,
    /// What users want of members (`spec.wanted` of the `CassandraMember`) and is not carried out, and why. Absent when everything is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST_UNMET), extend("x-kubernetes-list-type" = "atomic"))]
    pub unmet: Vec<Unmet>,
    /// Whether the ring is well: a verdict, and the checks that it rests on. Written when a check comes to another result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<RingHealth>,
    /// Where clients connect to: `address:9042` of up to three live members, of each rack one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST_CONTACT_POINTS), extend("x-kubernetes-list-type" = "atomic"))]
    pub contact_points: Vec<String>,
    /// The ring as those see it that depend on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<ServiceStatus>,
    /// Ready members out of all members, for example `2/3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub members: Option<String>,
    /// The racks by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub racks: BTreeMap<RackName, RackStatus>,
    /// The initialization of this ring. It is recorded once and never changes its member or volume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initialization: Option<Initialization>,
    /// The former name of `initialization`. The operator moves its value there; this field goes with the next version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub founding: Option<Initialization>,
    /// Another CassandraCluster that initializes the ring of this name, by the record beside the region lock. Absent where none is known. While it stands this ring is initialized only where a user allows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initialized_elsewhere: Option<InitializedElsewhere>,
    /// The ring's one turn: which member may start, stop, join or leave now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<Turn>,
    /// The job that members work at, one after the other. While the ring has a turn there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<ClusterJob>,
    /// The backup that is under way, and the repository of the ring.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backup: Option<ClusterBackup>,
    /// The restore that is under way. While there is one, no backup is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restore: Option<ClusterRestore>,
    /// Backups that expire, and what is done about them now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention: Option<ClusterRetention>,
    /// To which points in time the ring can be restored. Absent while nothing is archived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub point_in_time: Option<PointInTime>,
    /// When the operator last gave a turn that starts a server which did not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_start_time: Option<Time>,
    /// Epoch of the leader that wrote last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<i64>,
    /// What the operator decides with besides what it reads. `kubectl palladion plan` decides with the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_with: Option<DecidedWith>,
    /// PersistentVolumeClaims of this cluster that no member uses, at most 20 by name: kept after a member has left, or left behind by a StatefulSet that was scaled by hand. The operator deletes none of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unused_claims: Vec<String>,
    /// Addresses of the seeds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seeds: Vec<StaticAddress>,
    /// The authorities that the operator signs certificates of this ring with, by name: `client-1` for clients and `internode-1` for members, and where one is being replaced, `client-2` and `internode-2`. Their keys are in the operator's own namespace.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = MOST_AUTHORITIES))]
    pub authorities: BTreeMap<String, Authority>,
    /// Authentication and TLS as they were settled when this ring was new. Absent on rings that are older than these defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub security: Option<SecurityStatus>,
    /// How members speak to each other, or are being restarted to: see `spec.tls.internode.mode`. Absent where that was never set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub internode_tls: Option<InternodeTlsMode>,
    /// Highest release line that a member has run, for example `5.0`. A lower line is rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 16))]
    pub highest_release_line: Option<String>,
    /// The former name of `highestReleaseLine`. The operator moves its value there; this field goes with the next version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 16))]
    pub newest_line: Option<String>,
    /// When all members that the spec asks for had joined for the first time. Before that, `Available` counts the members that the spec asks for; afterwards those that the ring has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Time>,
    /// Replication factor of the system keyspaces in this datacenter, as last set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_replication: Option<u32>,
    /// A change of that replication factor, recorded before it is set. Absent when the change is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_replication_change: Option<SystemReplicationChange>,
    /// Other datacenters in which the system keyspaces have copies. When one of them has no member any more, the operator drops it from these keyspaces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub system_replication_elsewhere: Vec<String>,
    /// Another datacenter of which every member here sees all members down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region_down: Option<RegionDown>,
}

/// Most authorities of one ring: for each purpose the one that signs, its successor, and one that
/// takes the place of both by a rotation.
pub const MOST_AUTHORITIES: usize = 6;

/// An authority that the operator signs with.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Authority {
    /// Its certificate (PEM), which clients trust.
    #[schemars(length(max = 4096))]
    pub certificate: String,
    /// SHA-256 of its certificate, in hexadecimal digits.
    #[schemars(length(max = 64))]
    pub fingerprint: String,
    /// When it was made.
    pub made_at: Time,
    /// When it expires.
    pub not_after: Time,
    /// The rotation by which it takes the place of all other authorities of its purpose. Absent where no task asked for one, or it is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<Rotation>,
}

/// A rotation that a `CassandraTask` asked for, as far as it has come. Once no other authority of the purpose is on record, members drop what they trusted before.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Rotation {
    /// Name of the task.
    #[schemars(length(max = 253))]
    pub task: String,
    /// uid of the task.
    #[serde(rename = "taskUID")]
    pub task_uid: Uid,
    /// How far it is.
    pub step: RotationStep,
    /// Since when.
    pub since: Time,
    /// When clients could first read the new authority from the ConfigMap `<cluster>-client-ca`. Absent before, and for traffic between members.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_at: Option<Time>,
}

/// Steps of a rotation of an authority.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum RotationStep {
    /// Members, and clients, come to trust the new authority besides the others. Certificates are signed as before.
    Trust,
    /// The new authority signs, for one member after the other.
    Certificates,
}

/// Version and settings of an operator.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct DecidedWith {
    /// Version of the operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub version: Option<String>,
    /// Defaults that it was started with, by name: for example `agentImage`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 32))]
    pub settings: BTreeMap<String, String>,
}

/// A datacenter whose members are all down.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct RegionDown {
    /// Its name.
    pub datacenter: String,
    /// By which the annotation `palladion.dev/without-datacenter` names this absence, and no later one.
    pub nonce: Nonce,
    /// When the operator has noted it.
    pub since: Time,
}

/// A change of the replication of the system keyspaces.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct SystemReplicationChange {
    /// The intended replication factor. 0 drops the datacenter, which has no member any more.
    pub factor: u32,
    /// The datacenter that gets so many copies. Absent: the one of this cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub datacenter: Option<String>,
    /// Nonce of the change, used by its operations.
    pub nonce: Nonce,
}

/// State of a rack.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct RackStatus {
    /// Members that exist.
    #[serde(default)]
    pub members: i32,
    /// Members whose pods are ready.
    #[serde(default)]
    pub ready_members: i32,
    /// Members in pods of the newest revision.
    #[serde(default)]
    pub updated_members: i32,
    /// Conditions of the rack: `MemberLeaving`, `MemberReplacing`. Each appears when it is True for the first time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

/// The initialization of a ring.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Initialization {
    /// The member that initializes the ring.
    pub member: MemberName,
    /// The volume of that member.
    #[serde(rename = "volumeID")]
    pub volume_id: VolumeId,
    /// Nonce of the permit.
    pub nonce: Nonce,
    /// Host ID of that member, recorded when it is NORMAL. The ring exists from then on.
    #[serde(default, rename = "hostID", skip_serializing_if = "Option::is_none")]
    pub host_id: Option<HostId>,
}

/// A CassandraCluster in a region that initializes the ring.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct InitializedElsewhere {
    /// Name of the region.
    #[schemars(length(max = 63))]
    pub region: String,
    /// uid of the object.
    pub uid: Uid,
}

/// The ring's one turn (safety rule 3.1).
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Turn {
    /// The member that has the turn.
    pub member: MemberName,
    /// The volume of that member.
    #[serde(rename = "volumeID")]
    pub volume_id: VolumeId,
    /// What the member does in its turn.
    pub step: TurnStep,
    /// Nonce of the turn, used by its permits, intents and evidence.
    pub nonce: Nonce,
    /// Epoch of the leader that gave it.
    pub epoch: i64,
    /// When the turn was given.
    pub since: Time,
    /// Number of the attempt, from 1.
    #[serde(default)]
    pub attempt: u32,
    /// `Replace` only: the dead member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<Replaced>,
    /// The region lock under which the turn is held. Only with `spec.ring.lock: Region`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub lock_token: Option<LockToken>,
}

/// The dead member that a replacement stands in for.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Replaced {
    /// Its host ID.
    #[serde(rename = "hostID")]
    pub host_id: HostId,
    /// Its static address, by which the ring still knows it.
    pub address: StaticAddress,
}

/// The job that members of a ring work at.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ClusterJob {
    /// Who asked for it. Pending maintenance and the replication of system keyspaces are operations of members, and never the ring's job.
    pub origin: JobOrigin,
    /// Name of the `CassandraTask`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub task: Option<String>,
    /// Uid of the `CassandraTask`.
    #[serde(default, rename = "taskUID", skip_serializing_if = "Option::is_none")]
    pub task_uid: Option<Uid>,
    /// What is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<TaskKind>,
    /// Nonce of the job. The IDs of its members' jobs begin with it; after it has yielded to a turn it gets another.
    pub nonce: Nonce,
    /// Epoch of the leader that took it up.
    pub epoch: i64,
    /// When it was taken up.
    pub since: Time,
}

/// The backups of a ring.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ClusterBackup {
    /// The repository of this ring: recorded before anything is stored, and noted on each volume. Another repository in the same place is another ring's.
    #[serde(rename = "repositoryID")]
    #[schemars(length(min = 1, max = 64))]
    pub repository_id: String,
    /// The name in the repository of the backup that is under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub id: Option<String>,
    /// Name of the `CassandraBackup` that is under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub backup: Option<String>,
    /// Since when what is left of it is discarded, where its object was deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discarding_since: Option<Time>,
    /// Uid of that `CassandraBackup`.
    #[serde(default, rename = "backupUID", skip_serializing_if = "Option::is_none")]
    pub backup_uid: Option<Uid>,
}

/// The restore of a ring that is under way, with what is needed to end it when its object is gone.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ClusterRestore {
    /// Its name, of which the names of its orders are made.
    #[schemars(length(min = 1, max = 63))]
    pub id: String,
    /// Name of the `CassandraRestore`.
    #[schemars(length(max = 253))]
    pub restore: String,
    /// Uid of that `CassandraRestore`.
    #[serde(rename = "restoreUID")]
    pub restore_uid: Uid,
    /// The backup.
    pub source: RestoreSourced,
    /// What `gc_grace_seconds` of its tables is set to meanwhile; recorded before that is ordered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gc_grace_seconds: Option<u64>,
    /// These tables with their own values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 512))]
    pub own: Vec<OwnGrace>,
    /// The tables are made, and rows are being loaded: from then on no order to create, or to truncate, is given any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tables_made: bool,
    /// Since when it is being ended, without being complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending_since: Option<Time>,
    /// Of a whole ring: how its members start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole_ring: Option<WholeRing>,
}

/// A ring that begins with a restore.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct WholeRing {
    /// Which member takes the place of which member of the backup; recorded before any of them starts, and the same from then on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1024))]
    pub places: Vec<RestoredPlace>,
    /// All is in place, and clients are let in. Before, no member starts, stops, joins or leaves but for the restore.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub open: bool,
    /// The members have on record that they need a repair.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repair_recorded: bool,
}

/// A member that takes the place of a member of a backup.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct RestoredPlace {
    /// The member.
    pub member: MemberName,
    /// Its volume.
    #[serde(rename = "volumeID")]
    pub volume_id: VolumeId,
    /// Host ID of the member of the backup.
    pub source: HostId,
    /// Hash of its tokens.
    #[schemars(length(max = 64))]
    pub tokens_hash: String,
}

/// Who asked for a job.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobOrigin {
    /// A `CassandraTask`.
    Task,
}

/// What a turn is for.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnStep {
    /// Initialize the ring.
    #[serde(alias = "Found")]
    Initialize,
    /// Join the ring.
    Join,
    /// Replace a dead member.
    Replace,
    /// Come back to finish leaving.
    ResumeLeave,
    /// Leave the ring.
    Leave,
    /// Restart, for a rollout or on request.
    Restart,
    /// Remove a dead host ID that a failed procedure left in the ring.
    Remove,
    /// Stop, because a user wants it.
    Stop,
    /// Start again, because a user wants it.
    Start,
    /// Come back under another address.
    Readdress,
}
