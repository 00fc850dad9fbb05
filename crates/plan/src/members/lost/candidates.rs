//! Which lost members are replaced.

use super::super::{MemberFact, ServiceFacts, spec::ServiceSpec, turn};
use super::room;
use palladion_api::service::ServiceTurn;

/// Those that the spec asks for. Whoever should leave is taken out, and nobody comes in its
/// place.
pub fn to_replace<'a>(
    facts: &'a ServiceFacts<'_>,
    spec: &ServiceSpec,
) -> impl Iterator<Item = &'a MemberFact> {
    let size = spec.size;
    facts.enrolled().filter(move |m| m.ordinal < size && m.loss().is_some())
}

/// Has it a volume for its new server, or room to make, and did that server not give way?
pub fn can_begin(member: &MemberFact) -> bool {
    !room::waits_for_pod(member) && !turn::has_given_way(member)
}

/// The first one whose new server did not come up, and gave way to others.
pub fn given_way<'a>(facts: &'a ServiceFacts<'_>, spec: &ServiceSpec) -> Option<&'a MemberFact> {
    all_given_way(facts, spec).next()
}

/// The next one of those, after the member that has the turn: each gets its time, whichever is
/// the first. What stood against one may be gone while another fails for good.
pub fn given_way_after<'a>(
    facts: &'a ServiceFacts<'_>,
    spec: &ServiceSpec,
    turn: &ServiceTurn,
) -> Option<&'a MemberFact> {
    let own = facts.members.get(&turn.member)?;
    let others = all_given_way(facts, spec).filter(|m| m.name != own.name);
    others.min_by_key(|m| (m.ordinal < own.ordinal, m.ordinal))
}

fn all_given_way<'a>(
    facts: &'a ServiceFacts<'_>,
    spec: &ServiceSpec,
) -> impl Iterator<Item = &'a MemberFact> {
    to_replace(facts, spec).filter(|m| !room::waits_for_pod(m) && turn::has_given_way(m))
}
