//! Backups that users ask for by a `CassandraBackup`: a table of contents. One at a
//! time of a ring is under way; it stands in the cluster's `status.backup`, and how far it
//! is in its own status. Each decision is made from what is stored there, so that a leader
//! that ends anywhere leaves nothing behind.

mod answers;
mod begin;
mod course;
mod delayed;
pub use delayed::Elsewhere;
mod deleted;
mod discard;
mod give_up;
mod history;
mod hold;
mod lacking;
mod leaving;
mod left_out;
mod lost;
mod one;
mod orders;
mod prepare;
mod read;
pub mod schedules;
mod schema;
mod snapshot;
mod upload;
mod verify;

use crate::decide::draft::Draft;
use crate::decide::turn::epoch;
use crate::facts::Facts;
use crate::validate::Valid;
pub use begin::{is_ready, known_repository};
pub use deleted::{end_all, end_one, say_without_cluster};
pub use hold::hold;
pub use leaving::waits_for_uploads;
pub use orders::Active;
use orders::Goes;
use palladion_api::backup::BackupPhase;
use read::Found;
pub use read::{Backup, Backups, is_over};
pub use verify::complete;

/// Go on with the backup that is under way, or begin the next one.
pub fn decide(facts: &Facts<'_>, valid: &Valid, elsewhere: Elsewhere, draft: &mut Draft) {
    if epoch::is_behind(facts) {
        return;
    }
    schedules::decide(facts, valid, elsewhere, draft);
    let waiting = read::open(facts);
    match Active::read(facts) {
        Some(active) => {
            match read::of_uid(facts, &active.uid) {
                Found::Deleted => deleted::discard(facts, valid, &active, draft),
                Found::Unreadable => {}
                Found::There(backup) if read::is_over(backup.object) => {
                    orders::release(&active, draft);
                }
                Found::There(backup) => advance(facts, valid, (&backup, &active), draft),
            }
            let others = waiting.iter().filter(|backup| *backup.uid() != active.uid);
            begin::say_queued(facts, others, &active.name, draft);
        }
        None => begin::next(facts, valid, &waiting, draft),
    }
}

fn advance(
    facts: &Facts<'_>,
    valid: &Valid,
    (backup, active): (&Backup<'_>, &Active),
    draft: &mut Draft,
) {
    if let Some(given_up) = &backup.status.given_up {
        let goes = Goes::of(backup, valid);
        return discard::discard(facts, goes.as_ref(), (backup, active, given_up), draft);
    }
    let Some(store) = give_up::store(facts, valid, (backup, active), draft) else {
        return;
    };
    if left_out::note(facts, backup, draft) {
        return;
    }
    let under_way = (backup, active, &store);
    left_out::discard(facts, under_way, draft);
    match backup.status.phase {
        None | Some(BackupPhase::Pending) => begin::record(facts, (backup, active, &store), draft),
        Some(BackupPhase::Preparing) => prepare::prepare(facts, under_way, draft),
        Some(BackupPhase::Snapshotting) if backup.status.view.is_none() => {
            snapshot::snapshot(facts, under_way, draft);
        }
        Some(BackupPhase::Snapshotting) => schema::describe(facts, under_way, draft),
        Some(BackupPhase::Uploading) => upload::upload(facts, under_way, draft),
        Some(BackupPhase::Verifying) => verify::verify(facts, under_way, draft),
        // Asked above.
        Some(
            BackupPhase::Complete
            | BackupPhase::Failed
            | BackupPhase::Aborted
            | BackupPhase::Expiring
            | BackupPhase::Expired,
        ) => {}
    }
}
