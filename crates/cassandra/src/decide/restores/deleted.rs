//! Restores that are not there any more, or whose ring goes: nobody carries them out.

use super::abandon::{Left, take_back};
use super::course::{step, write};
use super::orders::{self, Active};
use super::{read, whole};
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::validate::Valid;
use crate::words::restores::{Failed, Happened, Pending};
use jiff::Timestamp;
use palladion_api::restore::{CassandraRestoreStatus, RestorePhase};
use palladion_plan::{Event, Object, Step};

/// The object of the restore that is under way was deleted: what was set is taken back.
pub fn end(facts: &Facts<'_>, valid: &Valid, active: &Active, draft: &mut Draft) {
    if whole::goes_on_without_object(facts, (active, valid.backup.as_ref()), draft) {
        return;
    }
    match take_back(facts, valid, active, draft) {
        Left::Waiting => {}
        // Its ring stays closed, which the cluster says.
        Left::Nothing | Left::Grace { .. } if whole::keeps_closed(facts, active) => {}
        Left::Nothing => orders::release(active, draft),
        Left::Grace { cause, seconds, tables } => {
            let restore = active.record.restore.clone();
            let event = Event::warning(Happened::GraceLeft { restore, cause, seconds, tables });
            orders::release_telling(active, event, draft);
        }
    }
}

/// The cluster of a restore is gone.
pub fn end_one(object: &Object, cluster: String, now: Timestamp) -> Option<Step> {
    let restore = read::Restore::read(object)?;
    let phase = Some(RestorePhase::Failed);
    let status = CassandraRestoreStatus { phase, ..restore.status.clone() };
    step(now, &restore, status, &Failed::ClusterDeleted { cluster }.into())
}

/// The cluster of a restore has never been there: that is said, and waited for.
pub fn say_without_cluster(object: &Object, cluster: String, now: Timestamp) -> Option<Step> {
    let restore = read::Restore::read(object)?;
    let status = restore.status.clone();
    step(now, &restore, status, &Pending::NoCluster { cluster }.into())
}

/// The cluster is being deleted, which is not taken back.
pub fn end_all(facts: &Facts<'_>, draft: &mut Draft) {
    let cluster = &facts.snapshot.owner.meta.name;
    for restore in read::open(facts) {
        let phase = Some(RestorePhase::Failed);
        let status = CassandraRestoreStatus { phase, ..restore.status.clone() };
        let why = Failed::ClusterDeleted { cluster: cluster.clone() };
        write(facts, &restore, status, why, draft);
    }
}
