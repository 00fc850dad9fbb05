//! Backups are condemned: first their objects say that they expire, so that nothing is restored
//! from them any more; then one member is ordered to do it, and its answer is taken.

use super::orders::{Active, answer, at_rest, chosen, give, now, release, saying};
use super::{DAILY, GRACE, course, gives_way, read};
use crate::decide::backups::{Backup, Backups, known_repository};
use crate::decide::draft::Draft;
use crate::decide::transfers::{self, Answer, Found, Said, ordered};
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::retention::{Delayed, Going, Gone, Waits};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::backup::{BackupPhase, ExpireWork, Expired, TransferWork};
use palladion_api::cluster::{ClusterRetention, ExpiringBackup};
use palladion_api::reasons::Reason;
use palladion_plan::words::Message;

/// A backup of the record whose object is there.
type One<'a> = (&'a ExpiringBackup, Box<Backup<'a>>);

/// Go on.
pub fn advance(facts: &Facts<'_>, valid: &Valid, active: &Active, draft: &mut Draft) {
    let Some(own) = valid.backup.as_ref().filter(|_| known_repository(facts).is_some()) else {
        return gives_way::look_again(facts, active, draft);
    };
    let (all, id) = (there(facts, active), active.order("expire"));
    // An object that is gone, or that a newer operator has written, lets nothing expire any more.
    let is_ordered = facts.members.values().filter_map(ordered).any(|order| order.id == id);
    if all.len() < active.record.backups.len() && !is_ordered {
        return gives_way::look_again(facts, active, draft);
    }
    // Another place is another repository, whatever it is called.
    if !all.iter().all(|(_, backup)| read::is_there(facts, own, backup)) {
        return gives_way::look_again(facts, active, draft);
    }
    let new = || all.iter().filter(|(_, backup)| !is_expiring(backup));
    // A rule may have been corrected, and somebody may have begun to restore from one, since they
    // were taken up.
    let asked = read::all(facts);
    let still_goes = |backup: &Backup<'_>| {
        let mut asked = asked.iter();
        asked.any(|one| one.backup.uid() == backup.uid() && one.kept(facts, valid).is_none())
    };
    if new().any(|(_, backup)| !still_goes(backup)) {
        return gives_way::look_again(facts, active, draft);
    }
    if new().next().is_some() {
        return new().for_each(|(one, backup)| course::expiring(facts, backup, one.by, draft));
    }
    let Some(member) = chosen(facts, &id) else {
        return gives_way::stuck(facts, valid, (active, &Waits::NoMember.into()), draft);
    };
    let said = answer(member, &id);
    if let Answer::Done(told) = &said {
        return done(facts, (active, &all), (member, told.expired.as_ref()), draft);
    }
    if let Answer::Failed(why) = &said {
        return failed(facts, (active, &all), why, draft);
    }
    let work = ExpireWork {
        backups: active.record.backups.iter().map(|one| one.id.clone()).collect(),
        keep: active.record.keep.unwrap_or(1).max(1),
    };
    let work = TransferWork { expire: Some(work), ..TransferWork::default() };
    give(facts, (active, own), member, (id, work), draft);
    match &said {
        Answer::Going(Some(why)) => {
            all.iter().for_each(|(_, backup)| course::say(facts, backup, why.clone(), draft));
            gives_way::stuck(facts, valid, (active, why), draft);
        }
        Answer::None => gives_way::unanswered(facts, valid, (active, member), draft),
        Answer::Going(None) | Answer::Done(_) | Answer::Failed(_) => {
            gives_way::goes_on(facts, valid, active, draft);
        }
    }
}

/// The backups of the record that are there, and can be read.
pub fn there<'a>(facts: &'a Facts<'_>, active: &'a Active) -> Vec<One<'a>> {
    let found = |one: &'a ExpiringBackup| match transfers::of_uid::<Backups>(facts, &one.backup_uid)
    {
        Found::There(backup) => Some((one, backup)),
        Found::Deleted | Found::Unreadable => None,
    };
    active.record.backups.iter().filter_map(found).collect()
}

fn was_complete(backup: &Backup<'_>) -> bool {
    backup.status.expiry.as_ref().is_some_and(|expiry| expiry.after == BackupPhase::Complete)
}

