//! What a task asks for: one body per kind of job. A body is the same in a
//! `CassandraTask` and in the job that a member is given ([`super::Work`]).

use super::choices::{
    BeforeScrub, BeforeSnapshot, CompactOutput, Corrupted, FewerCopies, Granularity, OverflowedTtl,
    RepairScope, ScrubValues, SimpleReplication, WhichSstables,
};
use crate::ids::{HostId, MemberName, VolumeId};
use crate::member::Purpose;
use crate::rules::{cluster, repair as of_repair, task as rules};
use crate::runtime::LogLevel;
use kube_derive::KubeSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Most keyspaces or tables of one task.
const MOST: u32 = 256;

/// The keyspaces or the tables of a job. Neither: all keyspaces but those that every server has for itself.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct Selection {
    /// The keyspaces, with all their tables. Not together with `tables`. Default: all but the local ones (`system`, `system_schema`, virtual keyspaces).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = MOST), inner(length(min = 1, max = 48)))]
    #[x_kube(validation = rules::keyspaces_have_names())]
    pub keyspaces: Vec<String>,
    /// The tables, each as `keyspace.table`. Not together with `keyspaces`. Default: all tables of the keyspaces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = MOST), inner(length(min = 3, max = 271)))]
    #[x_kube(validation = rules::tables_have_keyspaces())]
    pub tables: Vec<String>,
}

/// Repair: a full repair of the primary ranges of each member.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(
    crates(kube_core = "::kube_core"),
    validation = rules::keyspaces_or_tables(),
    validation = of_repair::due_has_no_selection(),
    validation = of_repair::segments_are_of_what_is_due(),
    validation = of_repair::members_repair_beside_others_what_is_due(),
    validation = of_repair::what_is_due_has_a_pace()
)]
#[serde(rename_all = "camelCase")]
pub struct RepairTask {
    /// Of which keyspaces or tables.
    #[serde(flatten)]
    pub of: Selection,
    /// Which ranges are repaired. Default `Everything`.
    #[serde(default)]
    pub scope: RepairScope,
    /// Bytes of one call of the server, as far as ranges can be cut. Only with `scope: Due`. At least 67108864, 64 MiB. Default 1073741824, 1 GiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1_099_511_627_776_u64))]
    #[x_kube(validation = of_repair::segments_are_not_tiny())]
    pub segment_bytes: Option<u64>,
    /// Members that repair at a time, at most. Only ranges of which no member has copies in common are repaired at a time. 1: one member after the other, while all are up. Only with `scope: Due`. Default: as many as that allows, which is the number of members divided by that of copies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 256))]
    pub parallel: Option<u32>,
    /// Share of the time in which a member repairs, in percent; it pauses for the rest, after each segment. Only with `scope: Due`. Default: as small as lets what is due end after 80% of the time until it is late, 10 at least; 100 for what is over within a minute and for what is late. While `status.pressure` of the member is `High` it is 10 at the most, but for what is late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 10, max = 100))]
    pub intensity_percent: Option<u8>,
}

/// Bytes of one call of a repair, where a task does not say so itself: some minutes of work.
pub const DEFAULT_SEGMENT_BYTES: u64 = 1 << 30;

/// Cleanup: drop data in ranges that a member no longer owns.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"), validation = rules::keyspaces_or_tables())]
pub struct CleanupTask {
    /// Of which keyspaces or tables.
    #[serde(flatten)]
    pub of: Selection,
    /// SSTables of a table that are rewritten at a time; 0: as many as the server has compactors. Default 1.
    #[serde(default = "one")]
    #[schemars(range(max = 64))]
    pub jobs: u32,
}

/// Compaction of all SSTables of each table.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"), validation = rules::keyspaces_or_tables())]
pub struct CompactTask {
    /// Of which keyspaces or tables.
    #[serde(flatten)]
    pub of: Selection,
    /// What is written. Default `One`.
    #[serde(default)]
    pub output: CompactOutput,
}

