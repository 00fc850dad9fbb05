//! How a restore goes and how it ends, as its status reports it.

use super::read::Restore;
use crate::decide::draft::Draft;
use crate::decide::transfers::{self, Said, Standing};
use crate::facts::Facts;
use crate::words::restores::{Doing, Happened};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::restore::{CassandraRestoreStatus, RestorePhase};
use palladion_api::words::Message;
use palladion_plan::{Event, Step};

/// Write how it goes, where that differs.
pub fn write(
    facts: &Facts<'_>,
    restore: &Restore<'_>,
    status: CassandraRestoreStatus,
    said: impl Into<Said>,
    draft: &mut Draft,
) {
    draft.steps.extend(step(facts.now(), restore, status, &said.into()));
}

/// The same as a step; `None` where nothing differs.
pub fn step(
    now: Timestamp,
    restore: &Restore<'_>,
    mut status: CassandraRestoreStatus,
    said: &Said,
) -> Option<Step> {
    let phase = status.phase.unwrap_or(RestorePhase::Pending);
    let standing = match phase {
        RestorePhase::Complete => Standing::Complete,
        RestorePhase::Failed | RestorePhase::Aborted => Standing::Failed,
        RestorePhase::Pending
        | RestorePhase::Comparing
        | RestorePhase::Confirming
        | RestorePhase::Creating
        | RestorePhase::Loading
        | RestorePhase::Replaying
        | RestorePhase::Starting
        | RestorePhase::Finishing
        | RestorePhase::LoadingRoles
        | RestorePhase::Opening
        | RestorePhase::Repairing => Standing::Open,
    };
    status.conditions = transfers::conditions((restore, &status.conditions), (standing, said), now);
    status.phase = Some(phase);
    status.observed_generation = Some(restore.object.meta.generation);
    if phase.is_final() {
        status.ended_at = Some(Time(now));
        status.progress = None;
    }
    let doing = Doing::Report { restore: restore.name().to_string() };
    let event = event(restore.name(), phase, &said.1);
    transfers::step(restore, &status, doing, event)
}

fn event(restore: &str, phase: RestorePhase, message: &Message) -> Option<Event> {
    let (restore, said) = (restore.to_string(), message.to_string());
    match phase {
        RestorePhase::Complete => Some(Event::normal(Happened::Complete { restore, said })),
        RestorePhase::Failed => Some(Event::warning(Happened::Failed { restore, said })),
        RestorePhase::Aborted => Some(Event::normal(Happened::Aborted { restore, said })),
        RestorePhase::Pending
        | RestorePhase::Comparing
        | RestorePhase::Confirming
        | RestorePhase::Creating
        | RestorePhase::Loading
        | RestorePhase::Replaying
        | RestorePhase::Starting
        | RestorePhase::Finishing
        | RestorePhase::LoadingRoles
        | RestorePhase::Opening
        | RestorePhase::Repairing => None,
    }
}
