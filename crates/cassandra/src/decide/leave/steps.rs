//! The writes of a leave: its intent is renewed or taken back, its member is
//! recorded as gone, its turn ends.

use crate::decide::draft::{Draft, synced};
use crate::decide::evidence::Proof;
use crate::decide::turn::lock;
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::validate::Valid;
use palladion_api::cluster::Turn;
use palladion_api::ids::HostId;
use palladion_api::member::IntentKind;
use palladion_plan::{Object, ObjectKey, Precondition, Step, Subresource};
use serde_json::json;

fn uid(member: &MemberFact) -> Precondition {
    let object = member.object.as_ref();
    Precondition::Uid(object.map(|o| o.meta.uid.clone()).unwrap_or_default())
}

/// Let the member leave the ring, by recorded intent.
pub fn decommission(
    facts: &Facts<'_>,
    turn: &Turn,
    (member, object): (&MemberFact, &Object),
    host_id: &HostId,
    proof: &Proof,
) -> Step {
    Step::patch_as_seen(
        kinds::MEMBER,
        &object.meta,
        json!({ "spec": { "intent": {
            "kind": IntentKind::Decommission,
            "nonce": turn.nonce,
            "hostID": host_id,
            "volumeID": turn.volume_id,
        }}}),
        format!("let member {} leave", member.name),
    )
    .fenced(facts.fence(turn))
    .proven(proof.stated())
    .announced(synced(format!("Member {} leaves the ring", member.name)))
}

/// The intent carries the new nonce of the renewed turn; the agent has done it
/// already and answers at once.
pub fn renew(valid: &Valid, member: &MemberFact, turn: &Turn) -> Step {
    Step::Patch {
        key: ObjectKey::new(kinds::MEMBER, &valid.namespace, member.name.as_str()),
        patch: json!({ "spec": { "intent": { "nonce": turn.nonce } } }),
        subresource: Subresource::None,
        precondition: uid(member),
        fence: None,
        proof: None,
        doing: format!("renew the intent of member {}", member.name),
        event: None,
    }
}

/// Take the intent back.
pub fn withdraw(valid: &Valid, member: &MemberFact) -> Step {
    Step::Patch {
        key: ObjectKey::new(kinds::MEMBER, &valid.namespace, member.name.as_str()),
        patch: json!({ "spec": { "intent": null } }),
        subresource: Subresource::None,
        precondition: uid(member),
        fence: None,
        proof: None,
        doing: format!("withdraw the intent of member {}", member.name),
        event: None,
    }
}

/// Record that a member is gone for good: from here on its set may shrink.
pub fn terminate(
    facts: &Facts<'_>,
    valid: &Valid,
    member: &MemberFact,
    proof: &Proof,
    turn: Option<&Turn>,
) -> Step {
    Step::Patch {
        key: ObjectKey::new(kinds::MEMBER, &valid.namespace, member.name.as_str()),
        patch: json!({
            "metadata": { "annotations": { palladion_api::labels::GONE: proof.text() } },
            "spec": { "run": "Terminated", "start": null },
        }),
        subresource: Subresource::None,
        precondition: uid(member),
        fence: turn.map(|t| facts.fence(t)),
        proof: Some(proof.stated()),
        doing: format!("record that member {} has left: {}", member.name, proof.text()),
        event: synced(format!("Member {} has left the ring", member.name)),
    }
}

/// End a turn, saying why.
pub fn end(
    facts: &Facts<'_>,
    turn: &Turn,
    why: &str,
    event: Option<palladion_plan::Event>,
    draft: &mut Draft,
) {
    draft.steps.push(lock::end(facts, turn, why, event));
}