/// Garbage collection: drop deleted data of each SSTable by itself.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"), validation = rules::keyspaces_or_tables())]
pub struct GarbageCollectTask {
    /// Of which keyspaces or tables.
    #[serde(flatten)]
    pub of: Selection,
    /// What is dropped. Default `Row`.
    #[serde(default)]
    pub granularity: Granularity,
    /// SSTables of a table that are rewritten at a time; 0: as many as the server has compactors. Default 1.
    #[serde(default = "one")]
    #[schemars(range(max = 64))]
    pub jobs: u32,
}

/// Scrub: read all data and write it again.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"), validation = rules::keyspaces_or_tables())]
pub struct ScrubTask {
    /// Of which keyspaces or tables.
    #[serde(flatten)]
    pub of: Selection,
    /// Whether the server takes a snapshot of a table before. Default `First`.
    #[serde(default)]
    pub snapshot: BeforeScrub,
    /// What is done with corrupted partitions. Default `Fail`.
    #[serde(default)]
    pub corrupted: Corrupted,
    /// Whether values are compared with the types of their columns. Default `Check`.
    #[serde(default)]
    pub values: ScrubValues,
    /// What is done with rows whose time to live has overflowed (CASSANDRA-14092). Default `Leave`.
    #[serde(default, rename = "overflowedTTL")]
    pub overflowed_ttl: OverflowedTtl,
    /// SSTables of a table that are rewritten at a time; 0: as many as the server has compactors. Default 1.
    #[serde(default = "one")]
    #[schemars(range(max = 64))]
    pub jobs: u32,
}

/// Rewrite SSTables in the format of the release that runs.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"), validation = rules::keyspaces_or_tables())]
pub struct UpgradeSstablesTask {
    /// Of which keyspaces or tables.
    #[serde(flatten)]
    pub of: Selection,
    /// Which SSTables. Default `Older`.
    #[serde(default)]
    pub which: WhichSstables,
    /// SSTables of a table that are rewritten at a time; 0: as many as the server has compactors. Default 1.
    #[serde(default = "one")]
    #[schemars(range(max = 64))]
    pub jobs: u32,
}

/// Flush: write memtables to disk.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"), validation = rules::keyspaces_or_tables())]
pub struct FlushTask {
    /// Of which keyspaces or tables.
    #[serde(flatten)]
    pub of: Selection,
}

/// Take a snapshot.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"), validation = rules::keyspaces_or_tables())]
#[serde(rename_all = "camelCase")]
pub struct SnapshotTask {
    /// Of which keyspaces or tables.
    #[serde(flatten)]
    pub of: Selection,
    /// Name of the snapshot. A member that has a snapshot of this name already fails.
    #[schemars(length(min = 1, max = 200))]
    #[x_kube(validation = rules::snapshot_name_is_usable())]
    pub name: String,
    /// Whether memtables are flushed before. Default `First`.
    #[serde(default)]
    pub flush: BeforeSnapshot,
    /// Seconds after which the server deletes the snapshot (Cassandra 4.1 and later). Default: it is kept until it is cleared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 60, max = 315_360_000))]
    pub ttl_seconds: Option<u32>,
}

/// Delete a snapshot.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
pub struct ClearSnapshotTask {
    /// Name of the snapshot. A member that has none of this name succeeds.
    #[schemars(length(min = 1, max = 200))]
    #[x_kube(validation = rules::snapshot_name_is_usable())]
    pub name: String,
    /// The keyspaces. Default: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = MOST), inner(length(min = 1, max = 48)))]
    #[x_kube(validation = rules::keyspaces_have_names())]
    pub keyspaces: Vec<String>,
}

/// Set levels of loggers for some time.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
pub struct SetLogLevelTask {
    /// Log level by logger, for example `org.apache.cassandra.gms: DEBUG`; the root logger is `ROOT`.
    #[x_kube(validation = cluster::loggers_have_names())]
    #[schemars(extend("minProperties" = 1, "maxProperties" = 32))]
    pub levels: BTreeMap<String, LogLevel>,
    /// Seconds after which each logger gets back the level that it had. A restart of the server gives it back too. Default 600.
    #[serde(default = "ten_minutes")]
    #[schemars(range(min = 1, max = 2_592_000))]
    pub seconds: u32,
}

