//! What forbids a leave: replication that would not be met any more, and disks
//! that cannot take what the leaver has. What is not known forbids as well.

use crate::decide::evidence;
use crate::decide::maintenance::system_keyspaces;
use crate::facts::{Facts, MemberFact};
use crate::validate::ValidRack;
use palladion_api::member::{Disk, Evidence};
use std::collections::BTreeSet;

/// What streams in is compacted beside itself before the parts are deleted.
const ROOM_PERCENT: u64 = 150;
const GIB: u64 = 1 << 30;

/// Replication that would no longer be met, naming the keyspace. What is not
/// known forbids as well.
pub fn by_replication(facts: &Facts<'_>, rack: &ValidRack, left: usize) -> Option<String> {
    let joined = || facts.members.values().filter(|m| m.recorded_host_id().is_some());
    let Some(copies) =
        joined().filter(|m| m.is_normal()).map(|m| &m.status.copies).find(|c| !c.is_empty())
    else {
        return Some("no member has reported the replication of the keyspaces yet".into());
    };
    let of_users = || copies.iter().filter(|(name, _)| !system_keyspaces::is_one(name));
    let held = |copies: &u32| usize::try_from(*copies).unwrap_or(usize::MAX);
    if let Some((name, copies)) = of_users().find(|(_, copies)| held(copies) > left) {
        return Some(format!(
            "keyspace {name} keeps {copies} copies and {left} members would be left; ALTER KEYSPACE first"
        ));
    }
    let racks: BTreeSet<&str> = joined().map(|m| m.rack.as_str()).collect();
    let empties_rack = joined().filter(|m| m.rack == rack.name).count() == 1;
    let racks_left = racks.len() - usize::from(empties_rack);
    let crowded = of_users()
        .find(|(_, copies)| empties_rack && racks_left > 1 && held(copies) == racks.len());
    crowded.map(|(name, copies)| {
        format!("keyspace {name} keeps a copy in each of {copies} racks and rack {} would be empty; ALTER KEYSPACE first", rack.name)
    })
}

/// A member that would receive more than its disk can take, by the answers
/// that `of` picks: those to a turn's question, or the last ones at all. `None`
/// = there is room, or (for answers that are missing) nobody has been asked.
pub fn by_disk<'a>(
    facts: &'a Facts<'_>,
    leaver: &'a MemberFact,
    of: impl Fn(&'a MemberFact) -> Option<&'a Evidence>,
) -> Option<(String, jiff::Timestamp)> {
    let receivers = receivers(facts, leaver);
    let answer = of(leaver)?;
    let unknown = |member: &MemberFact, answer: &Evidence| {
        let words = format!("member {} does not tell how full its disk is", member.name);
        Some((words, answer.read_at.0))
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
            let words = format!(
                "member {} would receive about {}, needs half as much again to compact it and has {} free; grow its volume or set `members` back",
                receiver.name,
                words(share),
                words(disk.free_bytes)
            );
            return Some((words, answer.read_at.0));
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

#[expect(clippy::cast_precision_loss, reason = "a figure for people, with one decimal")]
fn words(bytes: u64) -> String {
    match bytes < GIB {
        true => format!("{} MiB", bytes >> 20),
        false => format!("{:.1} GiB", bytes as f64 / GIB as f64),
    }
}
