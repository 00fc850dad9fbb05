//! Racks that are not in the spec any more: their members leave one by one, and
//! then the StatefulSet goes. Nothing of them is left to itself.

use crate::decide::draft::{Draft, synced};
use crate::decide::evidence::records;
use crate::decide::objects::replicas;
use crate::facts::Facts;
use crate::resources as kinds;
use crate::validate::{RackPlace, Valid};
use palladion_api::reasons::Reason;
use palladion_plan::{Fence, Loss, ObjectKey, Precondition, Propagation, Step};

/// Delete the sets of dropped racks that nobody is in any more, and tell of
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
        draft.steps.push(Step::Delete {
            key: ObjectKey::new(kinds::STATEFUL_SET, &valid.namespace, &rack.set),
            precondition: Precondition::Uid(set.object.meta.uid.clone()),
            loss: Loss::Nothing,
            propagation: Propagation::Background,
            fence: Some(still_dropped(facts)),
            proof: records::is_vacant(facts, &rack.set, 0).map(|p| p.stated()),
            doing: format!("delete the StatefulSet of rack {}, which is empty", rack.name),
            event: synced(format!("Rack {} is removed", rack.name)),
        });
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
        draft.trouble(
            Reason::RackNotInSpec,
            format!(
                "member {} holds data; its rack {} is not in the spec and has no StatefulSet",
                member.name, member.rack
            ),
        );
    }
}
