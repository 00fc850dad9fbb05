//! Permits to start a server: which are for this pod, this volume and this agent. Pure.

use super::ledger::{Ledger, Membership, Own};
use super::spec::SpecFact;
use crate::words::permit::Refused;
use palladion_api::ids::{Nonce, PodUid};
use palladion_api::member::PermitState;
use palladion_api::service_member::{
    DataBeforeServiceStart as Before, ServiceMemberSpec, ServicePermit, ServicePermitKind,
};

/// Starts that may fail by one permit: a server that cannot start must not hold up the
/// others for ever, and one that was not lucky once is not given up.
pub const TRIES: u32 = 3;

/// A permit, read live, that nothing was noted of yet and that this agent cannot use: it
/// fits neither this pod nor this volume, was used, or says what the agent does not know.
pub fn left_over<'a, O: Own>(
    known: SpecFact<'a>,
    pod: &PodUid,
    ledger: &Ledger<O>,
) -> Option<(&'a Nonce, Refused)> {
    let permit = unnoted(known.live()?, ledger)?;
    let why = not_ours(permit, pod, ledger)?;
    Some((&permit.nonce, why))
}

/// The permit of the spec, unless something was noted of it.
pub fn unnoted<'a, O>(
    spec: &'a ServiceMemberSpec,
    ledger: &Ledger<O>,
) -> Option<&'a ServicePermit> {
    let is_noted = |p: &&ServicePermit| ledger.permit.as_ref().is_some_and(|n| n.nonce == p.nonce);
    spec.start.as_ref().filter(|permit| !is_noted(permit))
}

/// Why a permit is not for this start, where it is not.
pub fn not_ours<O: Own>(
    permit: &ServicePermit,
    pod: &PodUid,
    ledger: &Ledger<O>,
) -> Option<Refused> {
    if permit.volume_id != ledger.volume_id {
        let (meant, own) = (permit.volume_id.clone(), ledger.volume_id.clone());
        return Some(Refused::OtherVolume { meant, own });
    }
    let goes_on = goes_on(ledger, permit);
    // A joiner goes on by its own permit in the next pod, too: it was given to the volume,
    // and nobody may be there to give another one.
    if permit.pod_uid != *pod && !goes_on {
        let (meant, own) = (permit.pod_uid.clone(), pod.clone());
        return Some(Refused::OtherPod { meant, own });
    }
    if ledger.has_used(&permit.nonce) && !goes_on {
        return Some(Refused::UsedBefore);
    }
    unknown(permit)
}

/// What a newer operator permits and this agent does not know.
pub fn unknown(permit: &ServicePermit) -> Option<Refused> {
    let kind = match permit.kind {
        ServicePermitKind::Unknown(word) => Some(word),
        ServicePermitKind::Initialize | ServicePermitKind::Join | ServicePermitKind::Rescue => None,
    };
    let data = match permit.data {
        Before::Unknown(word) => Some(word),
        Before::MustBeEmpty | Before::Keep | Before::Wipe => None,
    };
    kind.or(data).map(Refused::unknown)
}

/// Does the server go on joining by this very permit, which it was started with before?
pub fn goes_on<O>(ledger: &Ledger<O>, permit: &ServicePermit) -> bool {
    let is_open = ledger
        .permit
        .as_ref()
        .is_some_and(|p| p.nonce == permit.nonce && p.state == PermitState::Used);
    match &ledger.membership {
        Membership::Joining { nonce, .. } => is_open && *nonce == permit.nonce,
        Membership::Empty | Membership::Joined | Membership::Left => false,
    }
}
