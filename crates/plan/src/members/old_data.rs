//! A volume with the data of a server that has joined before, and that no record names: its
//! pod ended before its agent could note that it had left, its machine was away when the
//! others went on without it, or it is older than the service. It is not started; it joins
//! as new where its claim says that its server has left, or where a user gives it up.

use super::{MEMBER, MemberFact, ServiceFacts, lost};
use crate::plan::Step;
use crate::proof::Proof;
use palladion_api::ids::VolumeId;
use palladion_api::labels;
use palladion_api::service::ServiceTurn;
use palladion_api::service_member::{MemberVolumeState, ServiceIntentKind};
use serde_json::{Value, json};
use std::fmt::Display;

/// The volume of this member, if it holds such data.
pub fn on_volume(member: &MemberFact) -> Option<&VolumeId> {
    let volume = member.volume().filter(|v| v.state == MemberVolumeState::Joined)?;
    member.volume_id().is_none().then_some(&volume.volume_id)
}

/// The volume of this member, if it holds such data and nobody has given it up. `own` is
/// what its system calls the server on it.
pub fn off_record<'a>(member: &'a MemberFact, own: Option<&str>) -> Option<&'a VolumeId> {
    let claim = member.claim.as_ref().map(|c| &c.object.meta.annotations);
    let left = claim.and_then(|annotations| annotations.get(labels::GONE)).map(String::as_str);
    let has_left = left.is_some() && left == own;
    let is_given_up = |volume: &VolumeId| has_left || lost::named(member) == Some(volume.as_str());
    on_volume(member).filter(|volume| !is_given_up(volume))
}

/// Has its agent yet to note that the server on this volume has left? An intent of
/// an earlier one it refuses: that is waited for by nobody.
pub fn is_to_be_noted(member: &MemberFact) -> bool {
    let intent = member.spec.as_ref().and_then(|spec| spec.intent.as_ref());
    intent.is_some_and(|intent| on_volume(member) == Some(&intent.volume_id))
}

/// Have its agent note that the server on it has left, so that a permit may wipe it. What a
/// user has said was of this data.
pub fn leave<D: Display>(
    facts: &ServiceFacts<'_>,
    turn: &ServiceTurn,
    member: &MemberFact,
    gone: Proof,
    doing: impl FnOnce(&VolumeId) -> D,
) -> Option<Step> {
    let (volume, object) = (on_volume(member)?, member.object.as_ref()?);
    let kind = ServiceIntentKind::Leave;
    let patch = json!({
        "metadata": { "annotations": { labels::REPLACE: Value::Null } },
        "spec": { "intent": { "kind": kind, "nonce": turn.nonce, "volumeID": volume } },
    });
    let step = Step::patch_as_seen(MEMBER, &object.meta, patch, doing(volume));
    Some(step.fenced(facts.fence()).proven(gone))
}
