//! Backups that come again and again, as a `CassandraBackupSchedule` says. The times are those of
//! schedules of tasks; one backup of a schedule is under way at a time.

use super::delayed::{self, Elsewhere};
use super::history::tidy;
use super::read::is_over;
use crate::decide::draft::Draft;
use crate::decide::schedules::cron::Times;
use crate::decide::schedules::due::{Due, Record};
use crate::facts::Facts;
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::backups::{Doing, Schedule as Said, Told};
use crate::words::schedules::Invalid;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::backup_schedule::{CassandraBackupScheduleSpec, CassandraBackupScheduleStatus};
use palladion_api::conditions::{ACCEPTED, PAUSED, RETENTION_DELAYED};
use palladion_api::labels;
use palladion_api::words::Reasoned;
use palladion_plan::difference::difference;
use palladion_plan::words::Quoted;
use palladion_plan::{Conditions, Event, Fence, Object, ObjectKey, Step, Truth};
use serde_json::json;

/// A schedule as it is stored.
pub struct Schedule<'a> {
    /// The stored object.
    pub object: &'a Object,
    /// What is wanted.
    pub spec: CassandraBackupScheduleSpec,
    /// What is on record.
    pub status: CassandraBackupScheduleStatus,
}

/// Create the backups of this cluster's schedules that are due, and delete the objects of those
/// that have ended and are no longer kept.
pub fn decide(facts: &Facts<'_>, valid: &Valid, elsewhere: Elsewhere, draft: &mut Draft) {
    for schedule in of_cluster(facts) {
        let backups = schedule.backups(facts);
        let mut status = schedule.status.clone();
        let (said, held, told) = match schedule.times(facts.now()) {
            Err(why) => {
                status.next_schedule_time = None;
                (Err(why), None, None)
            }
            Ok(_) if schedule.spec.suspend => {
                status.next_schedule_time = None;
                (Ok(Said::Valid), Some(Said::Suspended), None)
            }
            Ok(times) => {
                let (said, told) = due(facts, (&schedule, &times), &backups, &mut status, draft);
                (Ok(said), None, told)
            }
        };
        let known = (facts, Some((valid, elsewhere)));
        report(known, &schedule, &backups, (status, said, held, told), draft);
        tidy(&schedule, &backups, draft);
    }
}

/// Create nothing while the ring is paused or its spec is not accepted, and say so. What is due
/// stays on record.
pub fn hold(facts: &Facts<'_>, draft: &mut Draft) {
    for schedule in of_cluster(facts) {
        let backups = schedule.backups(facts);
        let mut status = schedule.status.clone();
        let times = schedule.times(facts.now());
        let kept = |times: &Times| schedule.record(times).kept(times, facts.now());
        status.next_schedule_time = times.as_ref().ok().and_then(kept).map(Time);
        let held = match schedule.spec.suspend {
            true => Said::Suspended,
            false => Said::Held { cluster: schedule.spec.cluster.clone() },
        };
        let valid = times.map(|_| Said::Valid);
        report((facts, None), &schedule, &backups, (status, valid, Some(held), None), draft);
    }
}

/// The schedules of this cluster.
pub fn of_cluster<'a>(facts: &'a Facts<'_>) -> impl Iterator<Item = Schedule<'a>> {
    let cluster = facts.snapshot.owner.meta.name.as_str();
    let all = facts.objects(kinds::BACKUP_SCHEDULE).iter().filter(|o| !o.meta.is_terminating());
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

    fn times(&self, now: Timestamp) -> Result<Times, Invalid> {
        let times = Times::read(&self.spec.schedule, &self.spec.time_zone)?;
        let never = || Invalid::Never { schedule: Quoted(self.spec.schedule.clone()) };
        times.after(now).is_some().then_some(times).ok_or_else(never)
    }

    /// Nothing is on record of a schedule that no operator has seen yet: its first backup is the
    /// first after its creation.
    fn record(&self, times: &Times) -> Record {
        let is_new = self.status.observed_generation.is_none();
        let created = self.object.meta.creation_timestamp.filter(|_| is_new);
        let first = created.and_then(|created| times.after(created));
        Record {
            expected: self.status.next_schedule_time.as_ref().map(|t| t.0).or(first),
            last: self.status.last_schedule_time.as_ref().map(|t| t.0),
        }
    }

    /// Its backups, the newest first.
    pub fn backups<'f>(&self, facts: &'f Facts<'_>) -> Vec<&'f Object> {
        let of_this = |o: &&'f Object| {
            o.meta.labels.get(labels::SCHEDULE).is_some_and(|name| name == self.name())
                && o.str_at("/spec/cluster") == Some(&self.spec.cluster)
        };
        let all = facts.objects(kinds::BACKUP).iter().map(AsRef::as_ref);
        let mut all: Vec<&Object> = all.filter(of_this).collect();
        all.sort_by(|a, b| {
            let place = |o: &Object| (o.meta.creation_timestamp, o.meta.name.clone());
            place(b).cmp(&place(a))
        });
        all
    }
}

