//! A schedule as it is stored, and the tasks that it has.

use super::cron::Times;
use super::due::Record;
use crate::facts::Facts;
use crate::resources as kinds;
use crate::words::schedules::Invalid;
use jiff::Timestamp;
use palladion_api::labels;
use palladion_api::task::TaskPhase;
use palladion_api::task_schedule::{CassandraTaskScheduleSpec, CassandraTaskScheduleStatus};
use palladion_plan::Object;
use palladion_plan::words::Quoted;
use serde::Deserialize;
use std::sync::Arc;

/// A schedule as it is stored.
pub(super) struct Schedule<'a> {
    /// The stored object.
    pub object: &'a Object,
    /// What is wanted.
    pub spec: CassandraTaskScheduleSpec,
    /// What is on record.
    pub status: CassandraTaskScheduleStatus,
}

/// The schedules of this cluster. One that cannot be read is of another version of
/// this kind, and not ours to judge.
pub(super) fn of_cluster<'a>(facts: &'a Facts<'_>) -> impl Iterator<Item = Schedule<'a>> {
    let cluster = facts.snapshot.owner.meta.name.as_str();
    let all = facts.objects(kinds::SCHEDULE).iter().filter(|o| !o.meta.is_terminating());
    all.filter(move |o| o.str_at("/spec/cluster") == Some(cluster)).filter_map(|object| {
        let spec = object.part("spec").ok()??;
        let status = object.part("status").ok()?.unwrap_or_default();
        Some(Schedule { object, spec, status })
    })
}

impl Schedule<'_> {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.object.meta.name
    }

    /// When its tasks are due.
    pub fn times(&self, now: Timestamp) -> Result<Times, Invalid> {
        let schedule = self.spec.schedule.clone().unwrap_or_default();
        let times = Times::read(&schedule, &self.spec.time_zone)?;
        match times.after(now) {
            Some(_) => Ok(times),
            None => Err(Invalid::Never { schedule: Quoted(schedule) }),
        }
    }

    /// What is on record. Nothing is on record of a schedule that no operator has
    /// seen yet: its first task is the first after its creation.
    pub fn record(&self, times: &Times) -> Record {
        let status = &self.status;
        let is_new = status.observed_generation.is_none();
        let created = self.object.meta.creation_timestamp.filter(|_| is_new);
        let first = created.and_then(|created| times.after(created));
        Record {
            expected: status.next_schedule_time.as_ref().map(|t| t.0).or(first),
            last: status.last_schedule_time.as_ref().map(|t| t.0),
        }
    }

    /// Its tasks.
    pub fn tasks<'a>(&self, facts: &'a Facts<'_>) -> Vec<&'a Arc<Object>> {
        let of_this = |o: &&Arc<Object>| {
            o.meta.labels.get(labels::SCHEDULE).is_some_and(|name| name == self.name())
        };
        of_the_ring(facts).filter(of_this).collect()
    }
}

/// The tasks of this cluster, by whomever they were created.
pub(super) fn of_the_ring<'a>(facts: &'a Facts<'_>) -> impl Iterator<Item = &'a Arc<Object>> {
    let cluster = facts.snapshot.owner.meta.name.as_str();
    let tasks = facts.objects(kinds::TASK).iter();
    tasks.filter(move |o| o.str_at("/spec/cluster") == Some(cluster))
}

/// How a task has ended; `None` where it has not.
pub(super) fn ended(task: &Object) -> Option<TaskPhase> {
    let phase = task.at("/status/phase").and_then(|p| TaskPhase::deserialize(p).ok());
    phase.filter(|phase| phase.is_final())
}

/// Is it carried out, or in the queue? One that was deleted is neither, also while a finalizer of
/// somebody keeps it.
pub(super) fn is_active(task: &Object) -> bool {
    ended(task).is_none() && !task.meta.is_terminating()
}

/// When a task has ended, in whole seconds, as times are stored.
pub(super) fn ended_at(task: &Object) -> Option<Timestamp> {
    let text = task.str_at("/status/endedAt").filter(|_| ended(task).is_some())?;
    Timestamp::from_second(text.parse::<Timestamp>().ok()?.as_second()).ok()
}
