//! One object of ours: written only where it differs.

use crate::decide::draft::Draft;
use crate::facts::Facts;
use palladion_api::reasons::Reason;
use palladion_plan::workload::upsert::upsert;
use palladion_plan::{Event, Fence, Resource, Step};
use serde_json::Value;

/// Apply one object: it must not exist yet, or be the one that was seen.
pub fn apply(
    facts: &Facts<'_>,
    resource: Resource,
    object: Value,
    what: &str,
    event: Option<Event>,
    draft: &mut Draft,
) {
    apply_fenced(facts, resource, object, what, event, None, draft);
}

/// The same under a fence.
pub fn apply_fenced(
    facts: &Facts<'_>,
    resource: Resource,
    object: Value,
    what: &str,
    event: Option<Event>,
    wanted_fence: Option<Fence>,
    draft: &mut Draft,
) {
    let namespace = &facts.snapshot.owner.meta.namespace;
    match upsert(resource, namespace, facts.objects(resource), object, what, event) {
        Ok(mut step) => {
            if let Step::Apply { fence, .. } = &mut step {
                *fence = wanted_fence;
            }
            draft.steps.push(step);
        }
        Err(wait) => draft.wait(Reason::CreatingObjects, wait),
    }
}
