//! What is begun next: backups are condemned, or what was condemned a day ago is deleted.

use super::read::{self, Asked};
use super::{DAILY, GRACE, course, orders};
use crate::decide::backups::{Backup, known_repository};
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::validate::{Valid, ValidBackup};
use crate::words::retention::{Doing, Gone, Waits};
use jiff::Timestamp;
use palladion_api::backup::{ExpiredBy, MOST_EXPIRING};
use palladion_api::cluster::{ClusterRetention, ExpiringBackup, RetentionWork};
use std::collections::BTreeSet;

/// Nothing is under way.
pub fn next(facts: &Facts<'_>, valid: &Valid, is_free: bool, draft: &mut Draft) {
    let asked = read::all(facts);
    let record = facts.status.retention.clone().unwrap_or_default();
    let again = record.again_at.as_ref().map(|at| at.0).filter(|at| is_ahead(facts, *at));
    let can_reach = valid.backup.is_some() && known_repository(facts).is_some();
    let due = sweep_at(&record, &asked).filter(|_| can_reach);
    // By a clock that was ahead it would not be for years; the store's own decides what goes.
    let due = due.map(|due| if due > facts.now() + GRACE { facts.now() } else { due });
    let mut ready = Vec::new();
    for one in asked.iter().filter(|one| !is_condemned(&one.backup)) {
        match stays(facts, valid, one, draft) {
            Ready::Yes(id) => ready.push((one, id)),
            Ready::Not => {}
            Ready::Waits(why) => tell(facts, one, why, draft),
        }
    }
    let sweeps = due.is_some_and(|due| due <= facts.now());
    if ready.is_empty() && !sweeps {
        due.into_iter().for_each(|due| draft.wake_at(due));
        return;
    }
    let waits = match (again, is_free && is_idle(facts), can_be_done(facts)) {
        (Some(again), _, _) => {
            draft.wake_at(again);
            let why = record.message.clone().unwrap_or_default();
            Some(Waits::Later { why, again })
        }
        (None, false, _) => Some(Waits::Ring),
        (None, true, false) => Some(Waits::NoMember),
        (None, true, true) => None,
    };
    match waits {
        Some(why) => ready.into_iter().for_each(|(one, _)| tell(facts, one, why.clone(), draft)),
        None => match valid.backup.as_ref().filter(|_| sweeps) {
            Some(own) => take_sweep(facts, own, (record, &asked), draft),
            None => take(facts, record, ready, draft),
        },
    }
}

/// Is it to be waited for? What a clock has written that was set back since is not.
fn is_ahead(facts: &Facts<'_>, at: Timestamp) -> bool {
    at > facts.now() && at <= facts.now() + DAILY
}

/// Can it be condemned, as far as it alone is concerned?
enum Ready {
    /// It is in the repository of the ring, under this name.
    Yes(String),
    /// Not before this.
    Waits(Waits),
    /// There is nothing to do for it now.
    Not,
}

fn stays(facts: &Facts<'_>, valid: &Valid, one: &Asked<'_>, draft: &mut Draft) -> Ready {
    let status = &one.backup.status;
    let again = status.expiry.as_ref().and_then(|expiry| expiry.again_at.as_ref());
    if let Some(again) = again.filter(|again| is_ahead(facts, again.0)) {
        draft.wake_at(again.0);
        return Ready::Not;
    }
    let (Some(id), Some(_)) = (&status.id, &status.store) else {
        course::expired(facts, &one.backup, Gone::NeverBegun, draft);
        return Ready::Not;
    };
    if let Some(why) = one.kept(facts, valid).filter(|_| !one.is_decided()) {
        return Ready::Waits(why);
    }
    let cluster = valid.name.clone();
    let Some(own) = &valid.backup else {
        return Ready::Waits(Waits::NoStore { cluster });
    };
    match read::is_there(facts, own, &one.backup) {
        true => Ready::Yes(id.clone()),
        false => Ready::Waits(Waits::OtherStore { cluster, id: id.clone() }),
    }
}

/// A user is told what it waits for; what a rule lets go goes when it can.
fn tell(facts: &Facts<'_>, one: &Asked<'_>, why: Waits, draft: &mut Draft) {
    if one.by == ExpiredBy::User || one.is_decided() {
        course::say(facts, &one.backup, why, draft);
    }
}

fn is_condemned(backup: &Backup<'_>) -> bool {
    backup.status.expiry.as_ref().is_some_and(|expiry| expiry.condemned_at.is_some())
}

/// Is neither a backup nor a restore under way?
fn is_idle(facts: &Facts<'_>) -> bool {
    let backup = facts.status.backup.as_ref().and_then(|backup| backup.id.as_ref());
    backup.is_none() && facts.status.restore.is_none() && facts.ring_exists()
}

fn can_be_done(facts: &Facts<'_>) -> bool {
    orders::chosen(facts, "").is_some()
}

/// When what is condemned is to be deleted: as it is on record, or by what the backups say.
fn sweep_at(record: &ClusterRetention, asked: &[Asked<'_>]) -> Option<Timestamp> {
    let condemned = |one: &Asked<'_>| {
        let expiry = one.backup.status.expiry.as_ref()?;
        Some(expiry.condemned_at.as_ref()?.0 + GRACE)
    };
    let recorded = record.sweep_at.as_ref().map(|at| at.0);
    recorded.or_else(|| asked.iter().filter_map(condemned).min())
}

fn named(one: &Asked<'_>, id: &str) -> ExpiringBackup {
    ExpiringBackup {
        backup: one.backup.name().to_string(),
        backup_uid: one.backup.uid().clone(),
        id: id.to_string(),
        by: one.by,
    }
}

fn take(
    facts: &Facts<'_>,
    record: ClusterRetention,
    ready: Vec<(&Asked<'_>, String)>,
    draft: &mut Draft,
) {
    let these: Vec<ExpiringBackup> =
        ready.iter().take(MOST_EXPIRING).map(|(one, id)| named(one, id)).collect();
    let going: BTreeSet<String> = these.iter().map(|one| one.backup.clone()).collect();
    let backups = these.len();
    let record = ClusterRetention {
        work: Some(RetentionWork::Expire),
        keep: Some(read::least(facts, &going)),
        backups: these,
        ..begun(facts, record)
    };
    orders::take(facts, &record, (Doing::Take { backups }, None), draft);
}

fn take_sweep(
    facts: &Facts<'_>,
    own: &ValidBackup,
    (record, asked): (ClusterRetention, &[Asked<'_>]),
    draft: &mut Draft,
) {
    let condemned = asked.iter().filter(|one| is_condemned(&one.backup));
    let condemned = condemned.filter(|one| read::is_there(facts, own, &one.backup));
    let named = condemned.filter_map(|one| Some(named(one, one.backup.status.id.as_ref()?)));
    let record = ClusterRetention {
        work: Some(RetentionWork::Sweep),
        keep: None,
        backups: named.take(MOST_EXPIRING).collect(),
        ..begun(facts, record)
    };
    orders::take(facts, &record, (Doing::TakeSweep, None), draft);
}

/// What it was kept by stays on record until it is known better.
fn begun(facts: &Facts<'_>, record: ClusterRetention) -> ClusterRetention {
    let id = format!("retention-{}", Backup::new_id(facts));
    ClusterRetention { id: Some(id), since: orders::now(facts), again_at: None, ..record }
}
