//! The members of a task, in the order in which they come: racks in the order
//! of the spec, in each by ordinal.

use super::follow::is_final;
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::jobs::Refused;
use palladion_api::ids::{MemberName, RackName};
use palladion_api::task::{CassandraTaskSpec, MemberTaskState, TaskMember};
use palladion_plan::words::Names;

/// The members that the task is for.
///
/// # Errors
/// It names what does not exist, or nobody.
pub fn chosen(
    facts: &Facts<'_>,
    valid: &Valid,
    spec: &CassandraTaskSpec,
) -> Result<Vec<MemberName>, Refused> {
    let cluster = || facts.snapshot.owner.meta.name.clone();
    let all = in_order(facts, valid);
    let unknown: Vec<&MemberName> =
        spec.members.iter().filter(|name| !all.iter().any(|m| m.name == **name)).collect();
    if !unknown.is_empty() {
        let members = Names::of(all.iter().map(|m| &m.name));
        let unknown = Names::of(unknown);
        return Err(Refused::NoSuchMembers { cluster: cluster(), unknown, members });
    }
    let mut racks: Vec<&RackName> = valid.racks.iter().map(|r| &r.name).collect();
    // One that is being drained is not in the spec any more.
    racks.extend(all.iter().map(|m| &m.rack).filter(|rack| !racks_have(valid, rack)));
    racks.dedup();
    let unknown: Vec<&RackName> = spec.racks.iter().filter(|r| !racks.contains(r)).collect();
    if !unknown.is_empty() {
        let (unknown, racks) = (Names::of(unknown), Names::of(racks));
        return Err(Refused::NoSuchRacks { cluster: cluster(), unknown, racks });
    }
    let is_chosen = |m: &&&MemberFact| {
        (spec.members.is_empty() || spec.members.contains(&m.name))
            && (spec.racks.is_empty() || spec.racks.contains(&m.rack))
    };
    let chosen: Vec<MemberName> = all.iter().filter(is_chosen).map(|m| m.name.clone()).collect();
    match chosen.is_empty() && !spec.racks.is_empty() {
        true => Err(Refused::NoMembers { racks: Names::of(&spec.racks) }),
        false => Ok(chosen),
    }
}

fn racks_have(valid: &Valid, rack: &RackName) -> bool {
    valid.racks.iter().any(|r| r.name == *rack)
}

/// Members that have joined, in order.
fn in_order<'a>(facts: &'a Facts<'_>, valid: &Valid) -> Vec<&'a MemberFact> {
    let mut all: Vec<&MemberFact> = facts.joined().filter(|m| m.object.is_some()).collect();
    let place = |m: &MemberFact| {
        let rack = valid.racks.iter().position(|r| r.name == m.rack);
        (rack.unwrap_or(usize::MAX), m.rack.clone(), m.ordinal)
    };
    all.sort_by_key(|m| place(m));
    all
}

/// Nobody has begun.
pub fn entries(names: Vec<MemberName>) -> Vec<TaskMember> {
    let entry = |name| TaskMember {
        name,
        host_id: None,
        state: MemberTaskState::Waiting,
        tries: 0,
        started_at: None,
        ended_at: None,
        silent_since: None,
        reason: None,
        message: None,
        keyspaces: Vec::new(),
    };
    names.into_iter().map(entry).collect()
}

/// Who comes next, with its number.
pub fn next(members: &[TaskMember]) -> Option<(usize, &TaskMember)> {
    members.iter().enumerate().find(|(_, entry)| !is_final(entry.state))
}
