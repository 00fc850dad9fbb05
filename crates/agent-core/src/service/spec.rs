//! What the spec of a member says about every start, and how fresh it is. Pure.

use super::ledger::{Ledger, Membership};
use crate::facts::Source;
use palladion_api::service_member::{
    DataBeforeServiceStart, ServiceMemberSpec, ServicePermit, ServicePermitKind,
};

/// The spec and how fresh it is.
#[derive(Clone, Copy, Debug)]
pub struct SpecFact<'a> {
    /// The spec.
    pub spec: &'a ServiceMemberSpec,
    /// Where it comes from.
    pub source: Source,
}

impl<'a> SpecFact<'a> {
    /// The spec, if it was read since this agent was started.
    pub fn live(self) -> Option<&'a ServiceMemberSpec> {
        match self.source {
            Source::Live => Some(self.spec),
            Source::Saved => None,
        }
    }
}

/// Does the spec name another volume than ours, and nothing says that ours takes its place?
pub fn names_another_volume<O>(spec: &ServiceMemberSpec, ledger: &Ledger<O>) -> bool {
    let recorded = spec.volume_id.as_ref();
    let successor = ledger.successor_of.is_some() && ledger.successor_of.as_ref() == recorded;
    recorded.is_some_and(|id| *id != ledger.volume_id) && !successor
}

/// Is a permit for this very volume there? Also one of a kind that this agent does not know:
/// it refuses to start by that, and stops nothing either.
pub fn permits<O>(spec: &ServiceMemberSpec, ledger: &Ledger<O>) -> bool {
    spec.start.as_ref().is_some_and(|permit| permit.volume_id == ledger.volume_id)
}

/// Does the spec say that this very volume is lost, or was left out of a rescue? A
/// server on it could draw those in that went on without it.
pub fn is_marked_as_lost<O>(spec: &ServiceMemberSpec, ledger: &Ledger<O>) -> bool {
    spec.replace.as_ref().is_some_and(|loss| loss.lost.volume_id == ledger.volume_id)
}

/// Is the volume of a server that has left to be wiped, for one that comes back as new?
pub fn joins_anew<O>(spec: &ServiceMemberSpec, ledger: &Ledger<O>) -> bool {
    let is_wiped = |permit: &ServicePermit| {
        permit.kind == ServicePermitKind::Join && permit.data == DataBeforeServiceStart::Wipe
    };
    spec.start.as_ref().is_some_and(is_wiped) && is_for_a_later_pod(spec, ledger)
}

/// The ban is lifted only where no full member's data is, by a permit for a
/// later pod: the member is wanted again. A permit for the pod that was told to stop
/// for good may be an old one that comes late.
pub fn lifts_the_ban<O>(spec: &ServiceMemberSpec, ledger: &Ledger<O>) -> bool {
    let has_a_vote = match ledger.membership {
        Membership::Empty | Membership::Joining { .. } | Membership::Left => false,
        Membership::Joined => true,
    };
    !has_a_vote && is_for_a_later_pod(spec, ledger)
}

/// Is there a permit for this volume that was not used, for a pod after the one that was told
/// to stop for good?
fn is_for_a_later_pod<O>(spec: &ServiceMemberSpec, ledger: &Ledger<O>) -> bool {
    spec.start.as_ref().is_some_and(|permit| {
        permit.volume_id == ledger.volume_id
            && !ledger.used_permits.contains(&permit.nonce)
            && ledger.ban_pod.as_ref() != Some(&permit.pod_uid)
    })
}

/// Does somebody ask for a start since the last one?
pub fn asks_for_a_start<O>(spec: &ServiceMemberSpec, ledger: &Ledger<O>) -> bool {
    let token = spec.restart_token.as_ref();
    token.is_some() && token != ledger.restart_token.as_ref()
}
