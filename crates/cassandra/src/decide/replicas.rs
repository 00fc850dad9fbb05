//! How many replicas a rack's set has. Never from the spec alone: the spec
//! only sets the target; a member that exists keeps its pod (safety, section 1).

use crate::facts::{Facts, MemberFact};
use crate::validate::{Valid, ValidRack};
use palladion_api::names;

/// One more than the highest ordinal that is wanted or exists. A member that
/// is on record as gone takes its pod and its record with it before another is
/// made in its place, also where the spec wants one again by then.
pub fn of(facts: &Facts<'_>, rack: &ValidRack) -> i32 {
    let ordinal = |m: &MemberFact| names::ordinal(&rack.set, &m.name);
    let existing = facts
        .members
        .values()
        .filter(|m| !m.is_gone())
        .filter(|m| m.object.is_some() || m.pod.is_some() || m.is_bound_member())
        .filter_map(ordinal)
        .map(|ordinal| ordinal + 1)
        .max()
        .unwrap_or_default();
    let gone = facts
        .members
        .values()
        .filter(|m| m.is_gone())
        .filter_map(ordinal)
        .min();
    let wanted = gone.map_or(rack.members, |gone| rack.members.min(gone));
    existing.max(wanted)
}

/// The wanted members of all racks, in the order in which they join: seeds of
/// every rack before the rest, so that no rack waits for another's last.
pub fn in_order(facts: &Facts<'_>, valid: &Valid) -> Vec<(usize, String)> {
    let mut all: Vec<(i32, usize, String)> = Vec::new();
    for (index, rack) in valid.racks.iter().enumerate() {
        for ordinal in 0..of(facts, rack) {
            all.push((ordinal, index, names::member(&rack.set, ordinal)));
        }
    }
    all.sort();
    all.into_iter()
        .map(|(_, index, name)| (index, name))
        .collect()
}
