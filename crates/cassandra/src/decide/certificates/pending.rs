//! Whether a member can be restarted into TLS: its certificate is to be on its
//! volume before, so that it is not down for want of it.

use super::{are_wanted, can_sign};
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;

/// Agents since this protocol ask for certificates.
pub const PROTOCOL: u32 = 6;

/// Would the member wait for a certificate if it were restarted now, and get it
/// just as well before? One whose agent is too old to ask is restarted: its next
/// agent asks. Nobody is while nothing can be signed.
pub fn is_pending(facts: &Facts<'_>, valid: &Valid, member: &MemberFact) -> bool {
    let known = member.status.tls.as_ref().and_then(|tls| tls.client.as_ref());
    let has_none = known.is_none_or(|client| client.stored.is_none());
    are_wanted(valid) && has_none && (can_ask(member) || !can_sign(facts))
}

/// Does its agent know how to ask?
pub(super) fn can_ask(member: &MemberFact) -> bool {
    member.status.agent.as_ref().is_some_and(|agent| agent.protocol >= PROTOCOL)
}
