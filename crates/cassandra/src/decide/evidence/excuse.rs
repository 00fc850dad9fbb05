//! Whose absence forbids no replacement and no removal.

use super::absence::Absent;
use super::marks;
use crate::facts::{Facts, MemberFact};
use palladion_api::ids::{HostId, Nonce};
use palladion_api::member::{MemberState, VolumeState};

/// The dead one, and whoever else is marked for replacement; nobody waits for
/// them any more.
pub fn excused<'a>(facts: &'a Facts<'_>, host_id: &'a HostId) -> Vec<&'a HostId> {
    let marked = facts.members.values().filter_map(marks::of);
    std::iter::once(host_id).chain(marked.map(|r| &r.host_id)).collect()
}

/// The same for a removal that has begun and was cut off: members whose disks
/// are lost come back under no host ID that the ring knows, and can be replaced
/// only when it sees nobody leaving any more.
pub fn excused_from_removal<'a>(
    facts: &'a Facts<'_>,
    &Absent { member: whom, host_id, .. }: &Absent<'a>,
    asked: &[&MemberFact],
    nonce: &Nonce,
) -> Vec<&'a HostId> {
    let mut excused = excused(facts, host_id);
    let is_on_record = whom.removal().is_some_and(|r| r.host_id == *host_id);
    if is_on_record && all_see_leaving(host_id, asked, nonce) {
        excused.extend(facts.members.values().filter_map(disk_lost));
    }
    excused
}

fn all_see_leaving(host_id: &HostId, asked: &[&MemberFact], nonce: &Nonce) -> bool {
    let sees = |witness: &&MemberFact| {
        let answer = witness.status.evidence.as_ref().filter(|e| e.nonce == *nonce);
        let mut view = answer.and_then(|e| e.members.as_ref()).into_iter().flatten();
        view.any(|m| m.host_id == *host_id && m.state == MemberState::Leaving)
    };
    !asked.is_empty() && asked.iter().all(sees)
}

/// The host ID of a member whose agent reports that its data is gone.
fn disk_lost(member: &MemberFact) -> Option<&HostId> {
    let is_lost = member.volume().is_some_and(|v| v.state == VolumeState::Lost);
    member.recorded_host_id().filter(|_| is_lost && !member.is_normal())
}
