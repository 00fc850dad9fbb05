//! `CassandraTaskSchedule`: tasks that come again and again. Its fields are those
//! of a CronJob (`docs/sources.md`), and its template is a `CassandraTask`.

use crate::ids::{MemberName, RackName};
use crate::repair::Coverage;
use crate::rules::repair as of_repair;
use crate::rules::task as of_tasks;
use crate::rules::task_schedule as rules;
use crate::task::{DEFAULT_TTL, OnFailure, RestartTask, WhenDown, Work};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube_derive::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Creates a `CassandraTask` at each time of a cron pattern, or whenever a range of the ring is due for repair. The tasks are named `<schedule>-<minutes since 1970>` and have the label `palladion.dev/schedule`; they stay when the schedule is deleted. The name of a schedule has at most 52 characters.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "palladion.dev",
    version = "v1alpha1",
    kind = "CassandraTaskSchedule",
    namespaced,
    status = "CassandraTaskScheduleStatus",
    shortname = "ctsched",
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
    printcolumn(
        name = "Behind",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Behind\")].status"
    ),
    printcolumn(name = "Last", type_ = "date", json_path = ".status.lastScheduleTime"),
    printcolumn(name = "Active", type_ = "string", json_path = ".status.active"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(
    validation = rules::cluster_is_fixed(),
    validation = rules::schedule_or_cover(),
    validation = rules::template_goes_with_a_schedule(),
    validation = rules::a_cover_has_no_times()
)]
#[serde(rename_all = "camelCase")]
pub struct CassandraTaskScheduleSpec {
    /// Name of the `CassandraCluster` in the namespace of the schedule. Where there is none, `Accepted` is False (ClusterNotFound) after a minute. Immutable.
    #[schemars(length(min = 1, max = 63))]
    pub cluster: String,
    /// When tasks of `taskTemplate` are created, in cron's five fields: minute, hour, day of the month, month, day of the week; for example `30 2 * * MON-FRI`. Also `@hourly`, `@daily`, `@weekly`, `@monthly` and `@yearly`. A task at one time of the day is created right after the gap if a clock that is set forward leaves this time out, and once if one that is set back shows it twice; all other patterns follow the clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 128))]
    #[x_kube(validation = rules::schedule_has_five_fields())]
    pub schedule: Option<String>,
    /// Repair all ranges of the ring in time, before deletions are forgotten (`gc_grace_seconds`): a task `repair` with `scope: Due` is created when a range is due, an hour after the end of the last one at the earliest. While a member is down, one is created each time a tenth of the shortest `gc_grace_seconds` has passed, as long as enough members are up for all copies of some keyspace and `cover.parallel` is not 1. One schedule covers a ring: the oldest; others are not accepted. Not together with `schedule`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cover: Option<Cover>,
    /// Time zone of the schedule, by its name in the IANA time zone database, for example `Europe/Berlin`. Default `Etc/UTC`.
    #[serde(default = "utc")]
    #[schemars(length(min = 1, max = 64))]
    pub time_zone: String,
    /// Create no tasks. Those that exist go on. What was due meanwhile is not caught up with. Default false.
    #[serde(default)]
    pub suspend: bool,
    /// How late, in seconds, a task may still be created: because no operator ran, the cluster was paused, or an earlier task was active and `concurrencyPolicy` is `Forbid`. Of all that are due by then, one task is created, for the latest time. What is later than that counts as missed. Default 3600.
    #[serde(default = "one_hour")]
    #[schemars(range(min = 10, max = 31_536_000))]
    pub starting_deadline_seconds: u32,
    /// What happens when a task is due while an earlier one of the schedule is active. Default `Forbid`.
    #[serde(default)]
    pub concurrency_policy: ConcurrencyPolicy,
    /// How many complete tasks of the schedule are kept. The last ended task of each kind is kept in any case. Default 3.
    #[serde(default = "three")]
    #[schemars(range(max = 50))]
    pub successful_tasks_history_limit: u32,
    /// How many tasks of the schedule that ended in another way are kept. The last ended task of each kind is kept in any case. Default 3.
    #[serde(default = "three")]
    #[schemars(range(max = 50))]
    pub failed_tasks_history_limit: u32,
    /// The task that is created; required with `schedule`, and absent with `cover`. A change counts from the next task on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_template: Option<TaskTemplate>,
}

/// Repair of all ranges of a ring in time.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct Cover {
    /// What is repaired, and how often.
    #[serde(flatten)]
    pub of: Coverage,
    /// Bytes of one call of a server, as far as ranges can be cut. At least 67108864, 64 MiB. Default 1073741824, 1 GiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1_099_511_627_776_u64))]
    #[x_kube(validation = of_repair::segments_are_not_tiny())]
    pub segment_bytes: Option<u64>,
    /// Members that repair at a time, at most. Only ranges of which no member has copies in common are repaired at a time. 1: one member after the other. Default: as many as that allows, which is the number of members divided by that of copies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 256))]
    pub parallel: Option<u32>,
    /// Share of the time in which a member repairs, in percent; it pauses for the rest. Default: as small as lets what is due end after 80% of the time until it is late, 10 at least; 100 for what is over within a minute and for what is late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 10, max = 100))]
    pub intensity_percent: Option<u8>,
}

