//! Leavers that did not come to the end of their leave: whose server ended in
//! the middle of it, or runs on after their decommission has failed.

use super::MemberFact;
use palladion_api::ids::{Nonce, StaticAddress};
use palladion_api::member::{
    IntentState, IntentStatus, PermitKind, PermitState, ServerState, VolumeState,
};
use palladion_api::reasons::Reason;

/// Did the server of this leaver end before it had said that it has left?
pub fn is_interrupted(member: &MemberFact) -> bool {
    let status = &member.status;
    let waits = status.server.as_ref().is_some_and(|s| {
        s.state == ServerState::Waiting && is_waiting_for_permit(s.reason.as_deref())
    });
    (waits || is_too_old(member) || could_not_come_back(member))
        && !member.is_gone()
        && member.volume().is_some_and(|v| v.state == VolumeState::Joined)
        && status.intent.as_ref().is_some_and(|i| i.state == IntentState::Failed)
}

/// Does its agent say that its data is too old to come back with, so that no permit
/// starts it? If it has left, it need not come back.
pub fn is_too_old(member: &MemberFact) -> bool {
    let server = member.reported_server().filter(|s| s.state == ServerState::Waiting);
    server.is_some_and(|s| s.reason.as_deref() == Some(Reason::DataTooOld.as_str()))
}

/// The address under which the ring knows it, by its ledger, and another one that its
/// Service or its record has: there nobody reaches it, or somebody else is.
pub fn elsewhere(member: &MemberFact) -> Option<(&StaticAddress, &StaticAddress)> {
    let before = member.status.address.as_ref()?;
    let of_service = member.service.as_ref().and_then(|s| s.address.as_ref());
    let recorded = member.spec.as_ref().and_then(|s| s.address.as_ref());
    let mut all = of_service.into_iter().chain(recorded);
    all.find(|now| *now != before).map(|now| (before, now))
}

/// Did it fail at its last permit to come back?
pub fn could_not_come_back(member: &MemberFact) -> bool {
    let start = member.spec.as_ref().and_then(|s| s.start.as_ref());
    let failed = |nonce: &Nonce| {
        let answer = member.status.permit.as_ref();
        answer.is_some_and(|p| p.nonce == *nonce && p.state == PermitState::Failed)
    };
    let state = member.status.server.as_ref().map(|s| s.state);
    state == Some(ServerState::Failed)
        && start.is_some_and(|s| s.kind == PermitKind::ResumeLeave && failed(&s.nonce))
}

/// Modes of a server that is not a full member since it was told to leave: up
/// to 4.1 a failed decommission stays LEAVING, from 5.0 on it has a mode of its own.
const LEAVING: [&str; 2] = ["LEAVING", "DECOMMISSION_FAILED"];

/// Has its decommission failed halfway, while its server runs on? All others
/// see it leaving until it is called again, or the server is restarted.
pub fn failed_halfway(member: &MemberFact) -> Option<&IntentStatus> {
    let server = member.reported_server()?;
    let mode = server.mode.as_deref().filter(|_| server.state == ServerState::Running)?;
    let stands = LEAVING.contains(&mode) && !member.is_gone();
    member.status.intent.as_ref().filter(|i| stands && i.state == IntentState::Failed)
}

/// Has its Service another address than the ring knows, in the middle of its leave? Nobody
/// reaches it there, and it does not come back under another one.
pub fn has_another_address(member: &MemberFact) -> bool {
    let recorded = member.spec.as_ref().and_then(|s| s.address.as_ref());
    let of_service = member.service.as_ref().and_then(|s| s.address.as_ref());
    let differs = recorded.zip(of_service).is_some_and(|(recorded, now)| recorded != now);
    differs && (failed_halfway(member).is_some() || is_interrupted(member))
}

/// Does its server say that it has left, without a record of it?
pub fn is_decommissioned(member: &MemberFact) -> bool {
    let server = member.reported_server();
    !member.is_gone() && server.is_some_and(|s| s.mode.as_deref() == Some("DECOMMISSIONED"))
}

fn is_waiting_for_permit(reason: Option<&str>) -> bool {
    reason == Some(Reason::WaitingForPermit.as_str())
}
