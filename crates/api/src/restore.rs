//! `CassandraRestore`: tables of a backup are loaded into a ring that runs. Nothing that has
//! rows is written over or added to without a confirmation.

use crate::cluster::{BackupEncryption, BackupStore};
use crate::rules::restore as rules;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube_derive::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

mod status;
pub use status::{
    CassandraRestoreStatus, Coordinator, RestoreMember, RestorePhase, RestoreShare, RestoreSourced,
    RestoreTotals,
};

/// A restore of tables of a backup into a ring that runs, whatever its members and tokens are. When it has ended, exactly one of the conditions `Complete` and `Failed` is True. Deleting it ends a restore that is under way; what was loaded stays.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "palladion.dev",
    version = "v1alpha1",
    kind = "CassandraRestore",
    namespaced,
    status = "CassandraRestoreStatus",
    shortname = "crestore",
    category = "palladion",
    derive = "PartialEq",
    derive = "Default",
    crates(kube_core = "::kube_core")
)]
#[kube(
    printcolumn(name = "Cluster", type_ = "string", json_path = ".spec.cluster"),
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase"),
    printcolumn(name = "Progress", type_ = "string", json_path = ".status.progress"),
    printcolumn(name = "Backup-ID", type_ = "string", json_path = ".status.source.backupID"),
    printcolumn(
        name = "Message",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Complete\")].message"
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(
    validation = rules::is_fixed("cluster"),
    validation = rules::is_fixed("source"),
    validation = rules::is_fixed("mode"),
    validation = rules::is_fixed("pointInTime"),
    validation = rules::is_fixed("tables"),
    validation = rules::is_fixed("existing"),
    validation = rules::is_fixed("datacenters"),
    validation = rules::is_fixed("auth"),
    validation = rules::is_fixed("repair"),
    validation = rules::a_whole_ring_is_all_of_it(),
    validation = rules::tables_come_without_roles(),
    validation = rules::a_point_in_time_is_of_a_ring(),
    validation = rules::abort_is_final()
)]
#[serde(rename_all = "camelCase")]
pub struct CassandraRestoreSpec {
    /// Name of the `CassandraCluster` in the namespace of the restore. It has `spec.backup`, by which its pods mount credentials and keys. Immutable.
    #[schemars(length(min = 1, max = 63))]
    pub cluster: String,
    /// The backup. Immutable.
    pub source: RestoreSource,
    /// `Tables`: rows are loaded into tables of the running ring. `WholeRing`: a ring that does not exist yet begins with the backup: the restore has the name that `spec.backup.restore` of the `CassandraCluster` says. Immutable.
    pub mode: RestoreMode,
    /// `WholeRing`: the ring becomes what it was at this time, which is behind the backup: what was archived of the commit logs until then is replayed, but for writes with a later timestamp. In UTC and whole seconds, such as `2026-05-04T12:30:00Z`. Needs `spec.backup.archive` of the ring that was backed up, from before the backup to this time, and `repair: After`. Default: the time of the backup. Immutable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"))]
    pub point_in_time: Option<Time>,
    /// What is restored, and where to. Default: all keyspaces of the ring that was backed up but those of the system, under their own names; a backup of some keyspaces has to be given those that it has. Immutable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 128))]
    pub tables: Vec<RestoreTable>,
    /// What happens to a table that exists and has rows. `Refuse`: the restore fails, and no table is touched. `Truncate`: every table that exists loses its rows first, and its deletions, which hide older rows also where none is shown. `Merge`: the rows of the backup are added, and of two versions the newer one wins; only for a backup that is younger than `gc_grace_seconds` of the table, or deleted rows would come back. Both need `confirm`. Default `Refuse`. Immutable.
    #[serde(default)]
    pub existing: RestoreExisting,
    /// `status.nonce` of this restore, once `status.tables` was read: yes to `Truncate` or `Merge`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub confirm: Option<String>,
    /// Names of datacenters in the replication of keyspaces that the restore creates: the name in the backup, and the one in the ring. Immutable.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(
        extend("maxProperties" = 32),
        extend("additionalProperties" = {"type": "string", "minLength": 1, "maxLength": 63, "pattern": "^[A-Za-z0-9_-]+$"})
    )]
    pub datacenters: BTreeMap<String, String>,
    /// `WholeRing`: whether roles and permissions of the backup come, too. Of two versions of a role the newer one wins, so that the users of this ring's own Secrets stay. Default `Restore`. Immutable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<RestoreAuth>,
    /// `WholeRing`: whether all members repair what they have once clients are let in. The members of a backup may differ as far as those of the ring did; until they are repaired, `gc_grace_seconds` of all tables stays raised, so that no deleted row comes back; with `None` until you set it back. Default `After`. Immutable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair: Option<RestoreRepair>,
    /// Give the restore up: what runs is stopped. Rows that were loaded stay. A whole ring that lets clients in is not taken back any more: its restore goes on to its end. Cannot be set back to false. Default false.
    #[serde(default)]
    pub abort: bool,
}

