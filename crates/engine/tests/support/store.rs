//! The objects of the fake API server and the history of their changes.

use super::path::Target;
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub type Key = (String, String, String);

/// One change.
#[derive(Clone, Debug)]
pub struct Change {
    pub version: u64,
    pub plural: String,
    pub before: Option<Value>,
    pub after: Option<Value>,
}

#[derive(Clone, Debug, Default)]
pub struct Store {
    pub version: u64,
    pub objects: BTreeMap<Key, Value>,
    /// What was last applied by the field manager.
    pub applied: BTreeMap<Key, Value>,
    pub history: Vec<Change>,
    /// Versions up to this one are forgotten.
    pub compacted: u64,
    /// What an admission webhook makes of each object that is written.
    pub webhook: Option<fn(&str, &mut Value)>,
    uids: u64,
}

impl Store {
    pub fn get(&self, key: &Key) -> Option<&Value> {
        self.objects.get(key)
    }

    pub fn list(&self, target: &Target) -> Vec<Value> {
        let of_kind = self.objects.iter().filter(|((plural, _, _), _)| *plural == target.plural);
        of_kind.map(|(_, object)| object.clone()).filter(|o| target.selects(o)).collect()
    }

    /// Store an object; answers it as it is stored. Nothing happens if it is so already.
    pub fn put(&mut self, key: Key, mut object: Value) -> Value {
        if let Some(webhook) = self.webhook {
            webhook(&key.0, &mut object);
        }
        let before = self.objects.get(&key).cloned();
        let same = |a: &Value, b: &Value| strip(a.clone()) == strip(b.clone());
        if let Some(before) = &before
            && same(before, &object)
        {
            return before.clone();
        }
        self.version += 1;
        let metadata = &mut object["metadata"];
        metadata["name"] = json!(key.2);
        if !key.1.is_empty() {
            metadata["namespace"] = json!(key.1);
        }
        metadata["resourceVersion"] = json!(self.version.to_string());
        match &before {
            None => {
                self.uids += 1;
                metadata["uid"] = json!(format!("uid-{}", self.uids));
                metadata["creationTimestamp"] = json!("2026-01-01T00:00:00Z");
                metadata["generation"] = json!(1);
            }
            Some(before) => {
                let old = before["metadata"]["generation"].as_i64().unwrap_or(1);
                let changed = before["spec"] != object["spec"];
                object["metadata"]["generation"] = json!(if changed { old + 1 } else { old });
            }
        }
        self.objects.insert(key.clone(), object.clone());
        self.record(key, before, Some(object.clone()));
        object
    }

    pub fn delete(&mut self, key: &Key) -> Option<Value> {
        let mut before = self.objects.get(key).cloned()?;
        let finalizers = before["metadata"]["finalizers"].as_array().is_some_and(|f| !f.is_empty());
        if finalizers {
            before["metadata"]["deletionTimestamp"] = json!("2026-01-02T00:00:00Z");
            return Some(self.put(key.clone(), before));
        }
        self.objects.remove(key);
        self.applied.remove(key);
        self.version += 1;
        let mut last = before.clone();
        last["metadata"]["resourceVersion"] = json!(self.version.to_string());
        self.record(key.clone(), Some(last), None);
        Some(before)
    }

    fn record(&mut self, key: Key, before: Option<Value>, after: Option<Value>) {
        self.history.push(Change { version: self.version, plural: key.0, before, after });
    }
}

/// An object without what the server counts.
fn strip(mut object: Value) -> Value {
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        for field in ["resourceVersion", "generation"] {
            metadata.remove(field);
        }
    }
    object
}
