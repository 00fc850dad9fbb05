//! A task that removes another datacenter, which is lost for good: what is seen of it by all
//! members here, and what must be so when one of them begins. The agent looks at the same
//! before each removal.

use super::preconditions::Gate;
use super::read::Task;
use crate::decide::evidence;
use crate::decide::maintenance::system_keyspaces;
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::jobs::{Refused, Waiting};
use palladion_api::ids::HostId;
use palladion_api::member::{Liveness, RingMember};
use palladion_api::task::RemoveDatacenterTask;
use palladion_plan::words::Names;
use std::collections::BTreeSet;

/// Why it cannot be done as it stands.
pub fn refused(facts: &Facts<'_>, valid: &Valid, task: &Task<'_>) -> Option<Refused> {
    let body = task.spec.work.remove_datacenter.as_ref()?;
    let datacenter = || body.name.clone();
    if body.name == valid.datacenter {
        return Some(Refused::OwnDatacenter { datacenter: datacenter() });
    }
    let others = facts.members_elsewhere();
    // Where nobody reports, it is waited for.
    let is_seen = facts.joined().any(|m| m.is_normal() && m.status.ring.is_some());
    if is_seen && !others.contains_key(body.name.as_str()) {
        let others = Names::of(others.keys());
        return Some(Refused::NoSuchDatacenter { datacenter: datacenter(), others });
    }
    let named: BTreeSet<&HostId> = body.host_ids.iter().collect();
    for member in facts.joined().filter(|m| m.is_normal()) {
        let Some((down, others)) = seen_by(facts, member, &body.name) else { continue };
        let witness = || member.name.clone();
        if !others.is_empty() {
            let members = Names::of(others);
            return Some(Refused::NotAllDown {
                datacenter: datacenter(),
                members,
                witness: witness(),
            });
        }
        if down != named {
            let host_ids = Names::of(down);
            return Some(Refused::OtherMembers {
                datacenter: datacenter(),
                host_ids,
                witness: witness(),
            });
        }
    }
    let keyspaces = copies(facts, &body.name);
    let has_copies = !keyspaces.is_empty();
    has_copies
        .then(|| Refused::HasCopies { datacenter: datacenter(), keyspaces: Names::of(keyspaces) })
}

/// Whom a member sees down of this datacenter, and what it sees otherwise: members by address,
/// and how many more. None where it does not see the datacenter.
fn seen_by<'a>(
    facts: &Facts<'_>,
    member: &'a MemberFact,
    datacenter: &str,
) -> Option<(BTreeSet<&'a HostId>, Vec<String>)> {
    let ring = member.status.ring.as_ref()?;
    let there = facts.other_datacenters(ring).into_iter().find(|d| d.name == datacenter)?;
    let is_there = |seen: &&RingMember| seen.datacenter.as_deref() == Some(datacenter);
    let odd: Vec<&RingMember> = ring.exceptions.iter().filter(is_there).collect();
    let is_down = |seen: &&&RingMember| seen.liveness == Liveness::Down;
    let down: BTreeSet<&HostId> = odd.iter().filter(is_down).map(|m| &m.host_id).collect();
    let up = odd.iter().filter(|seen| !is_down(seen)).map(|m| m.address.to_string());
    let mut others: Vec<String> = up.collect();
    // Who is up and normal is not listed.
    let listed = u32::try_from(odd.len()).unwrap_or(u32::MAX);
    let well = there.members.saturating_sub(listed);
    if well > 0 {
        others.push(well.to_string());
    }
    Some((down, others))
}

/// Keyspaces of clients with copies there, as long as one member counts some.
fn copies<'a>(facts: &'a Facts<'_>, datacenter: &str) -> BTreeSet<&'a String> {
    let counted = facts.joined().filter_map(MemberFact::counted).flatten();
    let there = counted.filter(|(_, of)| of.get(datacenter).is_some_and(|copies| *copies > 0));
    there.map(|(name, _)| name).filter(|name| !system_keyspaces::is_one(name)).collect()
}

/// May this member begin? All others are up and normal, nobody moves, and copies are counted.
pub fn gate<'a>(
    facts: &'a Facts<'_>,
    member: &'a MemberFact,
    body: &RemoveDatacenterTask,
) -> Gate<'a> {
    if member.counted().is_none() {
        return Gate::Wait(Waiting::NotCounted { member: member.name.clone() });
    }
    match evidence::is_quiet_without(facts, member, &body.name) {
        Ok(proof) => Gate::Open(member, Some(proof)),
        Err(why) => Gate::Wait(Waiting::Ring { why }),
    }
}
