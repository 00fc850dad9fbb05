//! The end: one member checks what all have sent and writes the manifest; another one, of
//! another rack if there is one, reads it back. Both tell one hash.

use super::answers::{Answer, answer, without_result};
use super::course::{Said, write};
use super::give_up;
use super::left_out;
use super::one::{One, all, ask, chosen, has_order};
use super::orders::UnderWay;
use super::read::{Backup, count, is_in};
use crate::decide::draft::Draft;
use crate::decide::transfers::given_up;
use crate::facts::Facts;
use crate::words::backups::{Complete, Failed, Phase};
use palladion_api::backup::{
    BackupMember, BackupPhase, BackupVerify, CassandraBackupStatus, FinishWork, TransferStatus,
    TransferWork, VerifyWork,
};
use palladion_plan::words::{Count, Names};

/// Order it of one, then of another one.
pub fn verify(facts: &Facts<'_>, under_way: UnderWay<'_, '_>, draft: &mut Draft) {
    match &under_way.0.status.manifest_hash {
        None => finish(facts, under_way, draft),
        Some(hash) => read_back(facts, under_way, hash, draft),
    }
}

fn finish(facts: &Facts<'_>, under_way: UnderWay<'_, '_>, draft: &mut Draft) {
    let (backup, active, _) = under_way;
    let id = active.order(&left_out::named(facts, backup, "finish"));
    let Some((entry, of)) = chosen(facts, &backup.status.members, &id) else {
        return;
    };
    let said = answer(of, &id);
    if matches!(said, Answer::Failed(_))
        && left_out::asks_again(facts, backup, of.status.transfer.as_ref())
    {
        return;
    }
    if let Answer::Done(told) = said {
        let Some(hash) = &told.manifest_hash else {
            return give_up::because(facts, backup, &without_result(of), draft);
        };
        let status = CassandraBackupStatus {
            manifest_hash: Some(hash.clone()),
            finished_by: Some(of.name.clone()),
            ..backup.status.clone()
        };
        return write(facts, backup, status, Phase::ReadingBack, draft);
    }
    let Some(work) = order(facts, backup) else {
        return;
    };
    let work = TransferWork { finish: Some(work), ..TransferWork::default() };
    ask(facts, under_way, (entry, of), (id, work, Phase::Finishing), draft);
}

/// What all have sent. One that has not told is not waited for here: it has no phase of this.
fn order(facts: &Facts<'_>, backup: &Backup<'_>) -> Option<FinishWork> {
    let window = backup.status.window.as_ref()?;
    let sent = |entry: &BackupMember| left_out::sent(facts, backup, entry);
    Some(FinishWork {
        from: window.from.clone(),
        to: window.to.clone()?,
        members: backup
            .status
            .members
            .iter()
            .filter(|entry| is_in(entry))
            .map(sent)
            .collect::<Option<_>>()?,
        quorum: left_out::quorum(facts, backup),
        read_all: backup.spec.verify == BackupVerify::Read,
    })
}

fn read_back(facts: &Facts<'_>, under_way: UnderWay<'_, '_>, hash: &String, draft: &mut Draft) {
    let (backup, active, _) = under_way;
    let id = active.order("verify");
    let Some((entry, of)) = second(facts, backup, &id) else {
        return;
    };
    if let Answer::Done(told) = answer(of, &id) {
        return told_of(facts, backup, (hash, told), draft);
    }
    let order = VerifyWork { read_all: backup.spec.verify == BackupVerify::Read };
    let work = TransferWork { verify: Some(order), ..TransferWork::default() };
    ask(facts, under_way, (entry, of), (id, work, Phase::ReadingBack), draft);
}

fn told_of(
    facts: &Facts<'_>,
    backup: &Backup<'_>,
    (hash, told): (&String, &TransferStatus),
    draft: &mut Draft,
) {
    let mut status = backup.status.clone();
    if told.manifest_hash.as_ref() != Some(hash) {
        let why = Said::from(Failed::OtherManifest);
        return give_up::because(facts, backup, &why, draft);
    }
    if let Some(damaged) = told.damaged.first() {
        let (object, wrong) = (damaged.object.clone(), damaged.wrong.clone());
        let objects = Count::of(i32::try_from(told.damaged.len()).unwrap_or(i32::MAX), "object");
        let id = status.id.clone().unwrap_or_default();
        let why = Said::from(Failed::Damaged { objects, object, wrong, id });
        status.damaged.clone_from(&told.damaged);
        status.given_up = Some(given_up(facts, &why));
        return write(facts, backup, status, why, draft);
    }
    status.phase = Some(BackupPhase::Complete);
    let said = complete(&status);
    write(facts, backup, status, said, draft);
}

/// It is complete, and what can come of it.
pub fn complete(status: &CassandraBackupStatus) -> Complete {
    let totals = status.totals.clone().unwrap_or_default();
    let (members, files, bytes) = (count(&status.members), totals.files, totals.bytes);
    let unfit = status.schema.as_ref().and_then(|schema| schema.unfit.clone());
    let without = status.members.iter().filter(|entry| !is_in(entry)).map(|entry| &entry.name);
    let without = Names::of(without);
    match (unfit, status.members.len() > members) {
        (None, false) => Complete::Checked { members, files, bytes },
        (Some(why), false) => Complete::CheckedForTables { members, files, bytes, why },
        (None, true) => Complete::CheckedWithout { members, files, bytes, without },
        (Some(why), true) => {
            Complete::CheckedForTablesWithout { members, files, bytes, without, why }
        }
    }
}

/// Another member than the one that has written the manifest, of another rack first; that one
/// alone where there is no other.
fn second<'a>(facts: &'a Facts<'_>, backup: &'a Backup<'_>, id: &str) -> Option<One<'a>> {
    let entries = &backup.status.members;
    let by = backup.status.finished_by.as_ref();
    let rack = by.and_then(|name| facts.members.get(name)).map(|of| &of.rack);
    let others = all(facts, entries).filter(|(entry, _)| Some(&entry.name) != by);
    let is_up = |(_, of): &One<'_>| of.is_live(&facts.nodes);
    let elsewhere = |(_, of): &One<'_>| Some(&of.rack) != rack;
    let at_it = others.clone().find(|one| has_order(one, id) && is_up(one));
    let found = at_it.or_else(|| others.clone().find(|one| is_up(one) && elsewhere(one)));
    let other = found.or_else(|| others.clone().find(is_up)).or_else(|| others.clone().next());
    // All others are left out, or were replaced after they had sent what they have.
    other.or_else(|| all(facts, entries).next())
}
