//! Racks that are not in the spec any more: their members leave one by one, and
//! then the StatefulSet goes. Nothing of them is left to itself.

use crate::decide::draft::Draft;
use crate::decide::evidence::records;
use crate::decide::objects::replicas;
use crate::facts::Facts;
use crate::resources as kinds;
use crate::validate::{RackPlace, Valid};
use crate::words::objects::{Doing, Happened, Problem};
use palladion_plan::{Event, Fence, Loss, ObjectKey, Step};

/// Delete the sets of dropped racks that nobody is in any more, and report
/// members that have no rack.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    for rack in valid.racks.iter().filter(|r| r.place == RackPlace::Dropped) {
        let Some(set) = facts.sets.get(&rack.set) else {
            continue;
        };
        let inhabited = replicas::of(facts, rack) > 0
            || facts
                .members
                .values()
                .any(|m| m.rack == rack.name && (m.pod.is_some() || m.object.is_some()));
        if inhabited || set.replicas > 0 || set.object.meta.is_terminating() {
            continue;
        }
        let rack_name = || rack.name.clone();
        let doing = Doing::DeleteEmptySet { rack: rack_name() };
        draft.steps.push(
            Step::delete_as_seen(kinds::STATEFUL_SET, &set.object.meta, Loss::Nothing, doing)
                .fenced(still_dropped(facts))
                .proven(records::is_vacant(facts, &rack.set, 0).map(|p| p.stated()))
                .announced(Event::normal(Happened::RackRemoved { rack: rack_name() })),
        );
    }
    orphans(facts, valid, draft);
}

/// The rack may come back into the spec at any time; this was decided for the
/// racks as they were.
fn still_dropped(facts: &Facts<'_>) -> Fence {
    let owner = &facts.snapshot.owner;
    Fence {
        object: ObjectKey::new(kinds::CLUSTER, &owner.meta.namespace, &owner.meta.name),
        pointer: "/metadata/generation".to_string(),
        expected: owner.meta.generation.into(),
        lock: None,
    }
}

/// Members with data in a rack that is neither in the spec nor has a set:
/// without the spec nobody knows how their pods should look.
fn orphans(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    let lost = facts
        .members
        .values()
        .find(|m| m.recorded_host_id().is_some() && !valid.racks.iter().any(|r| r.name == m.rack));
    if let Some(member) = lost {
        draft.report(Problem::RackUnknown {
            member: member.name.clone(),
            rack: member.rack.clone(),
        });
    }
}
