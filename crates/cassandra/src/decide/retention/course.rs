//! How a backup expires, as its status reports it.

use crate::decide::backups::{Backup, complete};
use crate::decide::draft::Draft;
use crate::decide::transfers::{self, Said, Whose};
use crate::facts::Facts;
use crate::words::retention::{Doing, Going, Gone, Happened};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::backup::{BackupExpiry, BackupPhase, CassandraBackupStatus, ExpiredBy};
use palladion_api::conditions::{COMPLETE, EXPIRED};
use palladion_plan::{Conditions, Event, Truth};

/// Write how it goes, where that differs. That it has failed stays to be read, with the cause; that
/// it is complete is no longer so once it expires.
pub fn write(
    facts: &Facts<'_>,
    backup: &Backup<'_>,
    mut status: CassandraBackupStatus,
    said: impl Into<Said>,
    draft: &mut Draft,
) {
    let (Said(reason, message), meta) = (said.into(), &backup.object.meta);
    let is_expired = status.phase == Some(BackupPhase::Expired);
    let mut conditions = Conditions::new(&status.conditions, meta.generation, facts.now());
    let truth = if is_expired { Truth::True } else { Truth::False };
    conditions.set(EXPIRED, truth, reason, &message);
    if status.phase == Some(BackupPhase::Complete) && status.expiry.is_some() {
        let again = Said::from(complete(&status));
        conditions.set(COMPLETE, Truth::True, again.0, &again.1);
    } else if status.expiry.as_ref().is_some_and(|expiry| expiry.after == BackupPhase::Complete) {
        conditions.set(COMPLETE, Truth::False, reason, &message);
    }
    status.conditions = conditions.all().to_vec();
    status.observed_generation = Some(meta.generation);
    let name = || backup.name().to_string();
    let before = backup.status.phase;
    let begins = status.phase == Some(BackupPhase::Expiring) && before != status.phase;
    let event = match (is_expired, begins) {
        (true, _) => {
            let said = message.to_string();
            Some(Event::normal(Happened::Expired { backup: name(), said }))
        }
        (false, true) => Some(Event::normal(Happened::Expiring { backup: name() })),
        (false, false) => None,
    };
    let doing = Doing::Report { backup: name() };
    // A leader that was frozen must not let a backup expire that its successor has kept.
    let step = transfers::step(backup, &status, doing, event);
    draft
        .steps
        .extend(step.map(|step| transfers::fenced(facts, [Whose::Retention.under_way()], step)));
}

/// The same phase, and what it waits for.
pub fn say(facts: &Facts<'_>, backup: &Backup<'_>, said: impl Into<Said>, draft: &mut Draft) {
    write(facts, backup, backup.status.clone(), said, draft);
}

/// It is decided that it expires.
pub fn expiring(facts: &Facts<'_>, backup: &Backup<'_>, by: ExpiredBy, draft: &mut Draft) {
    let after = backup.status.phase.unwrap_or(BackupPhase::Failed);
    let expiry =
        BackupExpiry { after, by, since: Time(facts.now()), condemned_at: None, again_at: None };
    let (phase, expiry) = (Some(BackupPhase::Expiring), Some(expiry));
    let status = CassandraBackupStatus { phase, expiry, ..backup.status.clone() };
    write(facts, backup, status, Going::Decided, draft);
}

/// It has expired.
pub fn expired(facts: &Facts<'_>, backup: &Backup<'_>, said: Gone, draft: &mut Draft) {
    let phase = Some(BackupPhase::Expired);
    write(facts, backup, CassandraBackupStatus { phase, ..backup.status.clone() }, said, draft);
}
