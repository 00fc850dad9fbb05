//! Whether a member can be restarted into TLS: its certificate is to be on its
//! volume before, so that it is not down for want of it.

use super::{authorities, wanted};
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
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
