//! How a backup goes and how it ends, as its status reports it.

use super::read::Backup;
use crate::decide::draft::Draft;
pub use crate::decide::transfers::Said;
use crate::decide::transfers::{self, Standing};
use crate::facts::Facts;
use crate::words::backups::{Doing, Happened};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::backup::{BackupPhase, CassandraBackupStatus};
use palladion_api::words::Message;
use palladion_plan::{Event, Step};

/// Write how it goes, where that differs.
pub fn write(
    facts: &Facts<'_>,
    backup: &Backup<'_>,
    status: CassandraBackupStatus,
    said: impl Into<Said>,
    draft: &mut Draft,
) {
    draft.steps.extend(step(facts.now(), backup, status, &said.into()));
}

/// The same as a step; `None` where nothing differs.
pub fn step(
    now: Timestamp,
    backup: &Backup<'_>,
    mut status: CassandraBackupStatus,
    said: &Said,
) -> Option<Step> {
    let phase = status.phase.unwrap_or(BackupPhase::Pending);
    let standing = match phase {
        BackupPhase::Complete => Standing::Complete,
        BackupPhase::Failed | BackupPhase::Aborted => Standing::Failed,
        BackupPhase::Pending
        | BackupPhase::Preparing
        | BackupPhase::Snapshotting
        | BackupPhase::Uploading
        | BackupPhase::Verifying
        // Of these `retention/` writes.
        | BackupPhase::Expiring
        | BackupPhase::Expired => Standing::Open,
    };
    status.conditions = transfers::conditions((backup, &status.conditions), (standing, said), now);
    status.phase = Some(phase);
    status.observed_generation = Some(backup.object.meta.generation);
    if phase.is_final() {
        status.ended_at.get_or_insert(Time(now));
        status.progress = None;
    }
    let doing = Doing::Report { backup: backup.name().to_string() };
    let event = event(backup.name(), phase, &said.1);
    transfers::step(backup, &status, doing, event)
}

fn event(backup: &str, phase: BackupPhase, message: &Message) -> Option<Event> {
    let (backup, said) = (backup.to_string(), message.to_string());
    match phase {
        BackupPhase::Complete => Some(Event::normal(Happened::Complete { backup, said })),
        BackupPhase::Failed => Some(Event::warning(Happened::Failed { backup, said })),
        BackupPhase::Aborted => Some(Event::normal(Happened::Aborted { backup, said })),
        BackupPhase::Pending
        | BackupPhase::Preparing
        | BackupPhase::Snapshotting
        | BackupPhase::Uploading
        | BackupPhase::Verifying
        | BackupPhase::Expiring
        | BackupPhase::Expired => None,
    }
}