fn is_expiring(backup: &Backup<'_>) -> bool {
    matches!(backup.status.phase, Some(BackupPhase::Expiring | BackupPhase::Expired))
}

/// What became of each; then nothing is under way any more.
fn done(
    facts: &Facts<'_>,
    (active, all): (&Active, &[One<'_>]),
    (member, told): (&MemberFact, Option<&Expired>),
    draft: &mut Draft,
) {
    let Some(told) = told else {
        let why = Delayed::NoResult { member: member.name.clone() };
        return failed(facts, (active, all), &why.into(), draft);
    };
    let mut stays = None;
    for (one, backup) in all {
        let is_among = |these: &[String]| these.contains(&one.id);
        if is_among(&told.condemned) {
            is_condemned(facts, backup, draft);
        } else if is_among(&told.absent) && !was_complete(backup) {
            course::expired(facts, backup, Gone::Absent { id: one.id.clone() }, draft);
        } else {
            let why = told.stay.iter().find(|staying| staying.backup == one.id);
            // One that was complete is in another place, perhaps: nobody forgets it.
            let absent = || Delayed::Absent { id: one.id.clone() }.to_string();
            let why = match why {
                Some(staying) => staying.why.clone(),
                None if is_among(&told.absent) => absent(),
                None => String::new(),
            };
            let backup_name = one.backup.clone();
            stays.get_or_insert(Delayed::Stays { backup: backup_name, why: why.clone() }.into());
            keeps(facts, backup, why, draft);
        }
    }
    let anything = told.objects > 0 || !told.condemned.is_empty();
    let due = Time(facts.now() + GRACE);
    let sweep_at = active.record.sweep_at.clone().or_else(|| anything.then_some(due));
    let condemned_at = anything.then(|| Time(facts.now())).or(active.record.condemned_at.clone());
    let why = stays.as_ref().cloned().or_else(|| swept_not(active));
    let record =
        ClusterRetention { sweep_at, condemned_at, ..saying(at_rest(active), why.as_ref()) };
    release(facts, active, &record, draft);
}

/// What the last sweep said stays until the next one.
fn swept_not(active: &Active) -> Option<Said> {
    let reason = Reason::read(active.record.reason.as_deref()?)?;
    let is_of_sweep = matches!(reason, Reason::RetentionVetoed | Reason::StoreRefused);
    let message = active.record.message.as_deref().filter(|_| is_of_sweep)?;
    Some(Said(reason, Message::quoted(message)))
}

/// It is not tried again before a day has passed: somebody has to do something.
fn failed(facts: &Facts<'_>, (active, all): (&Active, &[One<'_>]), why: &Said, draft: &mut Draft) {
    for (_, backup) in all {
        keeps(facts, backup, why.1.to_string(), draft);
    }
    let again_at = Some(Time(facts.now() + DAILY));
    let record = ClusterRetention { again_at, ..saying(at_rest(active), Some(why)) };
    release(facts, active, &record, draft);
}

/// The repository keeps it for now.
fn keeps(facts: &Facts<'_>, backup: &Backup<'_>, why: String, draft: &mut Draft) {
    let again = facts.now() + DAILY;
    let mut status = backup.status.clone();
    let Some(expiry) = &mut status.expiry else { return };
    // As it was written right before, if that is what was being done.
    if expiry.again_at.as_ref().is_some_and(|at| at.0 > facts.now()) {
        return;
    }
    expiry.again_at = Some(Time(again));
    // It is what it was: whoever needs it restores from it.
    if expiry.condemned_at.is_none() {
        status.phase = Some(expiry.after);
    }
    course::write(facts, backup, status, Going::Stays { why, again }, draft);
}

/// It is condemned, unless that is on record.
fn is_condemned(facts: &Facts<'_>, backup: &Backup<'_>, draft: &mut Draft) {
    let mut status = backup.status.clone();
    let Some(expiry) = status.expiry.as_mut().filter(|of| of.condemned_at.is_none()) else {
        return;
    };
    expiry.condemned_at = now(facts);
    expiry.again_at = None;
    let due = facts.now() + GRACE;
    course::write(facts, backup, status, Going::Condemned { due }, draft);
}
