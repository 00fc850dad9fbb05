//! What no longer goes with the Stack: owner references that no policy of it asks for are
//! taken back. A service that the Stack does not write any more gets no spec that would do it,
//! and Kubernetes deletes what an owner reference names, whatever the policy says by then.

use super::is_given;
use crate::facts::StackFacts;
use crate::resources::{self, KINDS};
use crate::words::stack::{Doing, Happened};
use palladion_api::StackSpec;
use palladion_api::stack::{CREATED_BY, StackDeletionPolicy, StackKind};
use palladion_plan::object::OwnerReference;
use palladion_plan::{Draft, Event, Object, ObjectKey, Step};
use serde_json::json;

/// Take the reference to this Stack out of all objects that are not deleted with it. Each
/// stands in a part of its own: what is refused of one holds up no other. What cannot be
/// read is left as it is, and looked at when it can.
pub fn decide(facts: &StackFacts<'_>, spec: &StackSpec, draft: &mut Draft) {
    let owner = &facts.snapshot.owner.meta;
    for kind in KINDS {
        let resource = resources::of_stack(kind);
        for object in facts.snapshot.all(resource).unwrap_or_default() {
            let meta = &object.meta;
            let is_ours = |reference: &&OwnerReference| reference.uid == owner.uid;
            if !meta.owner_references.iter().any(|reference| is_ours(&reference))
                || goes_along(facts, spec, kind, object)
            {
                continue;
            }
            let others: Vec<&OwnerReference> =
                meta.owner_references.iter().filter(|reference| !is_ours(reference)).collect();
            let patch = json!({ "metadata": { "ownerReferences": others } });
            let child = ObjectKey::new(resource, &meta.namespace, &meta.name).to_string();
            let doing = Doing::Withdraw { child: child.clone(), stack: owner.name.clone() };
            let event = Event::normal(Happened::Withdrawn { child });
            draft.begin_part();
            draft.steps.push(Step::patch_as_seen(resource, meta, patch, doing).announced(event));
        }
    }
}

/// Is it deleted with the Stack? Only what the Stack has created, and writes now.
fn goes_along(facts: &StackFacts<'_>, spec: &StackSpec, kind: StackKind, object: &Object) -> bool {
    let owner = &facts.snapshot.owner.meta;
    let is_written = spec.services.iter().any(|service| {
        service.activate && service.kind == kind && service.name == object.meta.name
    });
    let created_by = object.meta.annotations.get(CREATED_BY).map(String::as_str);
    spec.deletion_policy == StackDeletionPolicy::Delete
        && is_written
        && is_given(object, &owner.name)
        && created_by == Some(owner.uid.as_str())
}
