//! A member whose snapshot is not sent does not leave: its tokens and its data are of the
//! backup.

use super::orders::Active;
use super::read;
use crate::facts::Facts;
use crate::words::backups::LeaveWaits;
use palladion_api::backup::{BackupMemberState as State, BackupPhase};

/// What a leave waits for, if a backup is under way that needs its members.
pub fn waits_for_uploads(facts: &Facts<'_>) -> Option<LeaveWaits> {
    let active = Active::read(facts)?;
    let read::Found::There(backup) = read::of_uid(facts, &active.uid) else {
        return None;
    };
    if backup.status.given_up.is_some() {
        return None;
    }
    let needs = match backup.status.phase? {
        BackupPhase::Snapshotting => true,
        BackupPhase::Uploading => {
            backup.status.members.iter().any(|m| !matches!(m.state, State::Done | State::Missing))
        }
        // The one that finishes compares the members with those of the ring.
        BackupPhase::Verifying => backup.status.manifest_hash.is_none(),
        // Nothing is taken yet: a store that is away holds up no leave.
        BackupPhase::Pending
        | BackupPhase::Preparing
        | BackupPhase::Complete
        | BackupPhase::Failed
        | BackupPhase::Aborted
        | BackupPhase::Expiring
        | BackupPhase::Expired => false,
    };
    needs.then(|| LeaveWaits::Uploads { backup: backup.name().to_string() })
}
