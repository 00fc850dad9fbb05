//! Which volumes are lost, and which are the new ones of members that lost theirs.

use super::marks;
use crate::facts::MemberFact;
use palladion_api::cluster::Replaced;
use palladion_api::ids::VolumeId;
use palladion_api::member::{VolumeState, VolumeStatus};

/// The marker rule: the recorded volume's marker is missing on the recorded
/// file system. Or a replacement was begun and did not come to its end: the
/// lost identity was taken off the record, and stands on the claim alone. Or
/// the volume is marked for replacement.
pub fn lost(member: &MemberFact) -> Option<(VolumeId, Replaced)> {
    if let Some(record) = marks::of(member) {
        let fresh = member.volume().filter(|v| is_fresh(member, v));
        let volume_id = fresh.map_or(&record.volume_id, |v| &v.volume_id);
        let replaced =
            Replaced { host_id: record.host_id.clone(), address: record.address.clone() };
        return Some((volume_id.clone(), replaced));
    }
    let volume = member.volume()?;
    let spec = member.spec.as_ref()?;
    let claim = member.claim.as_ref();
    let (host_id, address) = match volume.state {
        // What a user has terminated is replaced when a user says so.
        VolumeState::Lost if member.is_terminated() || member.is_banned() => return None,
        VolumeState::Lost => (member.recorded_host_id()?.clone(), member.ring_address()?.clone()),
        VolumeState::Empty | VolumeState::Incomplete if spec.host_id.is_none() => {
            let claim =
                claim.filter(|c| c.volume_id.as_ref().is_some_and(|v| *v != volume.volume_id))?;
            (claim.host_id.clone()?, claim.address.clone()?)
        }
        VolumeState::Empty
        | VolumeState::Incomplete
        | VolumeState::Joined
        | VolumeState::Left
        | VolumeState::NotMounted
        | VolumeState::Foreign
        | VolumeState::Unaccounted
        | VolumeState::Unknown => return None,
    };
    Some((volume.volume_id.clone(), Replaced { host_id, address }))
}

/// Is this the new volume of a member whose old one is marked for replacement?
pub fn is_fresh(member: &MemberFact, volume: &VolumeStatus) -> bool {
    !marks::has_old_claim(member)
        && matches!(volume.state, VolumeState::Empty | VolumeState::Incomplete)
}
