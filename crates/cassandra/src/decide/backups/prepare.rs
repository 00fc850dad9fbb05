//! Before anything is taken or sent: every member looks at store, keys and free space.

use super::answers::{Answer, answer, followed, member, waits};
use super::begin::leaves_nobody_out;
use super::course::{Said, write};
use super::left_out::{self, Without};
use super::orders::{UnderWay, give};
use super::read::{Backup, count, is_in, leaves_out};
use super::{give_up, lacking, lost, snapshot};
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
        let not_yet =
            moving(facts, &with).or_else(|| lacking(&with)).or_else(|| older(facts, &with));
        match not_yet {
            None => return snapshot::begin(facts, backup, (with, 1), draft),
            // That ends, and the others may come back.
            Some(pending) => why = Some(pending.into()),
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

fn moving(facts: &Facts<'_>, members: &[BackupMember]) -> Option<Pending> {
    let turn = lost::moving(facts).filter(|_| leaves_out(members))?;
    Some(Pending::Turn { member: turn.member.clone(), work: turn.step.into() })
}

fn lacking(members: &[BackupMember]) -> Option<Pending> {
    let (member, pending, without) = lacking::first(members)?;
    Some(Pending::Lacking { member, pending, without })
}

/// One that was down when the backup began may be back with an agent that leaves nobody out.
fn older(facts: &Facts<'_>, members: &[BackupMember]) -> Option<Pending> {
    let mut there = members.iter().filter(|entry| leaves_out(members) && is_in(entry));
    there.find_map(|entry| leaves_nobody_out(member(facts, entry)?))
}
