//! What is left behind by members that have left: the claim is kept and says so, the
//! member object goes, and with it the Services that held its addresses.

use super::{Draft, Grounds, MEMBER, MemberFact, Prove, ServiceFacts};
use crate::kinds::{CLAIM, SERVICE};
use crate::plan::{Loss, Step};
use crate::words::left::Doing;
use palladion_api::labels;
use serde_json::json;

/// Tidy up after members that are on record as gone, and whose pods are gone.
pub fn tidy_up(facts: &ServiceFacts<'_>, prove: Prove, draft: &mut Draft) {
    let is_over = |m: &MemberFact| facts.turn().is_none_or(|t| t.member != m.name);
    let gone = facts.members.values().filter(|m| m.is_gone() && m.pod.is_none());
    for member in gone.filter(|m| is_over(m)) {
        after(facts, member, prove, draft);
    }
}

fn after(facts: &ServiceFacts<'_>, member: &MemberFact, prove: Prove, draft: &mut Draft) {
    // A volume that comes back here gets a permit of its own, and nothing is known by
    // what it was called any more.
    if let Some(claim) = member.claim.as_ref().filter(|c| c.identity.is_some()) {
        let annotations = json!({
            labels::GONE: claim.identity, facts.kind.identity: null, labels::VOLUME_ID: null,
            labels::ADDRESS: null,
        });
        let meta = &claim.object.meta;
        let patch = json!({ "metadata": { "annotations": annotations } });
        let doing = Doing::ReleaseClaim { claim: meta.name.clone() };
        draft.steps.push(Step::patch_as_seen(CLAIM, meta, patch, doing));
        return;
    }
    // The others know of it no more: that was proven before.
    for service in member.services.iter().filter(|s| !s.object.meta.is_terminating()) {
        let meta = &service.object.meta;
        let doing = Doing::DeleteService { service: meta.name.clone() };
        draft.steps.push(Step::delete_seen(SERVICE, meta, Loss::Nothing, doing));
    }
    let Some(object) = member.object.as_ref().filter(|o| !o.meta.is_terminating()) else {
        return;
    };
    let doing = Doing::DeleteMember { member: member.name.clone() };
    draft.steps.push(
        Step::delete_as_seen(MEMBER, &object.meta, Loss::Nothing, doing)
            .proven(Grounds::has_left(facts, member).map(|grounds| prove(&grounds))),
    );
}
