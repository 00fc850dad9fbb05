//! What is left behind by members that have left: the claim is kept and says so, the
//! member object goes, and with it the Services that held its addresses.

use crate::decide::draft::Draft;
use crate::decide::evidence;
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::words::leave::Doing;
use palladion_api::labels;
use palladion_plan::{Loss, Step};
use serde_json::json;

/// Tidy up after members that are on record as gone, and whose pods are gone.
pub fn decide(facts: &Facts<'_>, draft: &mut Draft) {
    let is_over = |m: &MemberFact| facts.turn().is_none_or(|t| t.member != m.name);
    let gone = facts.members.values().filter(|m| m.is_gone() && m.pod.is_none());
    for member in gone.filter(|m| is_over(m)) {
        after(facts, member, draft);
    }
}

fn after(facts: &Facts<'_>, member: &MemberFact, draft: &mut Draft) {
    // A volume that comes back here gets a server ID of its own, and nothing is known
    // by this one any more.
    if let Some(claim) = member.claim.as_ref().filter(|c| c.server_id.is_some()) {
        let left = claim.server_id.map(|id| id.to_string());
        let annotations = json!({
            labels::GONE: left, labels::SERVER_ID: null, labels::VOLUME_ID: null,
            labels::ADDRESS: null,
        });
        let meta = &claim.object.meta;
        let patch = json!({ "metadata": { "annotations": annotations } });
        let doing = Doing::ReleaseClaim { claim: meta.name.clone() };
        draft.steps.push(Step::patch_as_seen(kinds::CLAIM, meta, patch, doing));
        return;
    }
    // All others have a configuration without it: that was proven before.
    for service in member.services.iter().filter(|s| !s.object.meta.is_terminating()) {
        let meta = &service.object.meta;
        let doing = Doing::DeleteService { service: meta.name.clone() };
        draft.steps.push(Step::delete_seen(kinds::SERVICE, meta, Loss::Nothing, doing));
    }
    let Some(object) = member.object.as_ref().filter(|o| !o.meta.is_terminating()) else {
        return;
    };
    let doing = Doing::DeleteMember { member: member.name.clone() };
    draft.steps.push(
        Step::delete_as_seen(kinds::MEMBER, &object.meta, Loss::Nothing, doing)
            .proven(evidence::has_left(facts, member).map(|p| p.stated())),
    );
}
