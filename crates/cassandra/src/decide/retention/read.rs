//! The backups of the ring that have ended, which of them are to expire, and what keeps one.

use super::keep::{Taken, keep, never};
use crate::decide::archive::point_in_time;
use crate::decide::backups::schedules::{Schedule, is_complete, of_cluster};
use crate::decide::backups::{Backup, known_repository};
use crate::decide::restores::is_over;
use crate::decide::schedules::cron::zone;
use crate::facts::Facts;
use crate::resources as kinds;
use crate::validate::{Valid, ValidBackup};
use crate::words::retention::Waits;
use jiff::Timestamp;
use palladion_api::backup::{BackupPhase, ExpiredBy, PointInTime};
use palladion_plan::Object;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A backup that is to expire, and has not.
pub struct Asked<'a> {
    /// Its object.
    pub backup: Backup<'a>,
    /// Who lets it expire.
    pub by: ExpiredBy,
    /// The schedule of which it is the newest complete one.
    newest_of: Option<String>,
}

impl Asked<'_> {
    /// Has it been decided already?
    pub fn is_decided(&self) -> bool {
        self.backup.status.phase == Some(BackupPhase::Expiring)
    }

    /// What keeps it, whatever rule or user says: who restores from it, that it is the newest, or
    /// that points in time are reached from it.
    pub fn kept(&self, facts: &Facts<'_>, valid: &Valid) -> Option<Waits> {
        let restore = reader(facts, &self.backup).map(|restore| Waits::Restore { restore });
        let newest = || self.newest_of.clone().map(|schedule| Waits::Newest { schedule });
        let base = || is_base(facts, valid, &self.backup).then(|| base_of(valid));
        restore.or_else(newest).or_else(base)
    }
}

/// The names of complete backups of schedules.
#[derive(Default)]
struct OfSchedules {
    /// No rule keeps them.
    expired: BTreeSet<String>,
    /// They never go, each with its schedule.
    never: BTreeMap<String, String>,
}

