//! The metrics of this mind: what rings and their tasks come to.

use crate::facts::Facts;
use crate::resources as kinds;
use palladion_api::cluster::Verdict;
use palladion_api::metrics::{Label, Metric};
use palladion_api::task::{TaskKind, TaskPhase};
use palladion_plan::{Count, Figure, Object};
use serde_json::{Value, json};
use std::sync::Arc;

const RINGS_ILL: Metric = Metric::gauge(
    "palladion_rings_ill",
    &[],
    "Rings that are not well: `status.health.verdict` is Ill",
);
const JOBS_WAITING: Metric = Metric::gauge(
    "palladion_jobs_waiting",
    &[],
    "CassandraTasks that wait in the queue of their ring",
);
const JOBS_ENDED: Metric = Metric::counter(
    "palladion_jobs_ended_total",
    &[
        Label {
            name: "kind",
            values: &[],
            meaning: "the kind of the CassandraTask, for example `Cleanup`",
        },
        Label {
            name: "phase",
            values: &["Done", "Partial", "Refused", "Aborted", "Failed"],
            meaning: "",
        },
    ],
    "CassandraTasks that have ended",
);
const JOB_YIELDS: Metric = Metric::counter(
    "palladion_job_yields_total",
    &[],
    "CassandraTasks that were interrupted for a change to their ring",
);
const SCHEDULE_MISSED: Metric = Metric::counter(
    "palladion_schedule_missed_total",
    &[],
    "Times of CassandraTaskSchedules at which no task was created before `startingDeadlineSeconds`",
);

/// Every metric of this mind.
pub const DECLARED: &[Metric] = &[RINGS_ILL, JOBS_WAITING, JOBS_ENDED, JOB_YIELDS, SCHEDULE_MISSED];

/// A task has ended in this phase.
pub fn ended(kind: TaskKind, phase: TaskPhase) -> Option<Count> {
    let phase = match phase {
        TaskPhase::Waiting | TaskPhase::Running => return None,
        TaskPhase::Done => "Done",
        TaskPhase::Partial => "Partial",
        TaskPhase::Refused => "Refused",
        TaskPhase::Aborted => "Aborted",
        TaskPhase::Failed => "Failed",
    };
    Some(Count { metric: &JOBS_ENDED, labels: vec![kind.as_str(), phase] })
}

/// A task has made way for a change to its ring.
pub fn yields() -> Count {
    Count { metric: &JOB_YIELDS, labels: Vec::new() }
}

/// A time of a schedule has passed without a task.
pub fn missed() -> Count {
    Count { metric: &SCHEDULE_MISSED, labels: Vec::new() }
}

/// What this ring adds to the gauges, by its status as it is decided now.
pub fn figures(facts: &Facts<'_>, status: &Value) -> Vec<Figure> {
    let stored = facts.snapshot.owner.at("/status/health/verdict");
    let verdict = status.pointer("/health/verdict").or(stored);
    let is_ill = verdict == Some(&json!(Verdict::Ill));
    let cluster = facts.snapshot.owner.meta.name.as_str();
    let waits = |task: &&Arc<Object>| {
        task.str_at("/spec/cluster") == Some(cluster) && task.int_at("/status/position").is_some()
    };
    let waiting = facts.objects(kinds::TASK).iter().filter(waits).count();
    vec![
        Figure { metric: &RINGS_ILL, value: i64::from(is_ill) },
        Figure { metric: &JOBS_WAITING, value: i64::try_from(waiting).unwrap_or(i64::MAX) },
    ]
}
