//! How many replicas the set has. Never from the spec alone: the spec only sets the
//! target; a member that exists keeps its pod.

use super::super::spec::ServiceSpec;
use super::super::{MemberFact, ServiceFacts};
use palladion_api::ids::MemberName;
use palladion_api::names;
use palladion_api::service::ServiceStep;

/// One more than the highest ordinal that is wanted or exists. A member that leaves or
/// has left takes its pod and its record with it before another is made in its place:
/// a set has no gaps, and a pod above would keep the pod of the one that left.
pub fn of(facts: &ServiceFacts<'_>, spec: &ServiceSpec) -> i32 {
    let exists = |m: &&MemberFact| {
        let has_pod = m.pod.as_ref().is_some_and(|p| !p.terminating);
        let claim = m.claim.as_ref().filter(|c| !c.terminating);
        // Before there is a service, only an agent in a pod can tell what is on a volume.
        let is_surveyed = !facts.exists() && claim.is_some_and(|c| c.bound);
        let has_data = claim.is_some_and(|c| c.identity.is_some());
        !m.is_gone() && (m.object.is_some() || has_pod || has_data || is_surveyed)
    };
    let members = || facts.members.values();
    let existing = members().filter(exists).map(|m| m.ordinal + 1).max().unwrap_or_default();
    let leaving = |m: &&MemberFact| {
        let turn = facts.turn().filter(|t| t.member == m.name);
        m.is_gone() || turn.is_some_and(|t| t.step == ServiceStep::Leave)
    };
    let gone = members().filter(leaving).map(|m| m.ordinal).min();
    existing.max(gone.map_or(spec.size, |gone| spec.size.min(gone)))
}

/// The members that have pods, or get them.
pub fn names(facts: &ServiceFacts<'_>, spec: &ServiceSpec) -> impl Iterator<Item = MemberName> {
    let set = spec.set.clone();
    (0..of(facts, spec)).map(move |ordinal| names::member(&set, ordinal))
}
