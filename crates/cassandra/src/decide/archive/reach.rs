//! From when until when: from the newest complete backup of all keyspaces that is within the
//! windows of all members, until the time up to which the member that is furthest behind has
//! archived.

use crate::decide::transfers::full_members;
use crate::facts::Facts;
use crate::resources as kinds;
use crate::validate::Valid;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::backup::{
    ArchiveStatus, BackupMemberState, BackupPhase, CassandraBackupSpec, CassandraBackupStatus,
    PointInTime,
};
use palladion_api::ids::HostId;
use std::collections::BTreeSet;

/// A window opens so long before the snapshots of a backup at the least: the clocks of members
/// and of the operator differ.
const BEFORE: SignedDuration = SignedDuration::from_secs(60);

/// What is reached, and what a person should do that more is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// From when until when; none while that is nothing.
    pub point: Option<PointInTime>,
    /// The windows of all members are open, and no backup lies within them.
    pub lacks_base: bool,
}

/// See [`Reached`].
pub fn of(facts: &Facts<'_>, valid: &Valid, window: u64) -> Reached {
    let Some(windows) = windows(facts, window) else { return Reached::default() };
    let fits = bases(facts, valid).filter(|base| windows.opens <= base.from);
    let fits: Vec<Base> = fits.collect();
    let lacks_base = fits.is_empty();
    let reached = fits.into_iter().filter(|base| base.to < windows.until);
    let point = reached.max_by_key(|base| base.to).map(|base| PointInTime {
        from: Some(Time(base.to)),
        until: Some(Time(windows.until)),
        backup: Some(base.id),
        ..PointInTime::default()
    });
    Reached { point, lacks_base }
}

/// The windows of all members, taken together.
struct Windows {
    /// A backup lies within them if it was begun at this time, or later.
    opens: Timestamp,
    until: Timestamp,
}

fn windows(facts: &Facts<'_>, window: u64) -> Option<Windows> {
    let (mut opens, mut until): (Option<Timestamp>, Option<Timestamp>) = (None, None);
    for member in full_members(facts) {
        let status = member.status.archive.as_ref().filter(|status| status.window == window)?;
        let ended = status.until.as_ref()?.0;
        opens = opens.max(Some(behind(status)?));
        until = Some(until.map_or(ended, |until| until.min(ended)));
    }
    Some(Windows { opens: opens?, until: minute(until?)? })
}

/// From when on a backup is within the window of a member, and of its schema.
fn behind(status: &ArchiveStatus) -> Option<Timestamp> {
    let opened = status.since.as_ref()?.0.checked_add(BEFORE).ok()?;
    Some(status.schema_since.as_ref().map_or(opened, |schema| schema.0.max(opened)))
}

/// Is there a backup behind the end of the member's last window, within the next one if it is open?
pub fn is_behind(facts: &Facts<'_>, valid: &Valid, status: &ArchiveStatus, gap: Timestamp) -> bool {
    let opened = status.since.as_ref().and_then(|since| since.0.checked_add(BEFORE).ok());
    let after = opened.map_or(gap, |opened| opened.max(gap));
    bases(facts, valid).any(|base| base.from >= after)
}

/// In whole minutes: the status is not written for less.
fn minute(at: Timestamp) -> Option<Timestamp> {
    Timestamp::from_second(at.as_second().div_euclid(60) * 60).ok()
}

/// A backup with which a restore to a point in time can begin.
struct Base {
    id: String,
    /// When its snapshots were taken.
    from: Timestamp,
    to: Timestamp,
}

/// Complete backups of all keyspaces in the ring's repository, of exactly the members that the ring
/// has: what others wrote is in no journal that goes on from it.
fn bases<'a>(facts: &'a Facts<'_>, valid: &'a Valid) -> impl Iterator<Item = Base> + 'a {
    let repository = facts.repository();
    let hosts: BTreeSet<HostId> =
        full_members(facts).filter_map(|member| member.recorded_host_id().cloned()).collect();
    facts.objects(kinds::BACKUP).iter().filter_map(move |object| {
        let spec: CassandraBackupSpec = object.part("spec").ok()??;
        let status: CassandraBackupStatus = object.part("status").ok()??;
        let is_whole = spec.cluster == valid.name && spec.keyspaces.is_empty();
        let is_base = is_whole
            && status.phase == Some(BackupPhase::Complete)
            && status.repository_id.is_some()
            && status.repository_id == repository
            && status.members.iter().all(|member| member.state != BackupMemberState::Missing)
            && status.members.iter().map(|member| member.host_id.clone()).collect::<BTreeSet<_>>()
                == hosts;
        let taken = status.window.filter(|_| is_base)?;
        Some(Base { id: status.id?, from: taken.from.0, to: taken.to?.0 })
    })
}
