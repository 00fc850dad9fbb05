//! `CassandraBackup`: one backup of a ring. It is complete only when all that it
//! names was checked in the store; deleting the object deletes nothing there.

use crate::rules::backup as rules;
use kube_derive::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

mod archive;
mod load;
mod replay;
mod retention;
mod status;
mod transfer;
pub use archive::{ArchiveGap, ArchiveOrder, ArchiveState, ArchiveStatus, PointInTime};
pub use load::{
    BackedUpMember, CatalogWork, Cataloged, IndexesWork, LoadSource, LoadWay, LoadWork, Loaded,
    NotedTokens, OpenWork, OwnGrace, SchemaWork, SettleWork, TableFound, TableState, TokensWork,
};
pub use replay::{JournalFound, ReplayWork, Replayed};
pub use retention::{
    BackupExpiry, ExpireWork, Expired, ExpiredBy, MOST_EXPIRING, StayingBackup, SweepWork, Swept,
};
pub use status::{
    BackupCovered, BackupMember, BackupMemberState, BackupPhase, BackupTotals, BackupWindow,
    CassandraBackupStatus, GivenUp, MOST_DAMAGED,
};
pub use transfer::{
    BACKUP_CREDENTIALS, BACKUP_CREDENTIALS_SECRET, BACKUP_KEYS, BACKUP_VOLUME, BackupSchema,
    DamagedObject, DescribeWork, DiscardWork, FinishWork, LeftOutMember, NEVER_STARTED,
    PrepareWork, QuorumWork, RingView, SentManifest, SnapshotWork, Transfer, TransferCause,
    TransferPlace, TransferRepository, TransferState, TransferStatus, TransferTask, TransferWork,
    UploadWork, Uploaded, VerifyWork,
};

/// One backup of a ring, into the store of the ring's `spec.backup`. When it has ended, and until it expires, exactly one of the conditions `Complete` and `Failed` is True. Deleting it deletes nothing in the store, and ends a backup that is under way; `spec.expire` deletes it there.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "palladion.dev",
    version = "v1alpha1",
    kind = "CassandraBackup",
    namespaced,
    status = "CassandraBackupStatus",
    shortname = "cbackup",
    category = "palladion",
    derive = "PartialEq",
    derive = "Default",
    crates(kube_core = "::kube_core")
)]
#[kube(
    printcolumn(name = "Cluster", type_ = "string", json_path = ".spec.cluster"),
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase"),
    printcolumn(name = "Progress", type_ = "string", json_path = ".status.progress"),
    printcolumn(name = "Backup-ID", type_ = "string", json_path = ".status.id"),
    printcolumn(name = "Taken", type_ = "date", json_path = ".status.window.to"),
    printcolumn(
        name = "Message",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Complete\")].message"
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(
    validation = rules::local_keyspaces_are_not_shared(),
    validation = rules::is_fixed("cluster"),
    validation = rules::is_fixed("keyspaces"),
    validation = rules::is_fixed("coverage"),
    validation = rules::is_fixed("verify"),
    validation = rules::is_fixed("deadlineSeconds"),
    validation = rules::abort_is_final(),
    validation = rules::expire_is_final()
)]
#[serde(rename_all = "camelCase")]
pub struct CassandraBackupSpec {
    /// Name of the `CassandraCluster` in the namespace of the backup. Where there is none, `status` says so after a minute (ClusterNotFound). Immutable.
    #[schemars(length(min = 1, max = 63))]
    pub cluster: String,
    /// Keyspaces by name. Default: all but `system` and `system_schema`, which the members do not share. Immutable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(min = 1, max = 512),
        inner(length(min = 1, max = 48), regex(pattern = "^[A-Za-z0-9_]+$")),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub keyspaces: Vec<String>,
    /// Whose data has to be in the backup. `AllMembers`: that of each member; the backup waits for members that are down, and fails if one is lost. `QuorumOfEachRange`: that of a majority of the replicas of each range; members that are down when the snapshots are taken, or are lost before they have sent all, are left out and named in `status.members`. It waits while one of the others has a pending repair or rebuild, until which that one may lack what those had, and while a successor streams. What was acknowledged at QUORUM is in it all the same, and a ring that begins with it has it once it is repaired. Default `AllMembers`. Immutable.
    #[serde(default)]
    pub coverage: BackupCoverage,
    /// How the store is checked before the backup is complete. `Sample`: each object is there with its length, and one of a hundred is read back. `Read`: all are read back. Default `Sample`. Immutable.
    #[serde(default)]
    pub verify: BackupVerify,
    /// Seconds that the backup may take, from its creation on; then it has failed. Default 86400. Immutable.
    #[serde(default = "default_deadline")]
    #[schemars(range(min = 60, max = 2_592_000))]
    pub deadline_seconds: u32,
    /// Give the backup up: what runs is stopped, and the snapshots are cleared. What was sent stays in the store, and the next backup uses it. Cannot be set back to false. Default false.
    #[serde(default)]
    pub abort: bool,
    /// Let the backup expire, once it has ended: it is condemned in the repository, so that nothing is restored from it any more, and its objects are deleted there a day later or more, but for those that other backups need. It waits while a `CassandraRestore` that has not ended names the backup, and while it is the newest complete backup of its `CassandraBackupSchedule`. Cannot be set back to false. Default false.
    #[serde(default)]
    pub expire: bool,
}

/// A day.
pub(crate) const DEADLINE: u32 = 86_400;

pub(crate) fn default_deadline() -> u32 {
    DEADLINE
}

/// Whose data has to be in a backup.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum BackupCoverage {
    /// That of all members.
    #[default]
    AllMembers,
    /// That of a majority of the replicas of each range.
    QuorumOfEachRange,
    /// What a newer Palladion says and this build does not know.
    #[serde(untagged)]
    #[schemars(skip, !untagged)]
    Unknown(crate::word::Word),
}

/// How the store is checked.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum BackupVerify {
    /// Each object is there, and one of a hundred is read.
    #[default]
    Sample,
    /// All are read.
    Read,
    /// What a newer Palladion says and this build does not know.
    #[serde(untagged)]
    #[schemars(skip, !untagged)]
    Unknown(crate::word::Word),
}
