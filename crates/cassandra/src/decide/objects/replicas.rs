//! How many replicas a rack's set has. Never from the spec alone: the spec
//! only sets the target; a member that exists keeps its pod (safety rule 1.7).

use crate::decide::turn::stopping::{self, Standing};
use crate::facts::leaver::is_interrupted;
use crate::facts::{Facts, MemberFact};
use crate::validate::{Valid, ValidRack};
use palladion_api::cluster::TurnStep;
use palladion_api::ids::MemberName;
use palladion_api::names;

/// One more than the highest ordinal that is wanted or exists. A member that
/// leaves or has left takes its pod and its record with it before another is
/// made in its place or above it, also where the spec wants one again by then:
/// a set has no gaps, and a pod above would keep the pod of the one that left.
pub fn of(facts: &Facts<'_>, rack: &ValidRack) -> i32 {
    let ordinal = |m: &MemberFact| names::ordinal(&rack.set, m.name.as_str());
    let ring_exists = facts.ring_exists();
    // No ring begins, and no member of one, where all have left.
    let is_surveyed = |m: &MemberFact| !ring_exists && !facts.leaves() && has_claim(m);
    let existing = facts
        .members
        .values()
        .filter(|m| !m.is_gone())
        .filter(|m| m.object.is_some() || has_pod(m) || m.is_bound_member() || is_surveyed(m))
        .filter_map(ordinal)
        .map(|ordinal| ordinal + 1)
        .max()
        .unwrap_or_default();
    let gone = facts
        .members
        .values()
        .filter(|m| m.is_gone() || is_leaving(facts, m))
        .filter_map(ordinal)
        .min();
    let wanted = gone.map_or(rack.members, |gone| rack.members.min(gone));
    // Nothing is made for a ring that should have no pods.
    let wanted = if stopping::is_wanted(facts) { 0 } else { wanted };
    existing.max(wanted)
}

/// Has its leave begun?
fn is_leaving(facts: &Facts<'_>, member: &MemberFact) -> bool {
    let turn = facts.turn().filter(|t| t.member == member.name);
    member.spec.as_ref().is_some_and(|s| s.intent.is_some())
        || is_interrupted(member)
        || turn.is_some_and(|t| matches!(t.step, TurnStep::Leave | TurnStep::ResumeLeave))
}

/// A claim that may hold an older ring: only an agent in a pod can tell, and no
/// ring is initialized before it has.
fn has_claim(member: &MemberFact) -> bool {
    member.claim.as_ref().is_some_and(|c| c.bound && !c.terminating)
}

/// A pod without a record, on its way out, is what somebody's scaling left behind.
fn has_pod(member: &MemberFact) -> bool {
    member.pod.as_ref().is_some_and(|p| !p.terminating)
}

/// How many pods the set of a rack should have: one for each member, or none
/// while the ring is stopped.
pub fn pods(facts: &Facts<'_>, rack: &ValidRack) -> i32 {
    let all = of(facts, rack);
    let now = facts.sets.get(&rack.set).map_or(0, |s| s.replicas);
    let data_is_going = facts
        .members
        .values()
        .filter(|m| m.rack == rack.name)
        .any(|m| m.claim.as_ref().is_some_and(|c| c.terminating));
    match stopping::standing(facts) {
        Standing::Runs => all,
        // Who is not up yet need not start for what is left to do.
        Standing::Finishes { .. } if now == 0 => 0,
        Standing::Finishes { .. } => all,
        // The claim would go with the pod; `claims` reports it.
        Standing::Stops if data_is_going => now.min(all),
        Standing::Stops => 0,
    }
}

/// The wanted members of all racks, in the order in which they join: seeds of
/// every rack before the rest, so that no rack waits for another's last.
pub fn in_order(facts: &Facts<'_>, valid: &Valid) -> Vec<(usize, MemberName)> {
    let mut all: Vec<(i32, usize, MemberName)> = Vec::new();
    for (index, rack) in valid.racks.iter().enumerate() {
        for ordinal in 0..of(facts, rack) {
            all.push((ordinal, index, names::member(&rack.set, ordinal)));
        }
    }
    all.sort();
    all.into_iter().map(|(_, index, name)| (index, name)).collect()
}

/// Is the member within its rack's target?
pub fn is_wanted(valid: &Valid, member: &MemberFact) -> bool {
    valid.racks.iter().any(|r| r.name == member.rack && member.ordinal < r.members)
}