/// Which backup: a `CassandraBackup`, or a backup in a store by its ID.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(
    validation = rules::source_is_one(),
    validation = rules::store_comes_with_ids(),
    validation = rules::ids_come_with_a_store()
)]
#[serde(rename_all = "camelCase")]
pub struct RestoreSource {
    /// Name of a complete `CassandraBackup` in the namespace, of this ring or of another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub backup: Option<String>,
    /// Where the repository is. For a store that is not the ring's own, the Secret of `spec.backup.credentialsSecretName` has the credentials under names that begin with `source.`, and under `source.store` the place that they are for, such as `s3://bucket/prefix https://host:port`: they are sent to no other one. `volume` only if it is the ring's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<BackupStore>,
    /// With `store`: the ID of the repository.
    #[serde(default, rename = "repositoryID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64), regex(pattern = "^[A-Za-z0-9._-]+$"))]
    pub repository_id: Option<String>,
    /// With `store`: the name of the backup in the repository, as `kubectl palladion backup list` shows it.
    #[serde(default, rename = "backupID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63), regex(pattern = "^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"))]
    pub backup_id: Option<String>,
    /// With `store`: SHA-256 that the manifest of the backup must have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 64, max = 64), regex(pattern = "^[0-9a-f]+$"))]
    pub manifest_hash: Option<String>,
    /// With `store`: whether the objects of the repository are sealed. The key is in the Secret `<cluster>-backup-key` of this ring. Default `Off`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encryption: Option<BackupEncryption>,
}

/// How it is restored.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum RestoreMode {
    /// Rows are loaded into tables of the running ring.
    #[default]
    Tables,
    /// A ring begins with the backup.
    WholeRing,
    /// What a newer Palladion says and this build does not know.
    #[serde(untagged)]
    #[schemars(skip, !untagged)]
    Unknown(crate::word::Word),
}

/// What happens to a table that exists and has rows.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum RestoreExisting {
    /// The restore fails.
    #[default]
    Refuse,
    /// It loses its rows first.
    Truncate,
    /// The rows of the backup are added.
    Merge,
    /// What a newer Palladion says and this build does not know.
    #[serde(untagged)]
    #[schemars(skip, !untagged)]
    Unknown(crate::word::Word),
}

/// Whether roles come.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum RestoreAuth {
    /// Those of the backup come.
    #[default]
    Restore,
    /// The ring keeps those that it has.
    Keep,
    /// What a newer Palladion says and this build does not know.
    #[serde(untagged)]
    #[schemars(skip, !untagged)]
    Unknown(crate::word::Word),
}

/// Whether a ring is repaired once it is restored.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum RestoreRepair {
    /// Each member repairs what it has.
    #[default]
    After,
    /// It is not.
    None,
    /// What a newer Palladion says and this build does not know.
    #[serde(untagged)]
    #[schemars(skip, !untagged)]
    Unknown(crate::word::Word),
}

/// A keyspace or a table of the backup, and where it is restored to.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(validation = rules::tables_become_tables())]
#[serde(rename_all = "camelCase")]
pub struct RestoreTable {
    /// `keyspace` or `keyspace.table`, in the backup.
    #[schemars(
        length(min = 1, max = 97),
        regex(pattern = "^[A-Za-z0-9_]{1,48}([.][A-Za-z0-9_]{1,48})?$")
    )]
    pub from: String,
    /// `keyspace`, or `keyspace.table` where `from` is a table. Default: as in `from`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 97),
        regex(pattern = "^[A-Za-z0-9_]{1,48}([.][A-Za-z0-9_]{1,48})?$")
    )]
    pub to: Option<String>,
}
