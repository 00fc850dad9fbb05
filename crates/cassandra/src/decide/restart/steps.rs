//! The writes of a restart: what a member must know before, its new token, and
//! the end of its pod.

use crate::decide::draft::synced;
use crate::decide::evidence::Proof;
use crate::decide::objects::restart_tokens;
use crate::facts::{MemberFact, PodFact};
use crate::resources as kinds;
use crate::validate::Valid;
use palladion_plan::{Fence, Object, Step};
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
        Step::patch_seen(
            kinds::MEMBER,
            &object.meta,
            json!({ "spec": spec }),
            format!("allow member {} to start in revision {newest}", member.name),
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
        Step::patch_seen(
            kinds::MEMBER,
            &object.meta,
            json!({ "spec": { "restartToken": token } }),
            format!("restart the server of member {}", member.name),
        )
        .fenced(fence)
        .proven(proof.stated())
        .announced(synced(format!("Member {} is restarted as asked", member.name))),
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
    let event = synced(format!(
        "Pod of member {} is replaced to bring it to the newest revision",
        member.name
    ));
    let doing = format!("replace the pod of member {}", member.name);
    pod.removal((kinds::POD, &valid.namespace), proof.stated(), doing, fence, event)
}
