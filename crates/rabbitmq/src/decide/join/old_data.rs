//! A volume with the data of a node that has joined before, and that no record names: its
//! machine was away when the others forgot it, or it is older than the cluster. It is not
//! started; it joins as new where its claim says that its node has left, or where a user
//! gives it up.

use crate::decide::draft::Draft;
use crate::decide::evidence::Agreed;
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::words::join::Doing;
use palladion_api::ids::VolumeId;
use palladion_api::labels;
use palladion_api::service::ServiceTurn;
use palladion_api::service_member::{MemberVolumeState, ServiceIntentKind};
use palladion_plan::Step;
use serde_json::{Value, json};

/// The volume of this member, if it holds such data and nobody has given it up.
pub fn off_record<'a>(facts: &Facts<'_>, member: &'a MemberFact) -> Option<&'a VolumeId> {
    of_old_node(member).filter(|volume| !is_given_up(facts, member, volume))
}

/// The volume of this member, if it holds such data.
pub(super) fn of_old_node(member: &MemberFact) -> Option<&VolumeId> {
    let volume = member.volume().filter(|v| v.state == MemberVolumeState::Joined)?;
    member.volume_id().is_none().then_some(&volume.volume_id)
}

fn is_given_up(facts: &Facts<'_>, member: &MemberFact, volume: &VolumeId) -> bool {
    let claim = member.claim.as_ref().map(|c| &c.object.meta.annotations);
    let left = claim.and_then(|annotations| annotations.get(labels::GONE));
    let object = member.object.as_ref().map(|o| &o.meta.annotations);
    let named = object.and_then(|annotations| annotations.get(labels::REPLACE));
    left == Some(&facts.node_of(member).to_string())
        || named.map(String::as_str) == Some(volume.as_str())
}

/// Have its agent note that the node on it has left, so that a permit may wipe it. What a
/// user has said was of this data.
pub(super) fn leave(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    member: &MemberFact,
    gone: &Agreed,
    draft: &mut Draft,
) {
    let (Some(volume), Some(object)) = (of_old_node(member), &member.object) else { return };
    let kind = ServiceIntentKind::Leave;
    let patch = json!({
        "metadata": { "annotations": { labels::REPLACE: Value::Null } },
        "spec": { "intent": { "kind": kind, "nonce": turn.nonce, "volumeID": volume } },
    });
    let doing = Doing::LeaveOldData { member: member.name.clone(), volume: volume.clone() };
    let step = Step::patch_as_seen(kinds::MEMBER, &object.meta, patch, doing);
    draft.steps.push(step.fenced(facts.fence()).proven(gone.proof.stated()));
}
