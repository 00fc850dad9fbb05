//! What a member makes of its order.

use super::course::Said;
use crate::facts::{Facts, MemberFact};
use crate::words::backups::{Member, Stopped, Unusable};
use palladion_api::backup::{
    BackupMember, BackupMemberState as State, TransferCause as Cause, TransferState, TransferStatus,
};
use palladion_api::ids::{HostId, VolumeId};

/// The answer to one order.
pub enum Answer<'a> {
    /// There is none yet.
    None,
    /// It works at it, or will again; why it waits.
    Going(Option<Said>),
    /// It has done it.
    Done(&'a TransferStatus),
    /// It never will.
    Failed(Said),
}

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
    identity(member).is_some_and(is_other)
}

/// Which server a member is, and on which volume.
pub fn identity(member: &MemberFact) -> Option<(&HostId, &VolumeId)> {
    let recorded = member.spec.as_ref().and_then(|spec| spec.volume_id.as_ref());
    let volume = recorded.or(member.volume().map(|volume| &volume.volume_id))?;
    Some((member.recorded_host_id()?, volume))
}

/// The entry of a member that has not begun.
pub fn waiting(member: &MemberFact, (host, volume): (&HostId, &VolumeId)) -> BackupMember {
    BackupMember {
        name: member.name.clone(),
        host_id: host.clone(),
        volume_id: volume.clone(),
        state: State::Waiting,
        uploaded: None,
        message: None,
    }
}

/// What it says of the order with this ID.
pub fn answer<'a>(member: &'a MemberFact, id: &str) -> Answer<'a> {
    let told = member.status.transfer.as_ref().filter(|told| told.id == id);
    let Some(told) = told else {
        return Answer::None;
    };
    let why = || {
        let message = told.message.clone().unwrap_or_default();
        let member = member.name.clone();
        Stopped::of(told.cause.unwrap_or(Cause::Unknown), member, message)
    };
    match (told.state, told.cause) {
        (TransferState::Done, _) => Answer::Done(told),
        (TransferState::Failed, _)
        | (TransferState::Refused, Some(Cause::RepositoryForeign | Cause::NotSupported)) => {
            Answer::Failed(why().into())
        }
        (TransferState::Waiting | TransferState::Refused, _) => Answer::Going(Some(why().into())),
        (TransferState::Running | TransferState::Unknown, _) => Answer::Going(None),
    }
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

/// As long as the status of a backup takes it.
pub fn short(message: String) -> String {
    message.chars().take(1_000).collect()
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
