//! What a member makes of its order.

use super::Said;
use crate::facts::MemberFact;
use palladion_api::backup::{Transfer, TransferCause as Cause, TransferState, TransferStatus};
use palladion_api::ids::{HostId, MemberName, VolumeId};

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

/// What it is ordered.
pub fn ordered(member: &MemberFact) -> Option<&Transfer> {
    member.spec.as_ref()?.transfer.as_ref()
}

/// Which server a member is, and on which volume.
pub fn identity(member: &MemberFact) -> Option<(&HostId, &VolumeId)> {
    let recorded = member.spec.as_ref().and_then(|spec| spec.volume_id.as_ref());
    let volume = recorded.or(member.volume().map(|volume| &volume.volume_id))?;
    Some((member.recorded_host_id()?, volume))
}

/// What it says of the order with this ID; why it waits or has failed, in these words.
pub fn answer<'a>(
    member: &'a MemberFact,
    id: &str,
    words: impl Fn(Cause, MemberName, String) -> Said,
) -> Answer<'a> {
    let told = member.status.transfer.as_ref().filter(|told| told.id == id);
    let Some(told) = told else {
        return Answer::None;
    };
    let why = || {
        let message = told.message.clone().unwrap_or_default();
        words(told.cause.unwrap_or(Cause::Unknown), member.name.clone(), message)
    };
    match (told.state, told.cause) {
        (TransferState::Done, _) => Answer::Done(told),
        (TransferState::Failed, _)
        | (TransferState::Refused, Some(Cause::RepositoryForeign | Cause::NotSupported)) => {
            Answer::Failed(why())
        }
        (TransferState::Waiting | TransferState::Refused, _) => Answer::Going(Some(why())),
        (TransferState::Running | TransferState::Unknown, _) => Answer::Going(None),
    }
}

/// As long as a status takes it.
pub fn short(message: String) -> String {
    message.chars().take(1_000).collect()
}
