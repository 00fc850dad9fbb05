//! One `ServiceMember` per member, made when its address and the revision of its set
//! are known. What the claim says of the server on its volume goes on record again.

use crate::decide::draft::Draft;
use crate::facts::{ClaimFact, Facts, claimed_id};
use crate::validate::Valid;
use palladion_api::service_member::ServiceMemberSpec;
use palladion_plan::members::objects;

/// Make the members that are missing.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    objects::members(facts, valid, name_server, draft);
}

fn name_server(spec: &mut ServiceMemberSpec, claim: Option<&ClaimFact>) {
    spec.server_id = claim.and_then(claimed_id);
}