/// Set how many copies keyspaces have in one datacenter. Those in other datacenters stay as they are.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct ReplicationTask {
    /// The keyspaces, one after the other. None of those that every server has for itself.
    #[schemars(
        length(min = 1, max = MOST),
        inner(length(min = 1, max = 48)),
        extend("x-kubernetes-list-type" = "set")
    )]
    #[x_kube(validation = rules::keyspaces_have_names(), validation = rules::keyspaces_are_shared())]
    pub keyspaces: Vec<String>,
    /// Name of the datacenter, as its members gossip it.
    #[schemars(length(min = 1, max = 48))]
    pub datacenter: String,
    /// Copies in that datacenter; not more than it has members. 0: none, the keyspaces no longer name the datacenter. The last datacenter of a keyspace stays.
    #[schemars(range(max = 64))]
    pub factor: u32,
    /// What happens to a keyspace that has more copies in that datacenter. Default `Refuse`.
    #[serde(default)]
    pub lowering: FewerCopies,
    /// What happens to a keyspace with `SimpleStrategy`. Default `Refuse`.
    #[serde(default)]
    pub simple_strategy: SimpleReplication,
}

/// Remove the members of another datacenter, which is lost for good, one after the other. Refused unless every member here sees each of them down, they are exactly those that are named, and no keyspace but those that the operator keeps has copies there.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct RemoveDatacenterTask {
    /// Name of the datacenter, as its members gossip it. Not that of the cluster itself.
    #[schemars(length(min = 1, max = 48))]
    pub name: String,
    /// Host IDs of all its members, as `nodetool status` shows them.
    #[serde(rename = "hostIDs")]
    #[schemars(
        length(min = 1, max = 256),
        inner(length(min = 1, max = 64)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub host_ids: Vec<HostId>,
}

/// Restart members, one after the other, each drained first.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
pub struct RestartTask {}

/// Drain the server of one member: it writes its memtables to disk and takes no more requests, but its process stays, until it is restarted.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
pub struct DrainTask {}

/// Replace a dead member: delete its volume claim and stream its data to a new volume.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ReplaceTask {
    /// Name of the `CassandraMember`.
    #[schemars(length(min = 1, max = 63))]
    pub member: MemberName,
    /// The volume to replace: `spec.volumeID` of the member. The task is refused if the member is on another volume. If most of the ring is lost, a task with this field lets the remaining members decide; one that sees the member up still refuses it. Default: the member's current volume, and a majority must agree.
    #[serde(default, rename = "volumeID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub volume_id: Option<VolumeId>,
}

/// Rotate an authority: the next one is made now, all come to trust it, it signs the certificates of all members, and the former one is trusted no more. Nothing is restarted.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"), validation = rules::only_clients_overlap(), validation = rules::only_members_are_elsewhere())]
#[serde(rename_all = "camelCase")]
pub struct RotateAuthorityTask {
    /// Whose certificates it signs: those that members present to clients, `Client`, or to each other, `Internode`. Immutable.
    pub purpose: Purpose,
    /// Seconds that clients have to read the new authority from the ConfigMap `<cluster>-client-ca`, which holds both, before the first member presents a certificate of the new one. Can be changed while the task waits for it: 0 goes on as soon as all members trust it. Only with `purpose: Client`. Default 604800, seven days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 31_536_000))]
    pub overlap_seconds: Option<u32>,
    /// The new authority (SHA-256 of its certificate, as in `status.authorities` of the cluster), once the clusters of the other datacenters trust it by their `tls.internode.additionalTrust`: it signs for no member before. Can be set while the task waits for it. Only with `purpose: Internode`, and required where the cluster has `tls.internode.additionalTrust`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    #[x_kube(validation = rules::is_a_fingerprint())]
    pub trusted_elsewhere: Option<String>,
}

/// Seconds that clients have for another authority, where a task does not say so itself.
pub const DEFAULT_OVERLAP: u32 = 604_800;

fn one() -> u32 {
    1
}

fn ten_minutes() -> u32 {
    600
}
