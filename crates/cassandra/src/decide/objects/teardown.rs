//! Deletion of a cluster. By default its owner references do all the work and
//! the data stays. With `deletionPolicy: Delete` a finalizer holds the object
//! until the claims that carry its uid are gone: those, and no others.

use crate::decide::draft::{Draft, synced};
use crate::facts::Facts;
use crate::resources as kinds;
use palladion_api::cluster::DeletionPolicy;
use palladion_api::labels;
use palladion_api::reasons::Reason;
use palladion_plan::{Loss, ObjectKey, Precondition, Propagation, Step, Subresource};
use serde_json::json;

/// The finalizer of clusters whose data goes with them.
pub const FINALIZER: &str = "palladion.dev/teardown";

/// Put the finalizer on or take it off as the policy says.
pub fn keep_finalizer(facts: &Facts<'_>, draft: &mut Draft) {
    let owner = &facts.snapshot.owner.meta;
    let has = owner.finalizers.iter().any(|f| f == FINALIZER);
    let wants = facts.spec.deletion_policy == DeletionPolicy::Delete;
    if has != wants {
        draft.steps.push(set_finalizer(facts, wants));
    }
}

fn set_finalizer(facts: &Facts<'_>, on: bool) -> Step {
    let owner = &facts.snapshot.owner.meta;
    let mut finalizers: Vec<&str> =
        owner.finalizers.iter().map(String::as_str).filter(|f| *f != FINALIZER).collect();
    if on {
        finalizers.push(FINALIZER);
    }
    Step::Patch {
        key: ObjectKey::new(kinds::CLUSTER, &owner.namespace, &owner.name),
        patch: json!({ "metadata": { "finalizers": finalizers } }),
        subresource: Subresource::None,
        precondition: Precondition::Version {
            uid: owner.uid.clone(),
            resource_version: owner.resource_version.clone(),
        },
        fence: None,
        doing: format!("{} the teardown finalizer", if on { "set" } else { "remove" }),
        event: None,
    }
}

/// The only plan under a deletionTimestamp: sets, then claims, then the end.
pub fn decide(facts: &Facts<'_>, draft: &mut Draft) {
    let owner = &facts.snapshot.owner.meta;
    if !owner.finalizers.iter().any(|f| f == FINALIZER) {
        return;
    }
    if facts.spec.deletion_policy == DeletionPolicy::Retain {
        draft.steps.push(set_finalizer(facts, false));
        return;
    }
    if !facts.sets.is_empty() {
        for set in facts.sets.values().filter(|s| {
            !s.object.meta.is_terminating() && s.object.meta.is_controlled_by(&owner.uid)
        }) {
            draft.steps.push(Step::Delete {
                key: ObjectKey::new(kinds::STATEFUL_SET, &owner.namespace, &set.object.meta.name),
                precondition: Precondition::Uid(set.object.meta.uid.clone()),
                loss: Loss::Nothing,
                propagation: Propagation::Background,
                fence: None,
                doing: format!("delete the StatefulSet {}", set.object.meta.name),
                event: None,
            });
        }
        draft.wait(Reason::Deleting, "the members are being stopped");
        return;
    }
    if facts.members.values().any(|m| m.pod.is_some()) {
        draft.wait(Reason::Deleting, "the members are being stopped");
        return;
    }
    let ours = facts
        .members
        .values()
        .filter_map(|m| m.claim.as_ref())
        .find(|c| c.object.meta.annotations.get(labels::CLUSTER_UID) == Some(&owner.uid));
    match ours {
        // One at a time: the linter allows one loss in a plan.
        Some(claim) if !claim.terminating => draft.steps.push(Step::Delete {
            key: ObjectKey::new(kinds::CLAIM, &owner.namespace, &claim.object.meta.name),
            precondition: Precondition::Uid(claim.object.meta.uid.clone()),
            loss: Loss::Data {
                proof: format!("deletionPolicy is Delete, the cluster {} is being deleted, and the claim carries its uid", owner.uid),
            },
            propagation: Propagation::Background,
            fence: None,
            doing: format!("delete claim {} with its data", claim.object.meta.name),
            event: synced(format!("Claim {} is deleted with its data", claim.object.meta.name)),
        }),
        Some(claim) => draft.wait(Reason::Deleting, format!("claim {} is being deleted", claim.object.meta.name)),
        None => draft.steps.push(set_finalizer(facts, false)),
    }
}
