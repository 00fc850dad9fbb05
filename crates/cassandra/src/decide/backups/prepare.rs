//! Before anything is taken or sent: every member looks at store, keys and free space.

use super::answers::{Answer, answer, followed, member, waits};
use super::course::{Said, write};
use super::left_out::{self, Without};
use super::orders::{UnderWay, give};
use super::read::{Backup, count, is_in};
use super::{give_up, lacking, snapshot};
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::words::backups::{Pending, Phase};
use palladion_api::backup::{
    BackupMember, BackupMemberState as State, CassandraBackupStatus, PrepareWork, TransferWork,
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
    let mut why = waits(facts, answers);
    if let Some(with) = enough(facts, backup, &members, draft) {
        match lacking::first(&with) {
            None => return snapshot::begin(facts, backup, (with, 1), draft),
            // It may be repaired, and the others may come back.
            Some((member, pending, without)) => {
                why = Some(Pending::Lacking { member, pending, without }.into());
            }
        }
    }
    let status = CassandraBackupStatus { members, ..backup.status.clone() };
    let said = why.unwrap_or_else(|| Said::from(Phase::Preparing { done, members: all }));
    write(facts, backup, status, said, draft);
}

/// The members as they go into the snapshots, if these can be taken: all are right, or left out.
fn enough(
    facts: &Facts<'_>,
    backup: &Backup<'_>,
    members: &[BackupMember],
    draft: &mut Draft,
) -> Option<Vec<BackupMember>> {
    let mut all = Vec::new();
    for entry in members {
        match (entry.state, left_out::before_snapshots(facts, backup, entry)) {
            (_, Without::Now(why)) => all.push(left_out::missing(entry, why)),
            (State::Done, Without::No) => all.push(lacking::noted(facts, backup, entry)),
            (_, Without::From(then)) => {
                draft.wake_at(then);
                return None;
            }
            (State::Waiting | State::Running | State::Failed | State::Missing, Without::No) => {
                return None;
            }
        }
    }
    (count(&all) > 0).then_some(all)
}
