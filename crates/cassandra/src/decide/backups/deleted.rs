//! Backups that are not there any more, or whose ring goes: nobody carries them out.

use super::answers::waiting;
use super::course::{step, write};
use super::orders::{self, Active, Goes};
use super::snapshot::ATTEMPTS;
use super::{discard, read};
use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::backups::{Failed, Pending};
use jiff::Timestamp;
use palladion_api::backup::{BackupMember, BackupPhase, CassandraBackupStatus};
use palladion_plan::{Object, Step};

/// The object of the backup that is under way was deleted: what it has left is discarded.
pub fn discard(facts: &Facts<'_>, valid: &Valid, active: &Active, draft: &mut Draft) {
    let since = facts.status.backup.as_ref().and_then(|backup| backup.discarding_since.clone());
    let Some(since) = since else {
        return orders::note_discarding(facts, active, draft);
    };
    let entry = |member: &MemberFact| {
        let order = member.spec.as_ref()?.transfer.as_ref().filter(|order| active.is_of(order))?;
        Some(waiting(member, (&order.host_id, &order.volume_id)))
    };
    let entries: Vec<BackupMember> = facts.members.values().filter_map(entry).collect();
    // Where it went is on record in the orders alone; another store has nothing of it.
    let goes = valid.backup.as_ref().map(Goes::now);
    // It does not say any more how often its snapshots were taken.
    let all = (entries.as_slice(), ATTEMPTS, true);
    if discard::is_done(facts, goes.as_ref(), (active, since.0), all, draft) {
        orders::release(active, draft);
    }
}

/// The cluster of a backup is gone.
pub fn end_one(object: &Object, cluster: String, now: Timestamp) -> Option<Step> {
    let backup = read::Backup::read(object)?;
    let status =
        CassandraBackupStatus { phase: Some(BackupPhase::Failed), ..backup.status.clone() };
    step(now, &backup, status, &Failed::ClusterDeleted { cluster }.into())
}

/// The cluster of a backup has never been there: that is said, and waited for.
pub fn say_without_cluster(object: &Object, cluster: String, now: Timestamp) -> Option<Step> {
    let backup = read::Backup::read(object)?;
    step(now, &backup, backup.status.clone(), &Pending::NoCluster { cluster }.into())
}

/// The cluster is being deleted, which is not taken back.
pub fn end_all(facts: &Facts<'_>, draft: &mut Draft) {
    let cluster = &facts.snapshot.owner.meta.name;
    for backup in read::open(facts) {
        let phase = Some(BackupPhase::Failed);
        let status = CassandraBackupStatus { phase, ..backup.status.clone() };
        let why = Failed::ClusterDeleted { cluster: cluster.clone() };
        write(facts, &backup, status, why, draft);
    }
}
