//! The record that a volume is lost.

use super::super::{ClaimFact, MEMBER, MemberFact};
use crate::plan::{Event, Fence, Step};
use crate::words::lost::{Doing, Happened, Lost};
use palladion_api::reasons::Reason;
use palladion_api::service_member::{LossCause, MemberServerState, VolumeLoss};
use palladion_api::zookeeper::ServerId;
use serde_json::json;

/// Record that the volume that a member has on record is lost. `None` where it has none.
///
/// A volume that came in the place of one that is lost may be lost as well before the
/// replacement is over: then the server IDs of both must be out in the end.
pub fn mark(
    member: &MemberFact,
    cause: LossCause,
    why: Lost,
    fence: Option<Fence>,
) -> Option<Step> {
    let spec = member.spec.as_ref()?;
    let before = member.loss();
    let earlier: Vec<ServerId> = before.map(all_server_ids).unwrap_or_default();
    // Said in full: a merge patch would keep what an earlier record had. And a permit for
    // that volume is none any more.
    let patch = json!({ "spec": {
        "start": null,
        "replace": {
            "lost": {
                "volumeID": spec.volume_id.as_ref()?,
                "serverID": spec.server_id,
                "nodeName": spec.node_name,
                "address": spec.address,
                "claimUID": member.claim.as_ref().map(ClaimFact::uid),
            },
            "cause": &cause,
            "reason": why.to_string(),
            "revocable": before.is_none() && may_be_taken_back(&cause),
            "earlierServerIDs": earlier,
        },
    } });
    let meta = &member.object.as_ref()?.meta;
    let name = || member.name.clone();
    let event = Event::normal(Happened::Marked { member: name(), why });
    let doing = Doing::Mark { member: name() };
    Some(Step::patch_as_seen(MEMBER, meta, patch, doing).fenced(fence).announced(event))
}

/// May its reason be gone later, with the data as it was? What was missing once is put back
/// by somebody, from a copy.
fn may_be_taken_back(cause: &LossCause) -> bool {
    match cause {
        LossCause::NodeGone | LossCause::User => true,
        LossCause::Agent | LossCause::Rescue | LossCause::Unknown(_) => false,
    }
}

/// Server IDs of this volume and of those that were lost before it.
pub fn all_server_ids(loss: &VolumeLoss) -> Vec<ServerId> {
    loss.earlier_server_ids.iter().copied().chain(loss.lost.server_id).collect()
}

/// Take that record off again.
pub fn unmark(member: &MemberFact, fence: Fence) -> Option<Step> {
    let meta = &member.object.as_ref()?.meta;
    let patch = json!({ "spec": { "replace": null } });
    let doing = Doing::Unmark { member: member.name.clone() };
    Some(Step::patch_as_seen(MEMBER, meta, patch, doing).fenced(fence))
}

/// Has the agent of its pod heard that the volume is marked, so that what it reports is of
/// after that? It starts no server on such a volume, and says why.
pub fn has_heard(member: &MemberFact) -> bool {
    member.server().is_some_and(|server| {
        let why = server.reason.as_deref();
        server.state == MemberServerState::Stopped && why == Some(Reason::VolumeLost.as_str())
    })
}

/// Does the claim still stand for the volume that is lost?
pub fn has_old_claim(member: &MemberFact) -> bool {
    let old = member.loss().and_then(|l| l.lost.claim_uid.as_ref());
    let is = member.claim.as_ref().map(ClaimFact::uid);
    old.is_some() && old == is.as_ref()
}
