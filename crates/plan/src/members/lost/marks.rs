//! The record that a volume is lost.

use super::super::{ClaimFact, MEMBER, MemberFact};
use crate::plan::{Event, Fence, Step};
use crate::words::lost::{Doing, Happened, Lost};
use palladion_api::service::LostMember;
use palladion_api::service_member::{LossCause, VolumeLoss};
use serde_json::json;

/// Record that the volume that a member has on record is lost. `None` where it has none.
pub fn mark(
    member: &MemberFact,
    cause: LossCause,
    why: Lost,
    fence: Option<Fence>,
) -> Option<Step> {
    let spec = member.spec.as_ref()?;
    let loss = VolumeLoss {
        lost: LostMember {
            volume_id: spec.volume_id.clone()?,
            server_id: spec.server_id,
            node_name: spec.node_name.clone(),
            address: spec.address.clone(),
            claim_uid: member.claim.as_ref().map(ClaimFact::uid),
        },
        cause,
        reason: why.to_string(),
    };
    let meta = &member.object.as_ref()?.meta;
    let name = || member.name.clone();
    let event = Event::normal(Happened::Marked { member: name(), why });
    let patch = json!({ "spec": { "replace": loss } });
    let doing = Doing::Mark { member: name() };
    Some(Step::patch_as_seen(MEMBER, meta, patch, doing).fenced(fence).announced(event))
}

/// Take that record off again: the volume was only left out of what did not happen.
pub fn unmark(member: &MemberFact, fence: Fence) -> Option<Step> {
    let meta = &member.object.as_ref()?.meta;
    let patch = json!({ "spec": { "replace": null } });
    let doing = Doing::Unmark { member: member.name.clone() };
    Some(Step::patch_as_seen(MEMBER, meta, patch, doing).fenced(fence))
}

/// Does the claim still stand for the volume that is lost?
pub fn has_old_claim(member: &MemberFact) -> bool {
    let old = member.loss().and_then(|l| l.lost.claim_uid.as_ref());
    let is = member.claim.as_ref().map(ClaimFact::uid);
    old.is_some() && old == is.as_ref()
}
