//! The racks in the status: how many members each has, and whether one of them
//! is leaving or being replaced.

use crate::facts::{Facts, MemberFact};
use crate::validate::{Valid, ValidRack};
use crate::words::status::{Leaving, Replacing};
use palladion_api::cluster::{RackStatus, TurnStep};
use palladion_api::conditions::{Condition, MEMBER_LEAVING, MEMBER_REPLACING};
use palladion_api::ids::RackName;
use palladion_plan::Conditions;
use std::collections::BTreeMap;

/// Racks that have a StatefulSet, by name.
pub fn of(facts: &Facts<'_>, valid: &Valid) -> BTreeMap<RackName, RackStatus> {
    let mut racks = BTreeMap::new();
    // One that has no set yet is not created: its claims may still be changed.
    let made = |rack: &&ValidRack| {
        facts.sets.contains_key(&rack.set) || facts.status.racks.contains_key(&rack.name)
    };
    for rack in valid.racks.iter().filter(made) {
        let newest = facts.sets.get(&rack.set).and_then(|s| s.update_revision.as_ref());
        let pods: Vec<_> = facts
            .members
            .values()
            .filter(|m| m.rack == rack.name)
            .filter_map(|m| m.pod.as_ref())
            .collect();
        let count = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
        racks.insert(
            rack.name.clone(),
            RackStatus {
                members: facts.sets.get(&rack.set).map_or(0, |s| s.replicas),
                ready_members: count(pods.iter().filter(|p| p.is_ready()).count()),
                updated_members: count(pods.iter().filter(|p| Some(&p.revision) == newest).count()),
                conditions: conditions(facts, rack),
            },
        );
    }
    racks
}

/// A rack has a condition from when it is True for the first time: a ring that
/// is created costs no write for what it does not do.
fn conditions(facts: &Facts<'_>, rack: &ValidRack) -> Vec<Condition> {
    let stored = facts.status.racks.get(&rack.name).map(|r| &r.conditions[..]).unwrap_or_default();
    let has = |type_: &str| stored.iter().any(|c| c.type_ == type_);
    let (leaving, replacing) = (has(MEMBER_LEAVING), has(MEMBER_REPLACING));
    let generation = facts.snapshot.owner.meta.generation;
    let mut writer = Conditions::new(stored, generation, facts.now());
    let mut members = facts.members.values().filter(|m| m.rack == rack.name && !m.is_gone());
    match members.clone().find(|m| is_leaving(facts, m)) {
        Some(m) => writer.set_true(MEMBER_LEAVING, Leaving::Member { member: m.name.clone() }),
        None if leaving => writer.set_false(MEMBER_LEAVING, Leaving::Nobody),
        None => {}
    }
    match members.find(|m| is_being_replaced(facts, m)) {
        Some(m) => writer.set_true(MEMBER_REPLACING, Replacing::Member { member: m.name.clone() }),
        None if replacing => writer.set_false(MEMBER_REPLACING, Replacing::Nobody),
        None => {}
    }
    writer.all().to_vec()
}

/// Is it to leave, or is it being removed by others?
fn is_leaving(facts: &Facts<'_>, member: &MemberFact) -> bool {
    let intent = member.spec.as_ref().is_some_and(|s| s.intent.is_some());
    intent || member.removal().is_some() || has_turn(facts, member, TurnStep::Remove)
}

/// Is another server to take its place?
fn is_being_replaced(facts: &Facts<'_>, member: &MemberFact) -> bool {
    let marked = member.spec.as_ref().is_some_and(|s| s.replace.is_some());
    marked || has_turn(facts, member, TurnStep::Replace)
}

fn has_turn(facts: &Facts<'_>, member: &MemberFact, step: TurnStep) -> bool {
    facts.turn().is_some_and(|t| t.member == member.name && t.step == step)
}
