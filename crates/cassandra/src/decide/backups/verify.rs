//! The end: one member checks what all have sent and writes the manifest; another one, of
//! another rack if there is one, reads it back. Both tell one hash.

use super::answers::{Answer, answer, member, without_result};
use super::begin::given_up;
use super::course::{Said, write};
use super::give_up;
use super::orders::{UnderWay, give};
use super::read::Backup;
use super::schema::chosen;
use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::words::backups::{Complete, Failed, Member, Phase};
use palladion_api::backup::{
    BackupMember, BackupPhase, BackupVerify, CassandraBackupStatus, FinishWork, SentManifest,
    TransferStatus, TransferWork, VerifyWork,
};
use palladion_api::reasons::Reason;
use palladion_plan::words::Count;

/// Order it of one, then of another one.
pub fn verify(facts: &Facts<'_>, under_way: UnderWay<'_, '_>, draft: &mut Draft) {
    match &under_way.0.status.manifest_hash {
        None => finish(facts, under_way, draft),
        Some(hash) => read_back(facts, under_way, hash, draft),
    }
}

fn finish(facts: &Facts<'_>, under_way: UnderWay<'_, '_>, draft: &mut Draft) {
    let (backup, active, _) = under_way;
    let id = active.order("finish");
    let Some((entry, of)) = chosen(facts, &backup.status.members, &id) else {
        return;
    };
    if let Answer::Done(told) = answer(of, &id) {
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
    let Some(work) = order(backup) else {
        return;
    };
    let work = TransferWork { finish: Some(work), ..TransferWork::default() };
    ask(facts, under_way, (entry, of), (id, work, Phase::Finishing), draft);
}

/// What all have sent. One that has not told is not waited for here: it has no phase of this.
fn order(backup: &Backup<'_>) -> Option<FinishWork> {
    let window = backup.status.window.as_ref()?;
    let sent = |entry: &BackupMember| {
        let uploaded = entry.uploaded.as_ref()?;
        Some(SentManifest {
            host_id: entry.host_id.clone(),
            checkpoint: uploaded.checkpoint,
            sha256: uploaded.sha256.clone(),
        })
    };
    Some(FinishWork {
        from: window.from.clone(),
        to: window.to.clone()?,
        members: backup.status.members.iter().map(sent).collect::<Option<_>>()?,
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
    let members = status.members.len();
    let totals = status.totals.clone().unwrap_or_default();
    let said = Complete::Checked { members, files: totals.files, bytes: totals.bytes };
    write(facts, backup, status, said, draft);
}

/// Another member than the one that has written the manifest, of another rack first; that one
/// alone where there is no other.
fn second<'a>(
    facts: &'a Facts<'_>,
    backup: &'a Backup<'_>,
    id: &str,
) -> Option<(&'a BackupMember, &'a MemberFact)> {
    let entries = &backup.status.members;
    let by = backup.status.finished_by.as_ref();
    let rack = by.and_then(|name| facts.members.get(name)).map(|of| &of.rack);
    let all = || entries.iter().filter_map(|entry| Some((entry, member(facts, entry)?)));
    if entries.len() == 1 {
        return all().next();
    }
    let others = || all().filter(|(entry, _)| Some(&entry.name) != by);
    let is_up = |(_, of): &(&BackupMember, &MemberFact)| of.is_live(&facts.nodes);
    let has_order = |(_, of): &(&BackupMember, &MemberFact)| {
        let order = of.spec.as_ref().and_then(|spec| spec.transfer.as_ref());
        order.is_some_and(|order| order.id == id)
    };
    let elsewhere = |(_, of): &(&BackupMember, &MemberFact)| Some(&of.rack) != rack;
    let at_it = others().find(|one| has_order(one) && is_up(one));
    let found = at_it.or_else(|| others().find(|one| is_up(one) && elsewhere(one)));
    found.or_else(|| others().find(is_up)).or_else(|| others().next())
}

fn ask(
    facts: &Facts<'_>,
    (backup, active, store): UnderWay<'_, '_>,
    (entry, of): (&BackupMember, &MemberFact),
    (id, work, phase): (String, TransferWork, Phase),
    draft: &mut Draft,
) {
    let said = answer(of, &id);
    if let Answer::Failed(why) = &said {
        return give_up::because(facts, backup, why, draft);
    }
    give(facts, (active, store), (entry, of), (id, work), draft);
    let why = match said {
        Answer::Going(Some(why)) => why,
        Answer::None if !of.is_live(&facts.nodes) => {
            Said::from(Member::Down { member: of.name.clone() })
        }
        Answer::None | Answer::Going(None) | Answer::Done(_) | Answer::Failed(_) => phase.into(),
    };
    write(facts, backup, backup.status.clone(), why, draft);
}

/// The reason of a sentence, as it was recorded.
pub fn recorded(reason: &str) -> Reason {
    Reason::read(reason).unwrap_or(Reason::BackupFailed)
}
