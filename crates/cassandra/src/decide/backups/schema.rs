//! The schema: one member writes it, and the manifests of all name it. It is that of the
//! snapshots only if it did not change from before them until after it was read.

use super::answers::{Answer, answer, member};
use super::course::{Said, write};
use super::orders::{UnderWay, give};
use super::{give_up, snapshot};
use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::words::backups::{Member, Phase};
use palladion_api::backup::{
    BackupMember, BackupPhase, CassandraBackupStatus, DescribeWork, TransferWork,
};

/// Order it of one, and go on once it is there.
pub fn describe(facts: &Facts<'_>, under_way: UnderWay<'_, '_>, draft: &mut Draft) {
    let (backup, active, store) = under_way;
    let id = active.order(&format!("describe-{}", backup.attempt()));
    let Some((entry, of)) = chosen(facts, &backup.status.members, &id) else {
        return;
    };
    let said = answer(of, &id);
    match &said {
        Answer::Failed(why) => return give_up::because(facts, backup, why, draft),
        Answer::Done(told) => {
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
            let members = status.members.len();
            let going = Phase::Uploading { done: 0, members };
            return write(facts, backup, status, going, draft);
        }
        Answer::None | Answer::Going(_) => {}
    }
    let work = TransferWork { describe: Some(DescribeWork {}), ..TransferWork::default() };
    give(facts, (active, store), (entry, of), (id, work), draft);
    let why = match said {
        Answer::Going(Some(why)) => why,
        Answer::None if !of.is_live(&facts.nodes) => {
            Said::from(Member::Down { member: of.name.clone() })
        }
        Answer::None | Answer::Going(None) | Answer::Done(_) | Answer::Failed(_) => {
            Phase::Describing.into()
        }
    };
    write(facts, backup, backup.status.clone(), why, draft);
}

/// The one that has the order already, unless its server is down; or else the first that is up,
/// or the first.
pub fn chosen<'a>(
    facts: &'a Facts<'_>,
    entries: &'a [BackupMember],
    id: &str,
) -> Option<(&'a BackupMember, &'a MemberFact)> {
    let all = || entries.iter().filter_map(|entry| Some((entry, member(facts, entry)?)));
    let is_up = |(_, of): &(&BackupMember, &MemberFact)| of.is_live(&facts.nodes);
    let has_order = |(_, of): &(&BackupMember, &MemberFact)| {
        let ordered = of.spec.as_ref().and_then(|spec| spec.transfer.as_ref());
        ordered.is_some_and(|order| order.id == id)
    };
    let at_it = all().find(|one| has_order(one) && is_up(one));
    at_it.or_else(|| all().find(is_up)).or_else(|| all().find(has_order)).or_else(|| all().next())
}
