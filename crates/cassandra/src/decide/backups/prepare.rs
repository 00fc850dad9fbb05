//! Before anything is taken or sent: every member looks at store, keys and free space.

use super::answers::{Answer, answer, followed, member, waits};
use super::course::{Said, write};
use super::orders::{UnderWay, give};
use super::read::{count, is_in};
use super::{give_up, snapshot};
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::words::backups::Phase;
use palladion_api::backup::{
    BackupMemberState as State, CassandraBackupStatus, PrepareWork, TransferWork,
};

/// Order it of all, and go on once all are right.
pub fn prepare(facts: &Facts<'_>, under_way: UnderWay<'_, '_>, draft: &mut Draft) {
    let (backup, active, store) = under_way;
    let id = active.order("prepare");
    // Nobody is ordered anything in a decision that gives up.
    let (mut members, mut answers, mut orders) = (Vec::new(), Vec::new(), Draft::default());
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
        if let Answer::Failed(why) = &said {
            return give_up::because(facts, backup, why, draft);
        }
        members.push(followed(entry, &said));
        let work = TransferWork { prepare: Some(PrepareWork {}), ..TransferWork::default() };
        give(facts, (active, store), (entry, of), (id.clone(), work), &mut orders);
        answers.push((of, said));
    }
    draft.take(orders);
    let done = members.iter().filter(|entry| entry.state == State::Done).count();
    let all = count(&members);
    if done == all {
        return snapshot::begin(facts, backup, 1, draft);
    }
    let status = CassandraBackupStatus { members, ..backup.status.clone() };
    let why = waits(facts, answers);
    let said = why.unwrap_or_else(|| Said::from(Phase::Preparing { done, members: all }));
    write(facts, backup, status, said, draft);
}
