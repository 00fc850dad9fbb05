//! One `ServiceMember` per member, made when its address and the revision of its set are
//! known. What the claim says of the node on its volume goes on record again.

use crate::decide::draft::Draft;
use crate::facts::{ClaimFact, Facts, claimed_name};
use crate::validate::Valid;
use palladion_api::service_member::ServiceMemberSpec;
use palladion_plan::members::objects;

/// Make the members that are missing.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    objects::members(facts, valid, name_node, draft);
}

fn name_node(spec: &mut ServiceMemberSpec, claim: Option<&ClaimFact>) {
    spec.node_name = claim.and_then(claimed_name);
}
