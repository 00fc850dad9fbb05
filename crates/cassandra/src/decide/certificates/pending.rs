//! Whether a member can be restarted into TLS: its certificate is to be on its
//! volume before, so that it is not down for want of it.

use super::{authorities, wanted};
use crate::clients;
use crate::facts::{Facts, MemberFact};
use crate::validate::{Valid, ValidClients};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::ids::ClientAddress;
use palladion_api::member::Purpose;

/// Would the member wait for a certificate if it were restarted now, and get it
/// just as well before? One whose agent is too old to ask is restarted: its next
/// agent asks. Nobody is while nothing can be signed.
pub fn is_pending(facts: &Facts<'_>, valid: &Valid, member: &MemberFact) -> bool {
    let has_none = |purpose| {
        let known = member.status.tls.as_ref().and_then(|tls| tls.of(purpose));
        let is_stored = known.is_some_and(|status| status.stored.is_some());
        match purpose {
            Purpose::Client => !is_stored,
            Purpose::Internode => !authorities::is_usable(facts, member),
        }
    };
    wanted(valid)
        .any(|purpose| has_none(purpose) && (can_ask(member, purpose) || !facts.can_sign()))
}

/// The address that the member is to announce after its next start, where the certificate on its
/// volume does not name it, and one that does can be had before: clients that verify names would
/// not take the member for itself. A server that starts by itself does not wait for it.
pub fn not_named<'a>(
    facts: &Facts<'_>,
    valid: &Valid,
    member: &'a MemberFact,
) -> Option<&'a ClientAddress> {
    let announces = match &valid.clients {
        ValidClients::ServiceClusterIp | ValidClients::PodIp => None,
        ValidClients::LoadBalancer { .. } => clients::recorded(member),
    }?;
    let is_signed = wanted(valid).any(|purpose| purpose == Purpose::Client);
    if !is_signed || !facts.can_sign() || !can_ask(member, Purpose::Client) {
        return None;
    }
    let order = member.spec.as_ref()?.tls.as_ref()?.of(Purpose::Client)?;
    let known = member.status.tls.as_ref()?.of(Purpose::Client)?;
    // No two of a member end in the same second.
    let end = |time: &Option<Time>| time.as_ref().map(|time| time.0.as_second());
    let is_stored = known.stored.is_some() && end(&known.not_after) == end(&order.not_after);
    let is_named = order.client_addresses.contains(announces);
    (!is_stored || !is_named).then_some(announces)
}

/// Since which protocol agents ask for certificates for this purpose.
pub(super) const fn protocol(purpose: Purpose) -> u32 {
    match purpose {
        Purpose::Client => 6,
        Purpose::Internode => 7,
    }
}

/// Does its agent know how to ask?
pub(super) fn can_ask(member: &MemberFact, purpose: Purpose) -> bool {
    member.status.agent.as_ref().is_some_and(|agent| agent.protocol >= protocol(purpose))
}
