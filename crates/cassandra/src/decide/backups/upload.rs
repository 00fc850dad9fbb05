//! The uploads: of all members at once. Whoever ends first waits for the others.

use super::answers::{Answer, answer, followed, member, waits, without_result};
use super::course::write;
use super::give_up;
use super::orders::{UnderWay, give};
use super::read::{count, is_in};
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::words::backups::Phase;
use palladion_api::backup::{
    BackupMember, BackupMemberState as State, BackupPhase, BackupTotals, CassandraBackupStatus,
    TransferWork, UploadWork,
};

/// Steps of the progress that are told, in percent: each is a write.
const TOLD: u32 = 10;

/// Order it of all, and go on once all is sent.
pub fn upload(facts: &Facts<'_>, under_way: UnderWay<'_, '_>, draft: &mut Draft) {
    let (backup, active, store) = under_way;
    let Some(schema) = &backup.status.schema else {
        return;
    };
    let attempt = backup.attempt();
    let id = active.upload(attempt);
    let (mut members, mut answers, mut percent) = (Vec::new(), Vec::new(), 0);
    let mut orders = Draft::default();
    for entry in &backup.status.members {
        if !is_in(entry) {
            members.push(entry.clone());
            continue;
        }
        // What was sent is there, whatever becomes of the member.
        if entry.state == State::Done {
            percent += 100;
            members.push(entry.clone());
            continue;
        }
        let Some(of) = member(facts, entry) else {
            members.push(followed(entry, &Answer::None));
            continue;
        };
        let said = answer(of, &id);
        let uploaded = match &said {
            Answer::Failed(why) => return give_up::because(facts, backup, why, draft),
            Answer::Done(told) if told.uploaded.is_none() => {
                return give_up::because(facts, backup, &without_result(of), draft);
            }
            Answer::Done(told) => told.uploaded.clone(),
            Answer::None | Answer::Going(_) => None,
        };
        percent += match uploaded {
            Some(_) => 100,
            None => told_percent(of.status.transfer.as_ref().filter(|told| told.id == id)),
        };
        members.push(BackupMember { uploaded, ..followed(entry, &said) });
        let order = UploadWork { tag: active.tag(attempt), schema: schema.clone() };
        let work = TransferWork { upload: Some(order), ..TransferWork::default() };
        give(facts, (active, store), (entry, of), (id.clone(), work), &mut orders);
        answers.push((of, said));
    }
    draft.take(orders);
    let is_done = |entry: &&BackupMember| entry.state == State::Done && entry.uploaded.is_some();
    let (done, all) = (members.iter().filter(is_done).count(), count(&members));
    let mut status = CassandraBackupStatus {
        totals: Some(totals(&members)),
        progress: Some(progress(percent, all)),
        members,
        ..backup.status.clone()
    };
    if done == all {
        status.phase = Some(BackupPhase::Verifying);
        status.progress = None;
        return write(facts, backup, status, Phase::Finishing, draft);
    }
    let why = waits(facts, answers);
    let going = Phase::Uploading { done, members: all };
    write(facts, backup, status, why.unwrap_or_else(|| going.into()), draft);
}

fn told_percent(told: Option<&palladion_api::backup::TransferStatus>) -> u32 {
    told.and_then(|told| told.progress).map_or(0, u32::from).min(99)
}

fn progress(percent: u32, members: usize) -> String {
    let members = u32::try_from(members).unwrap_or(u32::MAX).max(1);
    format!("{}%", percent / members / TOLD * TOLD)
}

fn totals(members: &[BackupMember]) -> BackupTotals {
    let mut totals = BackupTotals::default();
    for sent in members.iter().filter_map(|entry| entry.uploaded.as_ref()) {
        totals.files += sent.files;
        totals.bytes += sent.bytes;
        totals.sent_bytes += sent.sent_bytes;
        totals.reused_bytes += sent.reused_bytes;
    }
    totals
}
