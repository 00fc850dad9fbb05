//! Claims of the cluster that no member uses: left by members that have left, or
//! by pods that were none. They cost storage and harm nobody; people decide.

use crate::decide::objects::replicas;
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::status::Rest;
use palladion_api::names;
use palladion_plan::words::Names;

/// As many as a status names; the rest follow when these are gone.
const MOST_NAMED: usize = 20;

/// Names of the claims, at most as many as are named.
pub fn claims(facts: &Facts<'_>, valid: &Valid) -> Vec<String> {
    // Before there is a ring every claim may hold one.
    if !facts.ring_exists() {
        return Vec::new();
    }
    let nobody = facts.members.values().filter(|m| m.object.is_none() && m.pod.is_none());
    let claims = nobody.filter(|m| !has_a_place(facts, valid, m)).filter_map(|m| m.claim.as_ref());
    // What has a host ID on record is a member's, whether or not its object stands.
    let unused = claims.filter(|c| c.host_id.is_none() && !c.terminating);
    unused.map(|c| c.object.meta.name.clone()).take(MOST_NAMED).collect()
}

/// Is there, or will there be, a member of this name?
fn has_a_place(facts: &Facts<'_>, valid: &Valid, member: &MemberFact) -> bool {
    valid.racks.iter().any(|rack| {
        let places = replicas::of(facts, rack).max(rack.members);
        names::ordinal(&rack.set, member.name.as_str()).is_some_and(|o| o < places)
    })
}

/// That all are ready, and what is left over.
pub fn rest(facts: &Facts<'_>, unused: &[String]) -> Rest {
    match unused.first() {
        None => Rest::AllReady,
        Some(first) => Rest::AllReadyUnused {
            claims: Names::of(unused),
            namespace: facts.snapshot.owner.meta.namespace.clone(),
            first: first.clone(),
        },
    }
}
