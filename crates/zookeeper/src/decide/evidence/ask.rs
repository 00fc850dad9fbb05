//! A question to members, put with a nonce.

use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::words::evidence::Doing;
use palladion_api::ids::{MemberName, Nonce};
use palladion_plan::Step;
use serde_json::json;

/// Ask those that have not been asked yet.
pub(super) fn ask(facts: &Facts<'_>, names: &[MemberName], nonce: &Nonce, draft: &mut Draft) {
    for member in names.iter().filter_map(|name| facts.members.get(name)) {
        draft.steps.extend(order(facts, member, nonce));
    }
}

fn order(facts: &Facts<'_>, member: &MemberFact, nonce: &Nonce) -> Option<Step> {
    let asked = member.spec.as_ref().and_then(|s| s.evidence.as_ref());
    if asked.is_some_and(|e| e.nonce == *nonce) {
        return None;
    }
    let meta = &member.object.as_ref()?.meta;
    let patch = json!({ "spec": { "evidence": { "nonce": nonce } } });
    let doing = Doing::Ask { member: member.name.clone() };
    Some(Step::patch_seen(kinds::MEMBER, meta, patch, doing).fenced(facts.fence()))
}
