//! Stating what an object should be: the step that makes or updates it.

use super::words::{Blocked, Doing};
use crate::object::{Object, ObjectKey, Resource};
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
        Some(seen) => (Doing::Update { what }, Precondition::Uid(seen.meta.uid.clone())),
        None => (Doing::Create { what }, Precondition::Absent),
    };
    let key = ObjectKey::new(resource, namespace, name);
    Ok(Step::apply(key, object, precondition, doing).announced(event))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::SERVICE;
    use crate::object::Meta;
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

    fn step(seen: &[Arc<Object>]) -> Result<Step, Blocked> {
        let object = json!({ "metadata": { "name": "a" } });
        upsert(SERVICE, "ns", seen, object, "Service a", None)
    }

    #[test]
    fn an_object_is_made_updated_as_it_was_seen_or_waited_for() {
        let verdict = |seen: &[Arc<Object>]| match step(seen) {
            Ok(Step::Apply { precondition, .. }) => format!("{precondition:?}"),
            Ok(_) => "another step".into(),
            Err(wait) => wait.to_string(),
        };
        assert_eq!(verdict(&[]), "Absent");
        assert_eq!(verdict(&seen(None)), "Uid(\"1\")");
        assert_eq!(
            verdict(&seen(Some("2026-01-01T00:00:00Z"))),
            "Service a is being deleted and will be recreated"
        );
    }
}
