//! The snapshots: of all members at once, without a turn. Tokens, members and schema are the
//! same on every member before and after, or they are taken anew, three times.

use super::answers::{Answer, answer, followed, member, waits};
use super::course::{Said, write};
use super::orders::{UnderWay, give};
use super::read::{Backup, count, is_in, leaves_out, waiting};
use super::{give_up, lacking, lost};
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::words::backups::{Failed, Phase};
use jiff::SignedDuration;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::backup::{
    BackupMember, BackupMemberState as State, BackupPhase, BackupWindow, CassandraBackupStatus,
    RingView, SnapshotWork, TransferWork,
};

/// They are taken so often.
pub const ATTEMPTS: u32 = 3;
/// The server clears a snapshot by itself so many seconds after the backup's time is over.
const LONGER: i64 = 3_600;
/// The least that a server takes.
const LEAST_TTL: u64 = 60;

/// When the window begins is on record before the first member is told.
pub fn begin(
    facts: &Facts<'_>,
    backup: &Backup<'_>,
    (members, attempt): (Vec<BackupMember>, u32),
    draft: &mut Draft,
) {
    let members = members.iter().map(waiting).collect();
    let status = CassandraBackupStatus {
        phase: Some(BackupPhase::Snapshotting),
        attempt: Some(attempt),
        window: Some(BackupWindow { from: Time(facts.now()), to: None }),
        view: None,
        members,
        ..backup.status.clone()
    };
    let members = count(&status.members);
    write(facts, backup, status, Phase::Snapshotting { done: 0, members, attempt }, draft);
}

/// The ring was not the same before and after, or a member has failed, and why.
pub fn again(facts: &Facts<'_>, backup: &Backup<'_>, why: Option<&Said>, draft: &mut Draft) {
    let attempt = backup.attempt();
    // What a move leaves to be repaired is not on record yet: a snapshot of it counts for nobody.
    let is_moved = leaves_out(&backup.status.members) && lost::moving(facts).is_some();
    if attempt < ATTEMPTS && !is_moved {
        let noted = |entry: &BackupMember| lacking::noted(facts, backup, entry);
        let members = backup.status.members.iter().map(noted).collect();
        return begin(facts, backup, (members, attempt + 1), draft);
    }
    let changed = || Said::from(Failed::TopologyChanged { attempts: attempt });
    match why {
        Some(why) => give_up::because(facts, backup, why, draft),
        None => give_up::because(facts, backup, &changed(), draft),
    }
}

/// Order them of all, and go on once all have taken theirs.
pub fn snapshot(facts: &Facts<'_>, under_way: UnderWay<'_, '_>, draft: &mut Draft) {
    let (backup, active, store) = under_way;
    let attempt = backup.attempt();
    let id = active.order(&format!("snapshot-{attempt}"));
    let order = || SnapshotWork {
        tag: active.tag(attempt),
        ttl_seconds: ttl(backup),
        keyspaces: backup.spec.keyspaces.clone(),
    };
    let (mut members, mut answers, mut views) = (Vec::new(), Vec::new(), Vec::new());
    let mut orders = Draft::default();
    for entry in &backup.status.members {
        if !is_in(entry) {
            members.push(entry.clone());
            continue;
        }
        let Some(of) = member(facts, entry) else {
            members.push(followed(entry, &Answer::None));
            continue;
        };
        let said = answer(of, &id);
        match &said {
            // A part of it may have been taken, and a tag is used once.
            Answer::Failed(why) => return again(facts, backup, Some(why), draft),
            Answer::Done(told) => views.extend([told.before.clone(), told.after.clone()]),
            Answer::None | Answer::Going(_) => {}
        }
        members.push(followed(entry, &said));
        let work = TransferWork { snapshot: Some(order()), ..TransferWork::default() };
        give(facts, (active, store), (entry, of), (id.clone(), work), &mut orders);
        answers.push((of, said));
    }
    draft.take(orders);
    let done = members.iter().filter(|entry| entry.state == State::Done).count();
    let all = count(&members);
    if done == all {
        return match same(&views) {
            Some(view) => taken(facts, backup, view, draft),
            None => again(facts, backup, None, draft),
        };
    }
    let status = CassandraBackupStatus { members, ..backup.status.clone() };
    let why = waits(facts, answers);
    let going = Phase::Snapshotting { done, members: all, attempt };
    write(facts, backup, status, why.unwrap_or_else(|| going.into()), draft);
}

/// The view that all of them had, before and after. One that is not told is none.
fn same(views: &[Option<RingView>]) -> Option<RingView> {
    let first = views.first()?.as_ref()?;
    views.iter().all(|view| view.as_ref() == Some(first)).then(|| first.clone())
}

/// When the window ends: all answers have been read.
fn taken(facts: &Facts<'_>, backup: &Backup<'_>, view: RingView, draft: &mut Draft) {
    let from = backup.status.window.as_ref().map_or(Time(facts.now()), |w| w.from.clone());
    // Times are stored in whole seconds: what was written in this one may be in the backup. And
    // another leader's clock may be behind.
    let to = Time((facts.now() + SignedDuration::from_secs(1)).max(from.0));
    let window = Some(BackupWindow { from, to: Some(to) });
    let members = backup.status.members.iter().map(waiting).collect();
    let view = Some(view);
    let status = CassandraBackupStatus { window, view, members, ..backup.status.clone() };
    write(facts, backup, status, Phase::Describing, draft);
}

/// Until the backup's time is over, and an hour: the same at each decision.
fn ttl(backup: &Backup<'_>) -> u64 {
    let from = backup.status.window.as_ref().map(|window| window.from.0.as_second());
    let until = backup.deadline().map(jiff::Timestamp::as_second);
    let seconds = until.zip(from).map_or(0, |(until, from)| until - from + LONGER);
    u64::try_from(seconds).unwrap_or_default().max(LEAST_TTL)
}
