//! When a member's certificate is to be signed: at once, later, or not before its
//! agent has asked. Only the operator's own clock counts, so that a node whose
//! clock is wrong asks for nothing by it.

use crate::clients::Named;
use crate::facts::MemberFact;
use jiff::{SignedDuration, Timestamp};
use palladion_api::member::{CertificateStatus, MemberCertificate, Purpose};
use palladion_plan::hash;
use serde_json::json;

/// Least time between two certificates of a member that has one.
pub const PAUSE: SignedDuration = SignedDuration::from_mins(10);

/// A signature from later than this is none: certificates hold from an hour before they are
/// signed, so that anybody's clock may be behind by as much.
const AHEAD: SignedDuration = SignedDuration::from_hours(1);

/// When to sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// Its agent has not asked the authority that was ordered.
    NotAsked,
    /// At this time.
    At(Timestamp),
    /// Now.
    Now,
}

/// When is the certificate of this order to be signed?
pub fn due(
    member: &MemberFact,
    order: &MemberCertificate,
    purpose: Purpose,
    named: &Named,
    now: Timestamp,
) -> Due {
    let Some(asked) = asked(member, order, purpose) else {
        return Due::NotAsked;
    };
    let signed = order.certificate.as_ref().and(order.signed_at.as_ref());
    let (Some(signed), Some(end)) = (signed, &order.not_after) else {
        return Due::Now;
    };
    // Signed by a clock that was ahead: it would be renewed much too late, and nobody can use it.
    if signed.0 > now.saturating_add(AHEAD).unwrap_or(now) {
        return Due::Now;
    }
    let address = member.spec.as_ref().and_then(|s| s.address.as_ref()).map(|a| a.as_str());
    let is_same = order.request.as_deref() == Some(id(asked).as_str())
        && order.address.as_deref() == address
        && order.client_addresses == named.addresses;
    if named.of_new_pod {
        return Due::Now;
    }
    let at = match is_same {
        true => renewal(signed.0, end.0),
        false => signed.0.saturating_add(PAUSE).unwrap_or(now).min(renewal(signed.0, end.0)),
    };
    if at <= now { Due::Now } else { Due::At(at) }
}

/// What the agent of the pod that exists now asks of the ordered authority.
pub fn asked<'a>(
    member: &'a MemberFact,
    order: &MemberCertificate,
    purpose: Purpose,
) -> Option<&'a CertificateStatus> {
    let asked = member.status.tls.as_ref()?.of(purpose)?;
    let pod = member.pod.as_ref()?;
    let is_its_own = member.agent_speaks() && asked.pod_uid == pod.uid;
    (is_its_own && asked.authority == order.authority).then_some(asked)
}

/// By what a request is known.
pub fn id(asked: &CertificateStatus) -> String {
    hash::of(&json!(asked.request))
}

/// After two thirds of its life.
fn renewal(signed: Timestamp, end: Timestamp) -> Timestamp {
    let life = signed.duration_until(end);
    signed.saturating_add(life / 3 * 2).unwrap_or(end)
}
