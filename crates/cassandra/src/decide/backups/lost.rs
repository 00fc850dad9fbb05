//! A member that is lost before a backup begins: with a broken disk its place is taken when there is
//! another one, which may be in days. A backup that may do without it does not wait for that, but for
//! the end of the streaming once that has begun.

use super::read::Backup;
use crate::decide::turn::permit::{Course, course};
use crate::facts::Facts;
use palladion_api::backup::{BackupMember, BackupMemberState as State};
use palladion_api::cluster::TurnStep;

/// The one whose successor has not begun to take its place, as a member of this backup: its own
/// record may name it no more.
pub fn without_successor(facts: &Facts<'_>, backup: &Backup<'_>) -> Option<BackupMember> {
    let turn = facts.turn().filter(|turn| turn.step == TurnStep::Replace)?;
    let (member, replaced) = (facts.members.get(&turn.member)?, turn.replaces.as_ref()?);
    let may_begin = backup.leaves_out() && course(turn, member) == Course::NotGiven;
    may_begin.then(|| BackupMember {
        name: member.name.clone(),
        host_id: replaced.host_id.clone(),
        volume_id: turn.volume_id.clone(),
        state: State::Waiting,
        pending_maintenance: None,
        uploaded: None,
        message: None,
    })
}
