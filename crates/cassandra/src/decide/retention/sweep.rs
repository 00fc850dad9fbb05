//! What was condemned is deleted by one member. What the repository does not let go of is asked
//! about again each day.

use super::expire::there;
use super::orders::{Active, answer, at_rest, chosen, give, now, release, saying};
use super::{DAILY, course, gives_way, read};
use crate::decide::backups::{Backup, known_repository};
use crate::decide::draft::Draft;
use crate::decide::transfers::{Answer, Said};
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::retention::{Delayed, Going, Gone, Waits};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::backup::{BackupPhase, SweepWork, Swept, TransferWork};
use palladion_api::cluster::{ClusterRetention, ExpiringBackup};

/// After what the store says of its clock an hour is left for the difference of ours.
const MARGIN: SignedDuration = SignedDuration::from_hours(1);

/// Go on.
pub fn advance(facts: &Facts<'_>, valid: &Valid, active: &Active, draft: &mut Draft) {
    let Some(own) = valid.backup.as_ref().filter(|_| known_repository(facts).is_some()) else {
        return gives_way::look_again(facts, active, draft);
    };
    if !there(facts, active).iter().all(|(_, backup)| read::is_there(facts, own, backup)) {
        return gives_way::look_again(facts, active, draft);
    }
    let id = active.order("sweep");
    let Some(member) = chosen(facts, &id) else {
        return gives_way::stuck(facts, valid, (active, &Waits::NoMember.into()), draft);
    };
    let said = answer(member, &id);
    match &said {
        Answer::Done(told) => {
            let Some(told) = &told.swept else {
                let why = Delayed::NoResult { member: member.name.clone() };
                return later(facts, active, &why.into(), draft);
            };
            return done(facts, active, (member, told), draft);
        }
        Answer::Failed(why) => return later(facts, active, why, draft),
        Answer::None | Answer::Going(_) => {}
    }
    let backups = active.record.backups.iter().map(|one| one.id.clone()).collect();
    let work = TransferWork { sweep: Some(SweepWork { backups }), ..TransferWork::default() };
    give(facts, (active, own), member, (id, work), draft);
    match &said {
        Answer::Going(Some(why)) => gives_way::stuck(facts, valid, (active, why), draft),
        Answer::None => gives_way::unanswered(facts, valid, (active, member), draft),
        Answer::Going(None) | Answer::Done(_) | Answer::Failed(_) => {
            gives_way::goes_on(facts, valid, active, draft);
        }
    }
}

/// What became of each; then nothing is under way any more.
fn done(
    facts: &Facts<'_>,
    active: &Active,
    (member, told): (&MemberFact, &Swept),
    draft: &mut Draft,
) {
    for (one, backup) in there(facts, active) {
        if backup.status.phase == Some(BackupPhase::Expiring) {
            of_one(facts, (one, &backup), told, draft);
        }
    }
    let again = again(facts, active, told);
    let why = again.and_then(|again| delayed(member, told, again));
    let record = ClusterRetention {
        sweep_at: again.map(Time),
        swept_at: now(facts),
        swept_bytes: Some(told.bytes),
        ..saying(at_rest(active), why.as_ref())
    };
    release(facts, active, &record, draft);
}

fn of_one(
    facts: &Facts<'_>,
    (one, backup): (&ExpiringBackup, &Backup<'_>),
    told: &Swept,
    draft: &mut Draft,
) {
    if told.backups.contains(&one.id) {
        return course::expired(facts, backup, Gone::Swept, draft);
    }
    if told.unknown.contains(&one.id) {
        // It was brought back from a copy of the store, perhaps: it is condemned again.
        let mut status = backup.status.clone();
        if let Some(expiry) = &mut status.expiry {
            expiry.condemned_at = None;
        }
        return course::write(facts, backup, status, Going::Decided, draft);
    }
    let stays = told.stay.iter().find(|staying| staying.backup == one.id);
    let why = stays.map(|staying| staying.why.clone()).unwrap_or_default();
    course::say(facts, backup, Going::NotSwept { why }, draft);
}

/// When to sweep again: as the repository says, and where it leaves out what it was asked.
fn again(facts: &Facts<'_>, active: &Active, told: &Swept) -> Option<Timestamp> {
    // A right that is missing does not come by itself: what is old enough by then waits, too.
    if told.refused.is_some() {
        return Some(facts.now() + DAILY);
    }
    let is_told = |one: &&ExpiringBackup| {
        told.backups.contains(&one.id)
            || told.unknown.contains(&one.id)
            || told.stay.iter().any(|staying| staying.backup == one.id)
    };
    let is_whole = active.record.backups.iter().all(|one| is_told(&one));
    let hours = told.again_in_hours.map(|hours| SignedDuration::from_hours(hours.into()) + MARGIN);
    hours.or((!is_whole).then_some(DAILY)).map(|wait| facts.now() + wait)
}

fn delayed(member: &MemberFact, told: &Swept, again: Timestamp) -> Option<Said> {
    if let Some(why) = &told.refused {
        let (member, why) = (member.name.clone(), why.clone());
        return Some(Delayed::Refused { member, why, again }.into());
    }
    let why = told.vetoed.clone()?;
    Some(Delayed::Vetoed { why, again }.into())
}

/// It is not tried again before a day has passed: somebody has to do something.
fn later(facts: &Facts<'_>, active: &Active, why: &Said, draft: &mut Draft) {
    let again = Some(Time(facts.now() + DAILY));
    let record = ClusterRetention { sweep_at: again, ..saying(at_rest(active), Some(why)) };
    release(facts, active, &record, draft);
}
