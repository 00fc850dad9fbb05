//! One object of ours: written only where it differs.

use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::words::objects::What;
use palladion_plan::wait::Subject;
use palladion_plan::workload::upsert::upsert;
use palladion_plan::{Event, Resource, Step};
use serde_json::Value;

/// Apply one object: it must not exist yet, or be the one that was seen.
pub fn apply(
    facts: &Facts<'_>,
    resource: Resource,
    object: Value,
    what: What,
    event: Option<Event>,
    draft: &mut Draft,
) {
    apply_with(facts, resource, object, what, event, |step| step, draft);
}

/// The same, with what `finish` adds to the step.
pub fn apply_with(
    facts: &Facts<'_>,
    resource: Resource,
    object: Value,
    what: What,
    event: Option<Event>,
    finish: impl Fn(Step) -> Step,
    draft: &mut Draft,
) {
    let namespace = &facts.snapshot.owner.meta.namespace;
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let about = Subject::new(resource, name);
    match upsert(resource, namespace, facts.objects(resource), object, &what.to_string(), event) {
        Ok(step) => draft.steps.push(finish(step)),
        Err(blocked) => {
            draft.wait_for(blocked).about(about);
        }
    }
}