/// What happens when a task is due while an earlier one is active. A ring works at one task at a time in any case.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum ConcurrencyPolicy {
    /// The new task is created as well, and waits in the queue of the ring. A schedule has at most 50 active tasks.
    Allow,
    /// The new task is created when the earlier one has ended, if that is before `startingDeadlineSeconds`.
    #[default]
    Forbid,
    /// The earlier task is aborted, and the new one created.
    Replace,
}

/// A task to be created.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[x_kube(crates(kube_core = "::kube_core"))]
pub struct TaskTemplate {
    /// Labels and annotations of the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<TaskTemplateMetadata>,
    /// Spec of the task, as that of a `CassandraTask`; a schedule neither drains nor replaces members, removes no datacenter, rotates no authority, and aborts no tasks.
    pub spec: TaskTemplateSpec,
}

/// Metadata of a task to be created.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
pub struct TaskTemplateMetadata {
    /// Labels. Those of Palladion cannot be changed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 64))]
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 64))]
    pub annotations: BTreeMap<String, String>,
}

/// Spec of a task to be created.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(
    validation = rules::asks_for_one_thing(),
    validation = of_tasks::members_or_racks(),
    validation = of_tasks::replication_stands_alone(),
    validation = of_tasks::skip_has_a_use(),
    validation = of_tasks::skip_is_not_for_restarts()
)]
#[serde(rename_all = "camelCase")]
pub struct TaskTemplateSpec {
    /// What is done: exactly one of these fields and `restart`.
    #[serde(flatten)]
    pub work: Work,
    /// Restart members, one after the other, each drained first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart: Option<RestartTask>,
    /// The members, by name. Not together with `racks`. Default: all members of the ring.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(min = 1, max = 256),
        inner(length(min = 1, max = 63)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub members: Vec<MemberName>,
    /// The members of these racks. Not together with `members`. Default: all members of the ring.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(min = 1, max = 32),
        inner(length(min = 1, max = 48)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub racks: Vec<RackName>,
    /// What happens when one member fails: `Stop` ends the task, `Continue` goes on with the other members. Default `Stop`.
    #[serde(default)]
    pub on_failure: OnFailure,
    /// What happens when a member is down: `Wait` waits for it, `Skip` leaves it out, and is refused as in a `CassandraTask`. Default `Wait`.
    #[serde(default)]
    pub when_down: WhenDown,
    /// Seconds that one member may take; then it has failed. Default by kind, as of a `CassandraTask`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 315_360_000))]
    pub member_deadline_seconds: Option<u32>,
    /// Seconds that the whole task may take, from its creation on; then it has failed. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 315_360_000))]
    pub active_deadline_seconds: Option<u32>,
    /// Seconds between the end of the task and its deletion, whatever the limits of the schedule's history; 0 deletes it at once. Default 604800, seven days.
    #[serde(default = "default_ttl")]
    #[schemars(range(max = 315_360_000))]
    pub ttl_seconds_after_finished: u32,
}

/// State of the schedule, written by the operator.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct CassandraTaskScheduleStatus {
    /// When the next task is due; with `cover`, when the next range is. If it is in the past, the task waits for an earlier one to end, or for the cluster to be resumed. Absent while the schedule is suspended or not valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_schedule_time: Option<Time>,
    /// For which time the last task was created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_schedule_time: Option<Time>,
    /// When a task of the schedule was last completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_successful_time: Option<Time>,
    /// Name of the task that was created last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub last_task: Option<String>,
    /// How often a task was not created because it would have been later than `startingDeadlineSeconds`. Several in a row count as one.
    #[serde(default)]
    pub missed: u32,
    /// Names of the tasks of the schedule that have not ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub active: Vec<String>,
    /// The `metadata.generation` that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// `Accepted`: False with the reason InvalidSpec if pattern or time zone are not valid, with AnotherCovers if an older schedule covers the ring, and with RepairedByServer if its servers repair themselves. `Paused`: True while no tasks are created because the schedule is suspended or the cluster paused. With `cover`, `Behind`: True when a range has used up 90% of its `gc_grace_seconds` since its last repair; `Degraded`: True when it has used up all, so that rows that were deleted may come back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

fn utc() -> String {
    "Etc/UTC".to_string()
}

fn one_hour() -> u32 {
    3600
}

fn three() -> u32 {
    3
}

fn default_ttl() -> u32 {
    DEFAULT_TTL
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    /// Of a spec: its fields by name, without what people read.
    fn fields(of: &str, at: &str) -> Value {
        let all = crate::crd::all();
        let found = all
            .iter()
            .find(|definition| definition.spec.names.kind == of)
            .expect("it should be there");
        let mut fields = crate::crd::schema(found).pointer(at).expect("it should be there").clone();
        for field in fields.as_object_mut().expect("it should be there").values_mut() {
            field.as_object_mut().expect("it should be there").remove("description");
        }
        fields
    }

    #[test]
    fn a_template_has_the_fields_of_a_task_but_those_that_a_schedule_must_not_set() {
        let mut task = fields("CassandraTask", "/properties/spec/properties");
        for not_here in ["cluster", "drain", "replace", "rotateAuthority", "abort"] {
            assert!(
                task.as_object_mut().expect("it should be there").remove(not_here).is_some(),
                "{not_here}"
            );
        }
        let template = fields(
            "CassandraTaskSchedule",
            "/properties/spec/properties/taskTemplate/properties/spec/properties",
        );
        assert_eq!(template, task);
    }
}
