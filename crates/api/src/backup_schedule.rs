//! `CassandraBackupSchedule`: backups that come again and again.

use crate::backup::{BackupCoverage, BackupVerify, DEADLINE, default_deadline};
use crate::rules::backup as of_backups;
use crate::rules::task_schedule as rules;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube_derive::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

/// Creates a `CassandraBackup` at each time of a cron pattern, unless an earlier one of the schedule is under way. They are named `<schedule>-<minutes since 1970>` and have the label `palladion.dev/schedule`; they stay when the schedule is deleted. The name of a schedule has at most 52 characters.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "palladion.dev",
    version = "v1alpha1",
    kind = "CassandraBackupSchedule",
    namespaced,
    status = "CassandraBackupScheduleStatus",
    shortname = "cbsched",
    category = "palladion",
    derive = "PartialEq",
    derive = "Default",
    crates(kube_core = "::kube_core")
)]
#[kube(
    printcolumn(name = "Cluster", type_ = "string", json_path = ".spec.cluster"),
    printcolumn(name = "Schedule", type_ = "string", json_path = ".spec.schedule"),
    printcolumn(name = "Time zone", type_ = "string", json_path = ".spec.timeZone"),
    printcolumn(name = "Suspend", type_ = "boolean", json_path = ".spec.suspend"),
    printcolumn(name = "Next", type_ = "string", json_path = ".status.nextScheduleTime"),
    printcolumn(name = "Complete", type_ = "date", json_path = ".status.lastCompleteTime"),
    printcolumn(name = "Active", type_ = "string", json_path = ".status.active"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(validation = rules::cluster_is_fixed())]
#[serde(rename_all = "camelCase")]
pub struct CassandraBackupScheduleSpec {
    /// Name of the `CassandraCluster` in the namespace of the schedule. A schedule that stays without conditions names a cluster that does not exist. Immutable.
    #[schemars(length(min = 1, max = 63))]
    pub cluster: String,
    /// When backups are created, in cron's five fields: minute, hour, day of the month, month, day of the week; for example `30 2 * * *`. Also `@hourly`, `@daily`, `@weekly`, `@monthly` and `@yearly`.
    #[schemars(length(min = 1, max = 128))]
    #[x_kube(validation = rules::schedule_has_five_fields())]
    pub schedule: String,
    /// Time zone of the schedule, by its name in the IANA time zone database, for example `Europe/Berlin`. Default `Etc/UTC`.
    #[serde(default = "utc")]
    #[schemars(length(min = 1, max = 64))]
    pub time_zone: String,
    /// Create no backups. One that is under way goes on. What was due meanwhile is not caught up with. Default false.
    #[serde(default)]
    pub suspend: bool,
    /// How late, in seconds, a backup may still be created: because no operator ran, the cluster was paused, or an earlier backup of the schedule was under way. Of all that are due by then, one is created, for the latest time. What is later than that counts as missed. Default 3600.
    #[serde(default = "one_hour")]
    #[schemars(range(min = 10, max = 31_536_000))]
    pub starting_deadline_seconds: u32,
    /// How many `CassandraBackup`s of the schedule that have ended are kept, the newest first; the last complete one, and those that expire, are kept in any case. With `retention`, objects of complete backups stay until these have expired, and only those that have failed, were aborted or have expired are counted. Deleting objects deletes nothing in the store. Default 30.
    #[serde(default = "thirty")]
    #[schemars(range(min = 1, max = 500))]
    pub history_limit: u32,
    /// Which complete backups of the schedule are kept; the others expire, as by `spec.expire` of a `CassandraBackup`. Unset: none expires by itself. Only backups whose objects exist expire: one whose object was deleted stays in the store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention: Option<BackupRetention>,
    /// What the backups ask for. A change counts from the next one on.
    #[serde(default)]
    pub template: BackupTemplate,
}

/// Which complete backups of a schedule are kept: those that any of these rules keeps. Days, weeks and months are those of the schedule's time zone, and only those in which a backup was taken count: when no backups are taken, none expires. The newest complete backup never expires.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
#[serde(rename_all = "camelCase")]
pub struct BackupRetention {
    /// So many of the newest.
    #[schemars(range(min = 1, max = 500))]
    pub last: u32,
    /// The newest of each of the last so many days. Default: no rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 400))]
    pub days: Option<u32>,
    /// The newest of each of the last so many weeks, which begin on Monday (ISO 8601). Default: no rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 260))]
    pub weeks: Option<u32>,
    /// The newest of each of the last so many months. Default: no rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 120))]
    pub months: Option<u32>,
}

/// What the backups of a schedule ask for, as in the spec of a `CassandraBackup`.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(validation = of_backups::local_keyspaces_are_not_shared())]
#[serde(rename_all = "camelCase")]
pub struct BackupTemplate {
    /// Keyspaces by name. Default: all but `system` and `system_schema`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(min = 1, max = 512),
        inner(length(min = 1, max = 48), regex(pattern = "^[A-Za-z0-9_]+$")),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub keyspaces: Vec<String>,
    /// Whose data has to be in a backup: `AllMembers` or `QuorumOfEachRange`. Default `AllMembers`.
    #[serde(default)]
    pub coverage: BackupCoverage,
    /// How the store is checked before a backup is complete: `Sample` or `Read`. Default `Sample`.
    #[serde(default)]
    pub verify: BackupVerify,
    /// Seconds that a backup may take, from its creation on; then it has failed. Default 86400.
    #[serde(default = "default_deadline")]
    #[schemars(range(min = 60, max = 2_592_000))]
    pub deadline_seconds: u32,
}

impl Default for BackupTemplate {
    fn default() -> Self {
        Self {
            keyspaces: Vec::new(),
            coverage: BackupCoverage::default(),
            verify: BackupVerify::default(),
            deadline_seconds: DEADLINE,
        }
    }
}

fn utc() -> String {
    "Etc/UTC".into()
}

fn one_hour() -> u32 {
    3_600
}

fn thirty() -> u32 {
    30
}

/// State of the schedule, written by the operator.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct CassandraBackupScheduleStatus {
    /// When the next backup is due. If it is in the past, it waits for an earlier one to end, or for the cluster to be resumed. Absent while the schedule is suspended or not valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_schedule_time: Option<Time>,
    /// For which time the last backup was created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_schedule_time: Option<Time>,
    /// When a backup of the schedule was complete last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_complete_time: Option<Time>,
    /// Name of the backup that was created last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub last_backup: Option<String>,
    /// Name of the backup that has not ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub active: Option<String>,
    /// How often a backup was not created because it would have been later than `startingDeadlineSeconds`. Several in a row count as one.
    #[serde(default)]
    pub missed: u32,
    /// The `metadata.generation` that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// `Accepted`: the pattern and the time zone are valid. `Paused`: no backups are created, and why. `RetentionDelayed`, with `spec.retention`: True where backups that expire cannot be condemned or deleted in the store for now, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}
