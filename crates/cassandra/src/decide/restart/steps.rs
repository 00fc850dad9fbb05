//! The writes of a restart: what a member must know before, its new token, and
//! the end of its pod.

use crate::decide::evidence::Proof;
use crate::decide::objects::restart_tokens;
use crate::facts::{MemberFact, PodFact};
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::restart::{Doing, Happened};
use palladion_plan::{Event, Fence, Object, Step};
use serde_json::{Map, json};

/// What the member must know before its next pod starts: that it may, and with
/// which token.
pub fn prepare(
    valid: &Valid,
    member: &MemberFact,
    object: &Object,
    newest: &str,
    proof: &Proof,
    fence: Fence,
) -> Option<Step> {
    let revisions = &member.spec.as_ref()?.revisions;
    let mut spec = Map::new();
    if !revisions.iter().any(|r| r == newest) {
        spec.insert("revisions".into(), json!([newest]));
    }
    if let Some(token) = restart_tokens::due(valid, member) {
        spec.insert("restartToken".into(), token.into());
    }
    (!spec.is_empty()).then(|| {
        Step::patch_as_seen(
            kinds::MEMBER,
            &object.meta,
            json!({ "spec": spec }),
            Doing::Allow { member: member.name.clone(), revision: newest.to_string() },
        )
        .fenced(fence)
        .proven(proof.stated())
    })
}

/// A new token: the agent drains the server and starts it again in its pod.
pub fn give_token(
    member: &MemberFact,
    token: &str,
    proof: &Proof,
    fence: Option<Fence>,
) -> Option<Step> {
    let object = member.object.as_ref()?;
    Some(
        Step::patch_as_seen(
            kinds::MEMBER,
            &object.meta,
            json!({ "spec": { "restartToken": token } }),
            Doing::Restart { member: member.name.clone() },
        )
        .fenced(fence)
        .proven(proof.stated())
        .announced(Event::normal(Happened::Requested { member: member.name.clone() })),
    )
}

/// End a pod, saying what proves that it may go.
pub fn delete_pod(
    valid: &Valid,
    member: &MemberFact,
    pod: &PodFact,
    proof: &Proof,
    fence: Option<Fence>,
) -> Step {
    let event = Some(Event::normal(Happened::NewPod { member: member.name.clone() }));
    let doing = Doing::ReplacePod { member: member.name.clone() }.to_string();
    pod.removal((kinds::POD, &valid.namespace), proof.stated(), doing, fence, event)
}
