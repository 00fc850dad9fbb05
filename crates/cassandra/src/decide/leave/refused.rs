//! What forbids a leave: replication that would not be met any more, and disks
//! that cannot take what the leaver has. What is not known forbids as well.

use crate::decide::evidence;
use crate::decide::maintenance::system_keyspaces;
use crate::facts::{Facts, MemberFact};
use crate::words::leave::{Bytes, Obstacle};
use palladion_api::ids::RackName;
use palladion_api::member::{Disk, Evidence};
use palladion_plan::words::Count;
use std::collections::BTreeSet;

/// What streams in is compacted beside itself before the parts are deleted.
const ROOM_PERCENT: u64 = 150;

/// Replication that would no longer be met, naming the keyspace. What is not
/// known forbids as well.
pub fn by_replication(facts: &Facts<'_>, rack: &RackName, left: usize) -> Option<Obstacle> {
    let joined = || facts.joined();
    let Some(copies) =
        joined().filter(|m| m.is_normal()).map(MemberFact::copies_here).find(|c| !c.is_empty())
    else {
        return Some(Obstacle::ReplicationUnknown);
    };
    let of_users = || copies.iter().filter(|(name, _)| !system_keyspaces::is_one(name));
    let held = |copies: &u32| usize::try_from(*copies).unwrap_or(usize::MAX);
    if let Some((name, copies)) = of_users().find(|(_, copies)| held(copies) > left) {
        let members = Count::of(left, "member");
        return Some(Obstacle::Copies { keyspace: (*name).clone(), copies: *copies, members });
    }
    let racks: BTreeSet<&RackName> = joined().map(|m| &m.rack).collect();
    let empties_rack = joined().filter(|m| m.rack == *rack).count() == 1;
    let racks_left = racks.len() - usize::from(empties_rack);
    let crowded = of_users()
        .find(|(_, copies)| empties_rack && racks_left > 1 && held(copies) == racks.len());
    crowded.map(|(name, copies)| {
        let (keyspace, rack) = ((*name).clone(), rack.clone());
        Obstacle::EmptyRack { keyspace, copies: *copies, rack }
    })
}

/// A member that would receive more than its disk can take, by the answers
/// that `of` picks: those to a turn's question, or the last ones at all. `None`
/// = there is room, or (for answers that are missing) nobody has been asked.
pub fn by_disk<'a>(
    facts: &'a Facts<'_>,
    leaver: &'a MemberFact,
    of: impl Fn(&'a MemberFact) -> Option<&'a Evidence>,
) -> Option<(Obstacle, jiff::Timestamp)> {
    let receivers = receivers(facts, leaver);
    let answer = of(leaver)?;
    let unknown = |member: &MemberFact, answer: &Evidence| {
        Some((Obstacle::DiskUnknown { member: member.name.clone() }, answer.read_at.0))
    };
    let Some(has) = disk(answer) else {
        return unknown(leaver, answer);
    };
    let share = has.data_bytes / u64::try_from(receivers.len().max(1)).unwrap_or(1);
    let needed = share.saturating_mul(ROOM_PERCENT) / 100;
    for receiver in receivers {
        let answer = of(receiver)?;
        let Some(disk) = disk(answer) else {
            return unknown(receiver, answer);
        };
        if disk.free_bytes < needed {
            let (member, share) = (receiver.name.clone(), Bytes(share));
            let full = Obstacle::DiskFull { member, share, free: Bytes(disk.free_bytes) };
            return Some((full, answer.read_at.0));
        }
    }
    None
}

fn disk(answer: &Evidence) -> Option<&Disk> {
    answer.disk.as_ref()
}

/// With a copy in each rack a leaver's data goes to the members of its rack.
fn receivers<'a>(facts: &'a Facts<'_>, leaver: &MemberFact) -> Vec<&'a MemberFact> {
    let others = evidence::others(facts, &leaver.name);
    let same_rack: Vec<_> = others.iter().copied().filter(|m| m.rack == leaver.rack).collect();
    if same_rack.is_empty() { others } else { same_rack }
}
