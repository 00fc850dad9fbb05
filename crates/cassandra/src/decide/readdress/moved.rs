//! Who has another address than the one that the ring knows.

use crate::decide::evidence::marks;
use crate::facts::leaver::is_interrupted;
use crate::facts::{Facts, MemberFact};
use palladion_api::ids::{HostId, StaticAddress};
use palladion_api::member::{VolumeState, VolumeStatus};

/// A member that has another address.
#[derive(Clone, Copy)]
pub struct Moved<'a> {
    /// The member.
    pub member: &'a MemberFact,
    /// Its host ID.
    pub host_id: &'a HostId,
    /// Under which address the ring knows it, by its own ledger.
    pub before: &'a StaticAddress,
    /// That of its Service, which is on record.
    pub now: &'a StaticAddress,
}

/// A full member with its data, whose Service has another address than its ledger.
pub fn of(member: &MemberFact) -> Option<Moved<'_>> {
    let spec = member.spec.as_ref()?;
    let now = spec.address.as_ref()?;
    let is_of_service = member.service.as_ref()?.address.as_ref() == Some(now);
    let before = member.status.address.as_ref().filter(|before| *before != now)?;
    let host_id = member.recorded_host_id()?;
    // A permit is for the recorded volume alone: it would lift the bar of a stale twin.
    let is_recorded = |volume: &VolumeStatus| {
        let recorded = spec.volume_id.as_ref().is_none_or(|id| *id == volume.volume_id);
        recorded && member.status.host_id.as_ref() == Some(host_id)
    };
    let has_data = |v: &VolumeStatus| v.state == VolumeState::Joined && is_recorded(v);
    let has_data = member.volume().is_some_and(has_data);
    let is_out = member.is_gone()
        || member.is_stopped()
        || member.is_terminated()
        || marks::of(member).is_some()
        || spec.removal.is_some()
        || spec.intent.is_some()
        || is_interrupted(member);
    (is_of_service && has_data && !is_out).then_some(Moved { member, host_id, before, now })
}

/// Does its server run, and its claim go with its pod? Then no pod is ended for it.
pub fn loses_claim(member: &MemberFact) -> bool {
    member.may_run() && member.claim.as_ref().is_some_and(|claim| claim.terminating)
}

/// Another member that the ring knows under this address, as far as records,
/// ledgers and claims tell: its peers would take one for the other.
pub fn also_of<'a>(facts: &'a Facts<'_>, moved: &Moved<'_>) -> Option<&'a MemberFact> {
    let has = |m: &MemberFact| {
        let of_claim = m.claim.as_ref().and_then(|c| c.address.as_ref());
        [m.status.address.as_ref(), of_claim].contains(&Some(moved.now))
    };
    let mut others = facts.joined().filter(|m| m.name != moved.member.name);
    others.find(|m| has(m))
}
