//! From an object as the API server sends it to the little that is kept:
//! compact JSON text of its metadata and the fields that a watch keeps.
//!
//! A typed Pod costs about 100 KiB of memory, its projection less than 1 KiB.
//! The resourceVersion is kept beside the text, so that two versions that are
//! alike in all that matters have the same text and cause no decision.

use crate::words::Unknown;
use palladion_plan::{Keep, Meta, Object};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// kubectl's copy of the whole object; nobody decides from it.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// What is kept of one object.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Namespace; empty for cluster-scoped kinds.
    pub namespace: Box<str>,
    /// Name.
    pub name: Box<str>,
    /// Unique ID.
    pub uid: Box<str>,
    /// resourceVersion as the server wrote it.
    pub version: Box<str>,
    /// The projection: `{"metadata": …, …kept fields}`.
    pub text: Arc<str>,
    /// Values of the labels that the shelf is indexed by, in the shelf's order.
    pub labels: Box<[Option<Box<str>>]>,
    /// Why minds cannot read it, if they cannot: for its owners a fact is
    /// unknown then, and all others go on.
    pub unreadable: Option<Arc<str>>,
}

/// Project an object for a shelf that is indexed by these labels.
pub fn project(object: &Value, keep: Keep, labels: &[&str]) -> Record {
    let metadata = &object["metadata"];
    let text = |field: &str| metadata[field].as_str().unwrap_or_default();
    let kept = projection(object, keep);
    // Parsed here once, so that reading it later cannot fail unseen.
    let parsed = serde_json::from_value::<Meta>(kept["metadata"].clone());
    let labels = labels.iter().map(|l| metadata["labels"][*l].as_str().map(Box::from)).collect();
    Record {
        namespace: text("namespace").into(),
        name: text("name").into(),
        uid: text("uid").into(),
        version: text("resourceVersion").into(),
        text: kept.to_string().into(),
        labels,
        unreadable: parsed.err().map(|error| error.to_string().into()),
    }
}

/// The projection as JSON, without the resourceVersion.
pub fn projection(object: &Value, keep: Keep) -> Value {
    let mut kept = match keep {
        Keep::Everything => object.as_object().cloned().unwrap_or_default(),
        Keep::Only(pointers) => only(object, pointers),
        Keep::Projection(project) => match project(object) {
            Value::Object(map) => map,
            other => Map::from_iter([("value".to_string(), other)]),
        },
    };
    kept.remove("apiVersion");
    kept.remove("kind");
    kept.insert("metadata".to_string(), metadata(&object["metadata"]));
    Value::Object(kept)
}

/// The metadata that decisions and comparisons need.
fn metadata(metadata: &Value) -> Value {
    let mut kept = metadata.as_object().cloned().unwrap_or_default();
    for field in ["managedFields", "resourceVersion", "selfLink"] {
        kept.remove(field);
    }
    if let Some(Value::Object(annotations)) = kept.get_mut("annotations") {
        annotations.remove(LAST_APPLIED);
    }
    kept.retain(|_, value| !value.is_null());
    Value::Object(kept)
}

fn only(object: &Value, pointers: &[&str]) -> Map<String, Value> {
    let mut kept = json!({});
    for pointer in pointers {
        if let Some(value) = object.pointer(pointer) {
            place(&mut kept, pointer, value.clone());
        }
    }
    match kept {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// Put a value where the pointer says, through objects that are made as needed.
fn place(target: &mut Value, pointer: &str, value: Value) {
    let mut at = target;
    for part in pointer.split('/').skip(1) {
        let key = part.replace("~1", "/").replace("~0", "~");
        if !at.is_object() {
            *at = json!({});
        }
        at = &mut at[key];
    }
    *at = value;
}

impl Record {
    /// The object as minds see it, or why they cannot.
    pub fn read(&self, kind: &str) -> Result<Arc<Object>, String> {
        let (namespace, name) = (self.namespace.to_string(), self.name.to_string());
        match &self.unreadable {
            Some(cause) => {
                let (kind, cause) = (kind.to_string(), cause.to_string());
                Err(Unknown::Unreadable { kind, namespace, name, cause }.to_string())
            }
            None => Ok(Arc::new(self.object())),
        }
    }

    /// The object, for comparisons; its metadata is empty where it is unreadable.
    pub fn object(&self) -> Object {
        object(&self.text, &self.version)
    }

    /// The projection as JSON, `metadata` included.
    pub fn value(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_default()
    }
}

/// Parse a projection.
pub fn object(text: &str, version: &str) -> Object {
    let mut body: Value = serde_json::from_str(text).unwrap_or_default();
    let meta = match &mut body {
        Value::Object(map) => map.remove("metadata").unwrap_or_default(),
        _ => Value::Null,
    };
    // `project` has parsed the same metadata before, and says if it could not.
    let mut meta: Meta = serde_json::from_value(meta).unwrap_or_default();
    meta.resource_version = version.to_string();
    Object { meta, body }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod() -> Value {
        json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {
                "name": "a", "namespace": "n", "uid": "u", "resourceVersion": "7",
                "labels": {"owner": "o"},
                "annotations": {LAST_APPLIED: "{}", "mine": "1"},
                "creationTimestamp": "2026-01-01T00:00:00Z",
                "managedFields": [{"manager": "x"}],
            },
            "spec": {"nodeName": "n1", "containers": [{"name": "c"}]},
            "status": {"phase": "Running"},
        })
    }

    #[test]
    fn only_the_named_fields_and_the_metadata_are_kept() {
        let record = project(&pod(), Keep::Only(&["/spec/nodeName", "/status"]), &["owner"]);
        let object = record.object();
        assert_eq!(
            object.body,
            json!({"spec": {"nodeName": "n1"}, "status": {"phase": "Running"}})
        );
        assert_eq!(object.meta.resource_version, "7");
        assert_eq!(object.meta.annotations.len(), 1);
        assert_eq!(record.labels[0].as_deref(), Some("o"));
        assert!(!record.text.contains("managedFields"));
    }

    #[test]
    fn versions_that_are_alike_in_what_is_kept_have_the_same_text() {
        let mut later = pod();
        later["metadata"]["resourceVersion"] = json!("8");
        later["metadata"]["managedFields"] = json!([]);
        later["spec"]["containers"] = json!([]);
        let keep = Keep::Only(&["/status"]);
        let (a, b) = (project(&pod(), keep, &[]), project(&later, keep, &[]));
        assert_eq!(a.text, b.text);
        assert_ne!(a.version, b.version);
    }

    #[test]
    fn a_projected_pod_costs_less_than_a_kibibyte() {
        fn project_pod(pod: &Value) -> Value {
            json!({"phase": pod["status"]["phase"]})
        }
        let record = project(&pod(), Keep::Projection(project_pod), &["owner"]);
        let size = record.text.len() + std::mem::size_of::<Record>();
        assert!(size < 1024, "{size} bytes");
    }

    #[test]
    fn metadata_that_cannot_be_read_is_an_error_and_not_an_empty_object() {
        let mut broken = pod();
        broken["metadata"]["creationTimestamp"] = json!("yesterday");
        let record = project(&broken, Keep::Everything, &["owner"]);
        let why = record.read("Pod").unwrap_err();
        assert!(why.starts_with("cannot read Pod n/a: "), "{why}");
        assert_eq!(record.labels[0].as_deref(), Some("o"), "its owner is known all the same");
    }
}
