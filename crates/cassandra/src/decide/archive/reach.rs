//! From when until when: from the newest complete backup of all keyspaces that is within the
//! windows of all members, until the time up to which the member that is furthest behind has
//! archived.

use crate::decide::transfers::full_members;
use crate::facts::Facts;
use crate::resources as kinds;
use crate::validate::Valid;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::backup::{BackupPhase, CassandraBackupSpec, CassandraBackupStatus, PointInTime};

/// A window opens so long before the snapshots of a backup at the least: the clocks of members
/// and of the operator differ.
const BEFORE: SignedDuration = SignedDuration::from_secs(60);

/// What is reached; `None` while that is nothing.
pub fn of(facts: &Facts<'_>, valid: &Valid, window: u64) -> Option<PointInTime> {
    let (mut since, mut until): (Option<Timestamp>, Option<Timestamp>) = (None, None);
    for member in full_members(facts) {
        let status = member.status.archive.as_ref().filter(|status| status.window == window)?;
        let (begun, ended) = (status.since.as_ref()?.0, status.until.as_ref()?.0);
        since = since.max(Some(begun));
        until = Some(until.map_or(ended, |until| until.min(ended)));
    }
    let (since, until) = (since?, minute(until?)?);
    let is_base = |(_, from, to): &(String, Timestamp, Timestamp)| {
        let opens = since.checked_add(BEFORE);
        opens.is_ok_and(|opens| opens <= *from) && *to < until
    };
    let (id, _, to) = bases(facts, valid).filter(is_base).max_by_key(|(_, _, to)| *to)?;
    Some(PointInTime {
        from: Some(Time(to)),
        until: Some(Time(until)),
        backup: Some(id),
        ..PointInTime::default()
    })
}

/// In whole minutes: the status is not written for less.
fn minute(at: Timestamp) -> Option<Timestamp> {
    Timestamp::from_second(at.as_second().div_euclid(60) * 60).ok()
}

/// Complete backups of all keyspaces in the ring's repository, each with the window in which its
/// snapshots were taken.
fn bases<'a>(
    facts: &'a Facts<'_>,
    valid: &'a Valid,
) -> impl Iterator<Item = (String, Timestamp, Timestamp)> + 'a {
    let repository = facts.repository();
    facts.objects(kinds::BACKUP).iter().filter_map(move |object| {
        let spec: CassandraBackupSpec = object.part("spec").ok()??;
        let status: CassandraBackupStatus = object.part("status").ok()??;
        let is_whole = spec.cluster == valid.name && spec.keyspaces.is_empty();
        let is_base = is_whole
            && status.phase == Some(BackupPhase::Complete)
            && status.repository_id.is_some()
            && status.repository_id == repository;
        let taken = status.window.filter(|_| is_base)?;
        Some((status.id?, taken.from.0, taken.to?.0))
    })
}
