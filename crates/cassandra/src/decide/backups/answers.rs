//! What a member makes of its order.

use crate::decide::transfers::{self, Said};
pub use crate::decide::transfers::{Answer, identity, short};
use crate::facts::{Facts, MemberFact};
use crate::words::backups::{Member, Stopped, Unusable};
use palladion_api::backup::{BackupMember, BackupMemberState as State};
use palladion_api::ids::{HostId, VolumeId};

/// The member of a backup, if it is the one that was there when the backup began.
pub fn member<'a>(facts: &'a Facts<'_>, entry: &BackupMember) -> Option<&'a MemberFact> {
    let member = facts.members.get(&entry.name)?;
    let (host, volume) = identity(member)?;
    (*host == entry.host_id && *volume == entry.volume_id).then_some(member)
}

/// Is it sure that the member is not there any more, or is another server now?
pub fn is_lost(facts: &Facts<'_>, entry: &BackupMember) -> bool {
    let Some(member) = facts.members.get(&entry.name).filter(|member| !member.is_gone()) else {
        return true;
    };
    let is_other =
        |(host, volume): (&HostId, &VolumeId)| *host != entry.host_id || *volume != entry.volume_id;
    is_forgotten(member, entry) || identity(member).is_some_and(is_other)
}

/// Its successor is to take the place, and may wait for a volume for long: the one before is off the
/// record of the operator and of the claim, and never starts again.
fn is_forgotten(member: &MemberFact, entry: &BackupMember) -> bool {
    let recorded = member.spec.as_ref().map(|spec| &spec.host_id);
    let claimed = member.claim.as_ref().and_then(|claim| claim.host_id.as_ref());
    recorded == Some(&None) && claimed != Some(&entry.host_id)
}

/// The entry of a member that has not begun.
pub fn waiting(member: &MemberFact, (host, volume): (&HostId, &VolumeId)) -> BackupMember {
    BackupMember {
        name: member.name.clone(),
        host_id: host.clone(),
        volume_id: volume.clone(),
        state: State::Waiting,
        pending_maintenance: None,
        uploaded: None,
        message: None,
    }
}

/// What it says of the order with this ID.
pub fn answer<'a>(member: &'a MemberFact, id: &str) -> Answer<'a> {
    transfers::answer(member, id, |cause, member, why| Stopped::of(cause, member, why).into())
}

/// An answer that lacks what was asked for.
pub fn without_result(member: &MemberFact) -> Said {
    Unusable::NoResult { member: member.name.clone() }.into()
}

/// The entry of a member with what it answers.
pub fn followed(entry: &BackupMember, answer: &Answer<'_>) -> BackupMember {
    let (state, message) = match answer {
        Answer::None => (State::Waiting, None),
        Answer::Going(why) => (State::Running, why.as_ref().map(|said| said.1.to_string())),
        Answer::Done(_) => (State::Done, None),
        Answer::Failed(why) => (State::Failed, Some(why.1.to_string())),
    };
    BackupMember { state, message: message.map(short), ..entry.clone() }
}

/// What a backup waits for, of what its members answer: the first that says why, or else the
/// first that has not answered and cannot.
pub fn waits<'a>(facts: &Facts<'_>, answers: Vec<(&'a MemberFact, Answer<'a>)>) -> Option<Said> {
    let mut down = None;
    for (member, answer) in answers {
        match answer {
            Answer::Going(Some(why)) | Answer::Failed(why) => return Some(why),
            Answer::None if !member.is_live(&facts.nodes) => {
                down = down.or(Some(Member::Down { member: member.name.clone() }.into()));
            }
            Answer::None | Answer::Going(None) | Answer::Done(_) => {}
        }
    }
    down
}
