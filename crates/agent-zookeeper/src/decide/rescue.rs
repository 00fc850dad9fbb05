//! Going on alone: a member whose ensemble has lost its majority for good, by a permit
//! that a user has allowed. It reads its configuration at its start only, so that one that
//! runs is stopped first; one that has a quorum is not touched.

use super::{Facts, Source, SpecFact, permit};
use crate::read::Reading;
use crate::volume::ledger::{Ledger, Membership};
use palladion_api::service_member::{ServicePermit, ServicePermitKind};

/// An unused permit by which this member goes on alone.
pub fn unused<'a>(known: SpecFact<'a>, ledger: &Ledger) -> Option<&'a ServicePermit> {
    let permit = known.spec.start.as_ref().filter(|p| p.volume_id == ledger.volume_id)?;
    (permit.kind == ServicePermitKind::Rescue && !ledger.has_used(&permit.nonce)).then_some(permit)
}

/// Does a server without a quorum run that is to go on alone? It reads its configuration
/// at its start only.
pub fn must_stop_first(facts: &Facts<'_>, ledger: &Ledger) -> bool {
    let live = facts.spec.filter(|s| s.source == Source::Live);
    let permit = live.and_then(|known| known.spec.start.as_ref());
    let is_lost = facts.reading.is_some_and(|reading| !reading.has_quorum());
    let is_new = permit.is_some_and(|permit| {
        permit.kind == ServicePermitKind::Rescue
            && permit.volume_id == ledger.volume_id
            && permit.pod_uid == *facts.pod_uid
            && permit::unknown(permit).is_none()
            && !ledger.has_used(&permit.nonce)
            && ledger.permit.as_ref().is_none_or(|known| known.nonce != permit.nonce)
    });
    is_lost && is_new && ledger.membership == Membership::Joined
}

/// Is this a permit for which a server that runs may be stopped? Without a look nobody knows
/// yet what it has, and nothing is refused.
pub fn may_stop(facts: &Facts<'_>, permit: &ServicePermit) -> bool {
    permit.kind == ServicePermitKind::Rescue && !facts.reading.is_some_and(Reading::has_quorum)
}