/// The backups that are to expire, by whoever's wish, and have not; the oldest first.
pub fn all<'a>(facts: &'a Facts<'_>) -> Vec<Asked<'a>> {
    let mut of = of_schedules(facts);
    let cluster = facts.snapshot.owner.meta.name.as_str();
    let all = facts.objects(kinds::BACKUP).iter().map(AsRef::as_ref);
    let ours = all.filter(|backup: &&Object| {
        backup.str_at("/spec/cluster") == Some(cluster) && !backup.meta.is_terminating()
    });
    let asked = ours.filter_map(|object| Some((object, by(object, &of.expired)?)));
    let read = asked.filter_map(|(object, by)| Some((Backup::read(object)?, by)));
    let read: Vec<(Backup<'a>, ExpiredBy)> = read.collect();
    let mut all: Vec<Asked<'a>> = read
        .into_iter()
        .map(|(backup, by)| Asked { newest_of: of.never.remove(backup.name()), backup, by })
        .collect();
    all.sort_by(|a, b| {
        let place = |asked: &Asked<'_>| asked.backup.object.meta.creation_timestamp;
        (place(a), a.backup.name()).cmp(&(place(b), b.backup.name()))
    });
    all
}

/// Who lets it expire, if it is to and has not. There may be many, so that each is read only then.
fn by(backup: &Object, expired: &BTreeSet<String>) -> Option<ExpiredBy> {
    let asked = is_asked(backup).then_some(ExpiredBy::User);
    match BackupPhase::deserialize(backup.at("/status/phase")?).ok()? {
        BackupPhase::Complete => {
            let by_rule = expired.contains(&backup.meta.name).then_some(ExpiredBy::Schedule);
            asked.or(by_rule)
        }
        BackupPhase::Failed | BackupPhase::Aborted => asked,
        BackupPhase::Expiring => ExpiredBy::deserialize(backup.at("/status/expiry/by")?).ok(),
        BackupPhase::Pending
        | BackupPhase::Preparing
        | BackupPhase::Snapshotting
        | BackupPhase::Uploading
        | BackupPhase::Verifying
        | BackupPhase::Expired => None,
    }
}

/// Does a user let it expire?
fn is_asked(backup: &Object) -> bool {
    backup.at("/spec/expire").is_some_and(|asked| *asked == true)
}

/// Does the window of points in time begin with it? By what members report now, or did a moment ago:
/// who is silent for a while has not lost its archive.
fn is_base(facts: &Facts<'_>, valid: &Valid, backup: &Backup<'_>) -> bool {
    let Some(now) = point_in_time(facts, valid) else { return false };
    let status = &backup.status;
    let begins = |point: &PointInTime| point.backup.is_some() && point.backup == status.id;
    let before = facts.status.point_in_time.as_ref();
    status.repository_id.is_some()
        && status.repository_id == known_repository(facts)
        && (begins(&now) || before.is_some_and(begins))
}

fn base_of(valid: &Valid) -> Waits {
    Waits::BaseOfWindow { cluster: valid.name.clone() }
}

/// Is it in the repository that the ring uses now?
pub fn is_there(facts: &Facts<'_>, own: &ValidBackup, backup: &Backup<'_>) -> bool {
    let ours = known_repository(facts);
    let status = &backup.status;
    ours.is_some() && status.repository_id == ours && status.store.as_ref() == Some(&own.place)
}

/// The restore that names it and has not ended: of any ring of the namespace.
pub fn reader(facts: &Facts<'_>, backup: &Backup<'_>) -> Option<String> {
    let status = &backup.status;
    let is_it = |repository: Option<&str>, id: Option<&str>| {
        id.is_some()
            && id == status.id.as_deref()
            && (repository.is_none() || repository == status.repository_id.as_deref())
    };
    let names = |restore: &&Object| {
        let at = |pointer: &str| restore.str_at(pointer);
        at("/spec/source/backup") == Some(backup.name())
            || is_it(at("/spec/source/repositoryID"), at("/spec/source/backupID"))
            || is_it(at("/status/source/repositoryID"), at("/status/source/backupID"))
    };
    let restores = facts.objects(kinds::RESTORE).iter().map(AsRef::as_ref);
    let mut open = restores.filter(|restore: &&Object| !is_over(restore));
    if let Some(restore) = open.find(names) {
        return Some(restore.meta.name.clone());
    }
    // Its object may be gone, and what it has begun is not ended yet.
    let active = facts.status.restore.as_ref().filter(|active| {
        let source = &active.source;
        is_it(Some(&source.repository_id), Some(&source.backup_id))
    });
    active.map(|active| active.restore.clone())
}

fn of_schedules(facts: &Facts<'_>) -> OfSchedules {
    let mut of = OfSchedules::default();
    for schedule in of_cluster(facts) {
        let complete = complete(facts, &schedule);
        let taken: Vec<Taken> = complete.iter().map(|(taken, _)| taken.clone()).collect();
        let newest = never(&taken, facts.now());
        of.never.extend(newest.into_iter().map(|name| (name, schedule.name().to_string())));
        let Some(rules) = &schedule.spec.retention else { continue };
        // A time zone that is not known has no days, so nothing goes by them.
        let Ok(zone) = zone(&schedule.spec.time_zone) else { continue };
        // What a user lets expire takes no place of another one.
        let counted = complete.into_iter().filter(|(_, is_asked)| !is_asked);
        let counted: Vec<Taken> = counted.map(|(taken, _)| taken).collect();
        let stay = keep(rules, &zone, (&counted, facts.now()));
        let gone = counted.into_iter().map(|taken| taken.name);
        of.expired.extend(gone.filter(|name| !stay.contains(name)));
    }
    let never = &of.never;
    of.expired.retain(|name| !never.contains_key(name));
    of
}

/// The complete backups of a schedule, and whether a user lets each expire. One that does not say
/// when it was taken is none that a rule could let go.
fn complete(facts: &Facts<'_>, schedule: &Schedule<'_>) -> Vec<(Taken, bool)> {
    let backups = schedule.backups(facts).into_iter();
    let complete = backups.filter(|backup| is_complete(backup) && !backup.meta.is_terminating());
    let taken = |backup: &Object| {
        let at: Timestamp = backup.str_at("/status/window/from")?.parse().ok()?;
        let created = backup.meta.creation_timestamp.unwrap_or(at);
        let (name, is_whole) = (backup.meta.name.clone(), is_whole(backup));
        Some((Taken { at, created, name, is_whole }, is_asked(backup)))
    };
    complete.filter_map(taken).collect()
}

/// Does it have all members of its ring?
fn is_whole(backup: &Object) -> bool {
    let members = backup.at("/status/members").and_then(Value::as_array);
    members.into_iter().flatten().all(|member| member["state"] != "Missing")
}

/// So many complete backups must stay in the repository when these go: as many as the retention
/// that keeps the most of the newest asks for, as far as there are so many with all members, whose
/// place no other one takes.
pub fn least(facts: &Facts<'_>, going: &BTreeSet<String>) -> u32 {
    let wanted = of_cluster(facts).filter_map(|schedule| {
        let last = schedule.spec.retention.as_ref()?.last;
        let complete = complete(facts, &schedule);
        let stays = |taken: &Taken| taken.is_whole && !going.contains(&taken.name);
        let stay = complete.iter().filter(|(taken, _)| stays(taken)).count();
        Some(last.min(u32::try_from(stay).unwrap_or(u32::MAX)))
    });
    wanted.max().unwrap_or(1).max(1)
}
