//! Whether a question about the cluster is to be answered now.

use super::{Facts, VolumeFact};
use palladion_agent_core::service::evidence;
pub use palladion_agent_core::service::evidence::Next;
use palladion_api::service_member::MemberEvidence;

/// Decide, after the answer that was given last.
pub fn next(facts: &Facts<'_>, answered: Option<&MemberEvidence>) -> Next {
    let volume_id = match &facts.volume {
        VolumeFact::Found(found) => found.marker.as_ref(),
        VolumeFact::Unreadable(_) => None,
    };
    evidence::next(facts.spec, volume_id, &facts.process, answered)
}
