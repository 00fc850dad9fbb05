//! The schema: one member writes it, and the manifests of all name it. It is that of the
//! snapshots only if it did not change from before them until after it was read.

use super::answers::{Answer, answer, without_result};
use super::course::write;
use super::one::{ask, chosen};
use super::orders::UnderWay;
use super::read::{count, is_in};
use super::{give_up, left_out, snapshot};
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::words::backups::Phase;
use palladion_api::backup::{
    BackupCovered, BackupPhase, CassandraBackupStatus, DescribeWork, TransferWork,
};

/// Order it of one, and go on once it is there.
pub fn describe(facts: &Facts<'_>, under_way: UnderWay<'_, '_>, draft: &mut Draft) {
    let (backup, active, _) = under_way;
    let work = format!("describe-{}", backup.attempt());
    let id = active.order(&left_out::named(facts, backup, &work));
    let Some((entry, of)) = chosen(facts, &backup.status.members, &id) else {
        return;
    };
    let said = answer(of, &id);
    if matches!(said, Answer::Failed(_))
        && left_out::asks_again(facts, backup, of.status.transfer.as_ref())
    {
        return;
    }
    let Answer::Done(told) = said else {
        let quorum = left_out::quorum(facts, backup);
        let there = backup.status.members.iter().filter(|entry| quorum.is_some() && is_in(entry));
        let members = there.map(|entry| entry.host_id.clone()).collect();
        let describe = Some(DescribeWork { quorum, members });
        let work = TransferWork { describe, ..TransferWork::default() };
        return ask(facts, under_way, (entry, of), (id, work, Phase::Describing), draft);
    };
    let is_same = told.before == backup.status.view && told.after == backup.status.view;
    let Some(schema) = told.schema.clone().filter(|_| is_same) else {
        return snapshot::again(facts, backup, None, draft);
    };
    let covered = told.tokens_hash.clone().map(|tokens_hash| BackupCovered {
        tokens_hash,
        left_out: left_out::number(&backup.status.members),
    });
    if backup.leaves_out() && covered.is_none() {
        return give_up::because(facts, backup, &without_result(of), draft);
    }
    let status = CassandraBackupStatus {
        phase: Some(BackupPhase::Uploading),
        covered,
        schema: Some(schema),
        progress: Some("0%".into()),
        ..backup.status.clone()
    };
    let members = count(&status.members);
    write(facts, backup, status, Phase::Uploading { done: 0, members }, draft);
}
