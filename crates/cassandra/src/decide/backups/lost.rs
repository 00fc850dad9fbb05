//! Members that are lost before a backup begins: with a broken disk the place of one is taken when
//! there is another disk, which may be in days. A backup that may do without it does not wait for
//! that, but for the end of the streaming once that has begun.

use super::answers::waiting;
use super::read::Backup;
use crate::decide::transfers::moves;
use crate::decide::turn::permit::{Course, course};
use crate::facts::{Facts, MemberFact};
use palladion_api::backup::BackupMember;
use palladion_api::cluster::{Turn, TurnStep};
use palladion_api::ids::{HostId, MemberName, VolumeId};

/// Those whose successors have not begun to take their places, as members of this backup: their own
/// records may name them no more.
pub fn without_successor(facts: &Facts<'_>, backup: &Backup<'_>) -> Vec<BackupMember> {
    let all = facts.members.values().filter(|_| backup.leaves_out());
    all.filter_map(|member| Some(waiting(member, lost(facts, member)?))).collect()
}

fn lost<'a>(facts: &'a Facts<'_>, member: &'a MemberFact) -> Option<(&'a HostId, &'a VolumeId)> {
    let spec = member.spec.as_ref()?;
    if let Some(turn) = facts.turn().filter(|turn| turn.member == member.name) {
        let replaced = turn.replaces.as_ref().filter(|_| may_begin(turn, member))?;
        return Some((&replaced.host_id, &turn.volume_id));
    }
    // A turn ends when its evidence is old, and comes again when there is a volume.
    let marked = spec.replace.as_ref().filter(|_| spec.host_id.is_none())?;
    Some((&marked.host_id, &marked.volume_id))
}

/// The turn in which ranges go from one member to another, if there is one. What that leaves to be
/// repaired is on record at its end only, so until then nobody knows whose copies lack something. A
/// replacement moves nothing between the others, and who takes a place is in no backup of before.
pub fn moving<'a>(facts: &'a Facts<'_>) -> Option<&'a Turn> {
    facts.turn().filter(|turn| moves(turn.step) && turn.step != TurnStep::Replace)
}

/// Is the successor of this member about to be in the ring, and not on record yet?
pub fn is_being_replaced(facts: &Facts<'_>, name: &MemberName) -> bool {
    let of = |turn: &&Turn| turn.step == TurnStep::Replace && turn.member == *name;
    let Some(member) = facts.members.get(name) else { return false };
    let is_unrecorded = member.spec.as_ref().is_some_and(|spec| spec.host_id.is_none());
    is_unrecorded && facts.turn().filter(of).is_some_and(|turn| !may_begin(turn, member))
}

/// Has the successor not begun to take the place?
fn may_begin(turn: &Turn, member: &MemberFact) -> bool {
    turn.step == TurnStep::Replace && course(turn, member) == Course::NotGiven
}
