//! The metrics of this mind: what rings and their tasks come to.

use crate::facts::Facts;
use crate::resources as kinds;
use jiff::Timestamp;
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

const LAST_BACKUP: Metric = Metric::gauge(
    "palladion_backup_last_complete_timestamp_seconds",
    &[],
    "Time of the newest complete backup of the ring for which that is longest ago, in seconds since 1970: the beginning of its `status.window`. A ring with a CassandraBackupSchedule and no complete backup counts with the creation of the schedule. A ring without a schedule, or whose schedules are all suspended, does not count; 0 where none counts",
);

/// Every metric of this mind.
pub const DECLARED: &[Metric] =
    &[RINGS_ILL, JOBS_WAITING, JOBS_ENDED, JOB_YIELDS, SCHEDULE_MISSED, LAST_BACKUP];

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
    let mut figures = vec![
        Figure::new(&RINGS_ILL, i64::from(is_ill)),
        Figure::new(&JOBS_WAITING, i64::try_from(waiting).unwrap_or(i64::MAX)),
    ];
    figures.extend(last_backup(facts).map(|at| Figure::least(&LAST_BACKUP, at)));
    figures
}

/// Until when what was written to this ring is in its newest complete backup, in seconds since
/// 1970. Where it has a schedule and no backup yet, since when it should have one; `None` of a
/// ring that nobody backs up time and again: one backup that somebody took is no promise of more.
fn last_backup(facts: &Facts<'_>) -> Option<i64> {
    let cluster = facts.snapshot.owner.meta.name.as_str();
    let is_of_it = |object: &&Arc<Object>| object.str_at("/spec/cluster") == Some(cluster);
    let backups = facts.objects(kinds::BACKUP).iter().filter(is_of_it);
    let complete = backups.filter(|backup| backup.str_at("/status/phase") == Some("Complete"));
    let taken = complete.filter_map(|backup| {
        let from: Timestamp = backup.str_at("/status/window/from")?.parse().ok()?;
        Some(from.as_second())
    });
    let schedules = facts.objects(kinds::BACKUP_SCHEDULE).iter().filter(is_of_it);
    let is_on = |schedule: &&Arc<Object>| schedule.at("/spec/suspend") != Some(&json!(true));
    let since = schedules.filter(is_on).filter_map(|schedule| schedule.meta.creation_timestamp);
    let since = since.map(Timestamp::as_second).min()?;
    Some(taken.max().unwrap_or(since))
}
