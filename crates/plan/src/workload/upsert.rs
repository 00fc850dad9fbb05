//! Stating what an object should be: the step that makes or updates it.

use super::words::{Blocked, Doing};
use crate::kinds::STATEFUL_SET;
use crate::object::{Meta, Object, ObjectKey, Resource};
use crate::plan::{Event, Precondition, Step};
use serde_json::Value;
use std::sync::Arc;

/// Apply an object that must not exist yet, or be the one among `seen` of its
/// name. `what` names it for people: `the Service of member a-0`.
///
/// # Errors
/// What is waited for: one of that name is being deleted, and an apply would
/// change what is about to go.
pub fn upsert(
    resource: Resource,
    namespace: &str,
    seen: &[Arc<Object>],
    object: Value,
    what: &str,
    event: Option<Event>,
) -> Result<Step, Blocked> {
    let what = what.to_string();
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let (doing, precondition) = match seen.iter().find(|o| o.meta.name == name) {
        Some(seen) if seen.meta.is_terminating() => {
            return Err(Blocked::BeingDeleted { what });
        }
        Some(seen) => (Doing::Update { what }, condition(resource, &seen.meta)),
        None => (Doing::Create { what }, Precondition::Absent),
    };
    let key = ObjectKey::new(resource, namespace, name);
    Ok(Step::apply(key, object, precondition, doing).announced(event))
}

/// Every apply of a set states how many pods it has: one that was ready when
/// there were fewer must not end those that have come since.
fn condition(resource: Resource, seen: &Meta) -> Precondition {
    match resource == STATEFUL_SET {
        true => Precondition::as_seen(seen),
        false => Precondition::Uid(seen.uid.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::SERVICE;
    use serde_json::json;

    fn seen(deletion: Option<&str>) -> Vec<Arc<Object>> {
        let meta = Meta {
            name: "a".into(),
            uid: "1".into(),
            deletion_timestamp: deletion.and_then(|t| t.parse().ok()),
            ..Meta::default()
        };
        let body = json!({});
        vec![Arc::new(Object { meta, body })]
    }

    fn step(resource: Resource, seen: &[Arc<Object>]) -> Result<Step, Blocked> {
        let object = json!({ "metadata": { "name": "a" } });
        upsert(resource, "ns", seen, object, "Service a", None)
    }

    #[test]
    fn an_object_is_made_updated_as_it_was_seen_or_waited_for() {
        let verdict_on = |resource, seen: &[Arc<Object>]| match step(resource, seen) {
            Ok(Step::Apply { precondition, .. }) => format!("{precondition:?}"),
            Ok(_) => "another step".into(),
            Err(wait) => wait.to_string(),
        };
        let verdict = |seen: &[Arc<Object>]| verdict_on(SERVICE, seen);
        assert_eq!(verdict(&[]), "Absent");
        let set = verdict_on(STATEFUL_SET, &seen(None));
        assert!(set.starts_with("Version"), "it states its replicas: {set}");
        assert_eq!(verdict(&seen(None)), "Uid(\"1\")");
        assert_eq!(
            verdict(&seen(Some("2026-01-01T00:00:00Z"))),
            "Service a is being deleted and will be recreated"
        );
    }
}
