//! How a backup goes and how it ends, as its status reports it.

use super::read::Backup;
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::resources as kinds;
use crate::words::backups::{Doing, Happened};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::backup::{BackupPhase, CassandraBackupStatus};
use palladion_api::conditions::{COMPLETE, FAILED};
use palladion_api::reasons::Reason;
use palladion_api::words::{Message, Reasoned};
use palladion_plan::difference::difference;
use palladion_plan::{Conditions, Event, Step, Truth};
use serde_json::json;

/// A sentence with its reason.
pub struct Said(pub Reason, pub Message);

impl<S: Reasoned> From<S> for Said {
    fn from(sentence: S) -> Self {
        Self(sentence.reason(), sentence.into())
    }
}

/// Write how it goes, where that differs. As it was seen: a leader that was frozen must not
/// write over its successor's words.
pub fn write(
    facts: &Facts<'_>,
    backup: &Backup<'_>,
    status: CassandraBackupStatus,
    said: impl Into<Said>,
    draft: &mut Draft,
) {
    draft.steps.extend(step(facts.now(), backup, status, said.into()));
}

/// The same as a step; `None` where nothing differs.
pub fn step(
    now: Timestamp,
    backup: &Backup<'_>,
    mut status: CassandraBackupStatus,
    Said(reason, message): Said,
) -> Option<Step> {
    let meta = &backup.object.meta;
    let phase = status.phase.unwrap_or(BackupPhase::Pending);
    let (complete, failed) = match phase {
        BackupPhase::Complete => (Truth::True, Truth::False),
        BackupPhase::Failed | BackupPhase::Aborted => (Truth::False, Truth::True),
        BackupPhase::Pending
        | BackupPhase::Preparing
        | BackupPhase::Snapshotting
        | BackupPhase::Uploading
        | BackupPhase::Verifying => (Truth::False, Truth::False),
    };
    let mut conditions = Conditions::new(&status.conditions, meta.generation, now);
    conditions.set(COMPLETE, complete, reason, &message);
    conditions.set(FAILED, failed, reason, &message);
    status.conditions = conditions.all().to_vec();
    status.phase = Some(phase);
    status.observed_generation = Some(meta.generation);
    if phase.is_final() {
        status.ended_at = Some(Time(now));
        status.progress = None;
    }
    let change = difference(backup.object.at("/status"), &json!(status))?;
    let doing = Doing::Report { backup: backup.name().to_string() };
    let patch = json!({ "status": change });
    let step = Step::patch_status_as_seen(kinds::BACKUP, meta, patch, doing);
    let event = event(backup.name(), phase, &message);
    let event = event.map(|event| event.also_about(kinds::BACKUP, meta));
    Some(step.announced(event))
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
        | BackupPhase::Verifying => None,
    }
}
