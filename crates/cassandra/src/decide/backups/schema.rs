//! The schema: one member writes it, and the manifests of all name it. It is that of the
//! snapshots only if it did not change from before them until after it was read.

use super::answers::{Answer, answer};
use super::course::write;
use super::one::{ask, chosen};
use super::orders::UnderWay;
use super::read::count;
use super::{left_out, snapshot};
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::words::backups::Phase;
use palladion_api::backup::{BackupPhase, CassandraBackupStatus, DescribeWork, TransferWork};

/// Order it of one, and go on once it is there.
pub fn describe(facts: &Facts<'_>, under_way: UnderWay<'_, '_>, draft: &mut Draft) {
    let (backup, active, _) = under_way;
    let id = active.order(&format!("describe-{}", backup.attempt()));
    let Some((entry, of)) = chosen(facts, &backup.status.members, &id) else {
        return;
    };
    let Answer::Done(told) = answer(of, &id) else {
        let quorum = left_out::quorum(facts, backup);
        let describe = Some(DescribeWork { quorum });
        let work = TransferWork { describe, ..TransferWork::default() };
        return ask(facts, under_way, (entry, of), (id, work, Phase::Describing), draft);
    };
    let is_same = told.before == backup.status.view && told.after == backup.status.view;
    let Some(schema) = told.schema.clone().filter(|_| is_same) else {
        return snapshot::again(facts, backup, None, draft);
    };
    let status = CassandraBackupStatus {
        phase: Some(BackupPhase::Uploading),
        schema: Some(schema),
        progress: Some("0%".into()),
        ..backup.status.clone()
    };
    let members = count(&status.members);
    write(facts, backup, status, Phase::Uploading { done: 0, members }, draft);
}