fn due(
    facts: &Facts<'_>,
    (schedule, times): (&Schedule<'_>, &Times),
    backups: &[&Object],
    status: &mut CassandraBackupScheduleStatus,
    draft: &mut Draft,
) -> (Said, Option<Told>) {
    let now = facts.now();
    let record = schedule.record(times);
    let deadline = SignedDuration::from_secs(schedule.spec.starting_deadline_seconds.into());
    let mut next = |record: &Record, status: &mut CassandraBackupScheduleStatus| {
        let next = record.next(times, now);
        next.into_iter().for_each(|next| draft.wake_at(next));
        status.next_schedule_time = next.map(Time);
    };
    match record.due(times, now, deadline) {
        Due::NotYet => {
            next(&record, status);
            (Said::Valid, None)
        }
        Due::Missed(run) => {
            next(&record, status);
            status.missed += 1;
            let seconds = schedule.spec.starting_deadline_seconds;
            let schedule = schedule.name().to_string();
            (Said::Valid, Some(Told::Missed { schedule, due: run.at, seconds }))
        }
        Due::Now(run) => {
            let name = format!("{}-{}", schedule.name(), run.at.as_second().div_euclid(60));
            let is_there = backups.iter().any(|backup| backup.meta.name == name);
            let active = backups.iter().find(|backup| !is_over(backup));
            if let Some(active) = active.filter(|_| !is_there) {
                status.next_schedule_time = Some(Time(run.since));
                let backup = active.meta.name.clone();
                draft.wake_at(run.at + deadline + SignedDuration::from_secs(1));
                return (Said::Waits { due: run.since, backup }, None);
            }
            next(&Record { last: Some(run.at), ..record }, status);
            status.last_schedule_time = Some(Time(run.at));
            status.last_backup = Some(name.clone());
            if !is_there {
                draft.steps.push(create(schedule, &name));
            }
            (Said::Valid, None)
        }
    }
}

/// The time is in the name, by which no backup is created twice; and who was frozen and wakes up
/// finds what was done since.
fn create(schedule: &Schedule<'_>, name: &str) -> Step {
    let meta = &schedule.object.meta;
    let mut spec = json!(schedule.spec.template);
    spec["cluster"] = json!(schedule.spec.cluster);
    let backup = json!({
        "apiVersion": kinds::BACKUP.api_version(),
        "kind": kinds::BACKUP.kind,
        "metadata": {
            "name": name,
            "namespace": meta.namespace,
            "labels": {
                labels::MANAGED_BY: labels::PALLADION,
                labels::SCHEDULE: schedule.name(),
            },
        },
        "spec": spec,
    });
    let fence = Fence {
        object: ObjectKey::new(kinds::BACKUP_SCHEDULE, &meta.namespace, &meta.name),
        pointer: "/status/lastScheduleTime".to_string(),
        expected: schedule.object.at("/status/lastScheduleTime").cloned().unwrap_or_default(),
        lock: None,
    };
    let doing = Doing::Create { backup: name.into(), schedule: schedule.name().into() };
    let key = ObjectKey::new(kinds::BACKUP, &meta.namespace, name);
    // The next one records that it was created.
    Step::create(key, backup, doing).fenced(fence).leaving_out_next()
}

fn report(
    (facts, known): (&Facts<'_>, Option<(&Valid, Elsewhere)>),
    schedule: &Schedule<'_>,
    backups: &[&Object],
    (mut status, valid, held, told): (
        CassandraBackupScheduleStatus,
        Result<Said, Invalid>,
        Option<Said>,
        Option<Told>,
    ),
    draft: &mut Draft,
) {
    let meta = &schedule.object.meta;
    let active = backups.iter().find(|backup| !is_over(backup));
    status.active = active.map(|backup| backup.meta.name.clone());
    let complete = backups
        .iter()
        .filter(|backup| is_complete(backup))
        .filter_map(|backup| backup.str_at("/status/endedAt")?.parse::<Timestamp>().ok());
    // One whose object was deleted was complete all the same.
    let before = status.last_complete_time.as_ref().map(|at| at.0);
    status.last_complete_time = complete.max().max(before).map(Time);
    let mut conditions = Conditions::new(&status.conditions, meta.generation, facts.now());
    match valid {
        Ok(said) => conditions.set(ACCEPTED, Truth::True, said.reason(), said),
        Err(why) => conditions.set(ACCEPTED, Truth::False, why.reason(), why),
    }
    match held {
        Some(why) => conditions.set(PAUSED, Truth::True, why.reason(), why),
        None => conditions.set(PAUSED, Truth::False, Said::Creates.reason(), Said::Creates),
    }
    if schedule.spec.retention.is_some() {
        delayed::tell((facts, known), schedule, &mut conditions);
    }
    status.conditions = conditions.all().to_vec();
    let expires = schedule.spec.retention.is_some();
    status.conditions.retain(|c| expires || c.type_ != RETENTION_DELAYED);
    status.observed_generation = Some(meta.generation);
    let Some(change) = difference(schedule.object.at("/status"), &json!(status)) else {
        return;
    };
    let doing = Doing::ReportSchedule { schedule: schedule.name().to_string() };
    let patch = json!({ "status": change });
    let step = Step::patch_status_as_seen(kinds::BACKUP_SCHEDULE, meta, patch, doing);
    let event = told.map(|told| Event::warning(told).also_about(kinds::BACKUP_SCHEDULE, meta));
    draft.steps.push(step.announced(event));
}

/// Is it complete, and does it not expire?
pub fn is_complete(backup: &Object) -> bool {
    backup.str_at("/status/phase") == Some("Complete")
}
