//! When a backup is given up: a user takes it back, its time is over, or it cannot become
//! complete any more. That is on record before anything is discarded.

use super::answers::is_lost;
use super::course::{Said, write};
use super::orders::{Active, Goes};
use super::read::Backup;
use crate::decide::draft::Draft;
use crate::decide::transfers::given_up;
use crate::facts::Facts;
use crate::validate::Valid;
use crate::words::backups::{Failed, Phase};
use palladion_api::backup::{BackupMemberState, BackupPhase, CassandraBackupStatus};

/// Where the backup goes, if it goes on.
pub fn store(
    facts: &Facts<'_>,
    valid: &Valid,
    (backup, active): (&Backup<'_>, &Active),
    draft: &mut Draft,
) -> Option<Goes> {
    if taken_back(facts, backup, draft) {
        return None;
    }
    if let Some(why) = spoilt(facts, valid, (backup, active)) {
        because(facts, backup, &why.into(), draft);
        return None;
    }
    Goes::of(backup, valid)
}

/// Does a user take it back, or is its time over? Then that goes on record.
pub fn taken_back(facts: &Facts<'_>, backup: &Backup<'_>, draft: &mut Draft) -> bool {
    if backup.status.given_up.is_some() {
        return false;
    }
    let id = || backup.status.id.clone().unwrap_or_default();
    let is_written = backup.status.manifest_hash.is_some();
    let seconds = backup.spec.deadline_seconds;
    let why = match (backup.spec.abort, backup.deadline()) {
        (true, _) if is_written => Failed::AbortedLate { id: id() },
        (true, _) => Failed::Aborted,
        (false, Some(deadline)) if deadline > facts.now() => {
            draft.wake_at(deadline);
            return false;
        }
        (false, Some(_)) if is_written => Failed::DeadlineLate { seconds, id: id() },
        (false, Some(_)) => Failed::Deadline { seconds },
        (false, None) => return false,
    };
    because(facts, backup, &why.into(), draft);
    true
}

/// What has changed so that it cannot become complete.
fn spoilt(
    facts: &Facts<'_>,
    valid: &Valid,
    (backup, active): (&Backup<'_>, &Active),
) -> Option<Failed> {
    let Some(store) = &valid.backup else {
        return Some(Failed::NoStore { cluster: valid.name.clone() });
    };
    let status = &backup.status;
    if status.repository_id.as_ref().is_some_and(|id| *id != active.repository) {
        return Some(Failed::OtherRepository);
    }
    let other_place = status.store.as_ref().is_some_and(|place| *place != store.place);
    if other_place || status.sealed.is_some_and(|sealed| sealed != store.is_sealed) {
        return Some(Failed::StoreChanged { cluster: valid.name.clone() });
    }
    // What was sent is there, whatever becomes of the member; who finishes compares the members.
    // And where members may be left out, one that is lost is.
    let is_sent = status.phase == Some(BackupPhase::Verifying) || backup.leaves_out();
    let lost = |entry: &&palladion_api::backup::BackupMember| {
        entry.state != BackupMemberState::Done && is_lost(facts, entry)
    };
    let entry = status.members.iter().find(lost).filter(|_| !is_sent)?;
    Some(Failed::MemberLost { member: entry.name.clone() })
}

/// It cannot become complete any more.
pub fn because(facts: &Facts<'_>, backup: &Backup<'_>, why: &Said, draft: &mut Draft) {
    let given_up = given_up(facts, why);
    let said = Phase::Discarding { why: given_up.message.clone() };
    let status = CassandraBackupStatus { given_up: Some(given_up), ..backup.status.clone() };
    write(facts, backup, status, said, draft);
}
