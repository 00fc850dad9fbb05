//! How many replicas the set has. Never from the spec alone: the spec only sets the
//! target; a member that exists keeps its pod.

use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use palladion_api::ids::MemberName;
use palladion_api::names;
use palladion_api::service::ServiceStep;

/// One more than the highest ordinal that is wanted or exists. A member that leaves or
/// has left takes its pod and its record with it before another is made in its place:
/// a set has no gaps, and a pod above would keep the pod of the one that left.
pub fn of(facts: &Facts<'_>, valid: &Valid) -> i32 {
    let exists = |m: &&MemberFact| {
        let has_pod = m.pod.as_ref().is_some_and(|p| !p.terminating);
        let claim = m.claim.as_ref().filter(|c| !c.terminating);
        // Before there is an ensemble, only an agent in a pod can tell what is on a volume.
        let is_surveyed = !facts.ensemble_exists() && claim.is_some_and(|c| c.bound);
        let has_data = claim.is_some_and(|c| c.server_id.is_some());
        !m.is_gone() && (m.object.is_some() || has_pod || has_data || is_surveyed)
    };
    let members = || facts.members.values();
    let existing = members().filter(exists).map(|m| m.ordinal + 1).max().unwrap_or_default();
    let leaving = |m: &&MemberFact| {
        let turn = facts.turn().filter(|t| t.member == m.name);
        m.is_gone() || turn.is_some_and(|t| t.step == ServiceStep::Leave)
    };
    let gone = members().filter(leaving).map(|m| m.ordinal).min();
    existing.max(gone.map_or(valid.servers, |gone| valid.servers.min(gone)))
}

/// The members that have pods, or get them.
pub fn names(facts: &Facts<'_>, valid: &Valid) -> impl Iterator<Item = MemberName> {
    let set = valid.set.clone();
    (0..of(facts, valid)).map(move |ordinal| names::member(&set, ordinal))
}
