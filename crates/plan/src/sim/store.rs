//! The API server: objects with uid, resourceVersion and generation, writes
//! with preconditions, finalizers, and a log of changes that watches follow at
//! their own pace.

mod commit;
mod evict;
mod look;

use super::addresses::Addresses;
use super::json;
pub use super::json::text;
use super::lock::Locks;
use crate::object::{ObjectKey, Resource};
use crate::plan::{Precondition, Propagation, Subresource};
use jiff::Timestamp;
use palladion_api::ids::Uid;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Kubernetes' own finalizer on claims that a pod uses.
pub const CLAIM_PROTECTION: &str = "kubernetes.io/pvc-protection";

/// Why a request was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// 404.
    NotFound,
    /// 409 on creation.
    AlreadyExists,
    /// 409: another uid or resourceVersion.
    Conflict(String),
    /// 422.
    Invalid(String),
    /// 429 of an eviction.
    Budget,
}

/// One change, as a watch sees it.
#[derive(Clone, Debug)]
pub struct Change {
    /// Its resourceVersion.
    pub version: u64,
    /// The object.
    pub key: ObjectKey,
    /// As it is now; absent when it was removed.
    pub object: Option<Arc<Value>>,
}

/// A rule of admission: old object if any, new object.
pub type Rule = fn(&ObjectKey, Option<&Value>, &Value) -> Result<(), String>;

/// Is a new object refused?
pub type Refused = fn(&ObjectKey, &Value) -> bool;

#[derive(Clone, Debug)]
struct Stored {
    object: Arc<Value>,
    /// What our one field manager applied last.
    applied: Option<Arc<Value>>,
}

/// The store.
#[derive(Clone, Debug)]
pub struct Store {
    objects: BTreeMap<ObjectKey, Stored>,
    log: Vec<Change>,
    version: u64,
    uids: u64,
    addresses: Addresses,
    rules: Vec<Rule>,
    refused: Vec<(&'static str, Refused)>,
    /// The store of region locks. Who simulates several regions gives each of them the same.
    pub locks: Locks,
    /// The time; set by whoever drives the simulation.
    pub now: Timestamp,
}

impl Store {
    /// An empty one.
    pub fn new(now: Timestamp, rules: Vec<Rule>) -> Self {
        Store {
            objects: BTreeMap::new(),
            locks: Locks::default(),
            log: Vec::new(),
            version: 100,
            uids: 0,
            addresses: Addresses::default(),
            rules,
            refused: Vec::new(),
            now,
        }
    }

    /// From now on refuse what this says of an object, in these words.
    pub fn refuse(&mut self, why: &'static str, what: Refused) {
        self.refused.push((why, what));
    }

    /// From now on refuse nothing any more.
    pub fn refuse_nothing(&mut self) {
        self.refused.clear();
    }

    /// All changes so far.
    pub fn log(&self) -> &[Change] {
        &self.log
    }

    /// An object as it is now.
    pub fn get(&self, key: &ObjectKey) -> Option<&Arc<Value>> {
        self.objects.get(key).map(|s| &s.object)
    }

    /// All objects of a kind, by name.
    pub fn list(&self, resource: Resource) -> impl Iterator<Item = (&ObjectKey, &Arc<Value>)> {
        self.objects
            .range(ObjectKey::new(resource, "", "")..)
            .take_while(move |(key, _)| key.resource == resource)
            .map(|(key, stored)| (key, &stored.object))
    }

    /// All objects.
    pub fn all(&self) -> impl Iterator<Item = (&ObjectKey, &Arc<Value>)> {
        self.objects.iter().map(|(key, stored)| (key, &stored.object))
    }

    /// Make an object that must not exist.
    pub fn create(&mut self, key: &ObjectKey, object: &Value) -> Result<u64, Refusal> {
        if self.objects.contains_key(key) {
            return Err(Refusal::AlreadyExists);
        }
        self.insert(key, object.clone(), None)
    }

    /// Server-side apply, forced: creates the object where it is missing.
    pub fn apply(&mut self, key: &ObjectKey, wanted: &Value) -> Result<u64, Refusal> {
        let metadata = &wanted["metadata"];
        let Some(stored) = self.objects.get(key).cloned() else {
            if metadata["uid"].is_string() {
                return Err(Refusal::Conflict(format!(
                    "uid precondition on {key}, which does not exist"
                )));
            }
            let stated = without_conditions(wanted);
            return self.insert(key, stated.clone(), Some(stated));
        };
        check(key, &stored.object, metadata)?;
        let stated = without_conditions(wanted);
        let mut object = Value::clone(&stored.object);
        json::apply(&mut object, stored.applied.as_deref(), &stated);
        self.replace(key, &stored, object, Some(Arc::new(stated)))
    }

    /// Merge patch of an object or of its status.
    pub fn merge(
        &mut self,
        key: &ObjectKey,
        patch: &Value,
        part: Subresource,
    ) -> Result<u64, Refusal> {
        let stored = self.objects.get(key).cloned().ok_or(Refusal::NotFound)?;
        check(key, &stored.object, &patch["metadata"])?;
        let mut patch = patch.clone();
        if let Some(metadata) = patch["metadata"].as_object_mut() {
            metadata.remove("uid");
            metadata.remove("resourceVersion");
        }
        let mut object = Value::clone(&stored.object);
        match part {
            Subresource::None => {
                if let Some(map) = patch.as_object_mut() {
                    map.remove("status");
                    map.retain(|key, value| key != "metadata" || !value.is_null());
                }
                json::merge(&mut object, &patch);
            }
            Subresource::Status => {
                let mut status = object["status"].take();
                json::merge(&mut status, &patch["status"]);
                object["status"] = status;
            }
        }
        let applied = stored.applied.clone();
        self.replace(key, &stored, object, applied)
    }

    /// Set a status whole, as its only writer does.
    pub fn put_status(&mut self, key: &ObjectKey, status: Value) -> Result<u64, Refusal> {
        let stored = self.objects.get(key).cloned().ok_or(Refusal::NotFound)?;
        let mut object = Value::clone(&stored.object);
        object["status"] = status;
        let applied = stored.applied.clone();
        self.replace(key, &stored, object, applied)
    }

    /// Delete an object; finalizers and running pods delay its end.
    pub fn delete(
        &mut self,
        key: &ObjectKey,
        precondition: &Precondition,
        propagation: Propagation,
    ) -> Result<u64, Refusal> {
        let stored = self.objects.get(key).cloned().ok_or(Refusal::NotFound)?;
        check(key, &stored.object, &conditions(precondition))?;
        let uid = Uid::new(text(&stored.object, "/metadata/uid"));
        if propagation == Propagation::Orphan {
            self.orphan(&uid);
        }
        if stored.object["metadata"]["deletionTimestamp"].is_string() {
            return Ok(self.version);
        }
        let mut object = Value::clone(&stored.object);
        object["metadata"]["deletionTimestamp"] = json!(self.now);
        let applied = stored.applied.clone();
        self.replace(key, &stored, object, applied)
    }

    /// Take an object away at once, as the kubelet does with an ended pod.
    pub fn remove(&mut self, key: &ObjectKey) {
        let Some(stored) = self.objects.remove(key) else {
            return;
        };
        self.addresses.free(&stored.object);
        self.version += 1;
        self.log.push(Change { version: self.version, key: key.clone(), object: None });
    }
}

fn without_conditions(wanted: &Value) -> Value {
    let mut stated = wanted.clone();
    for field in ["uid", "resourceVersion"] {
        if let Some(m) = stated["metadata"].as_object_mut() {
            m.remove(field);
        }
    }
    stated
}

/// The uid and resourceVersion that a precondition states, as metadata.
pub fn conditions(precondition: &Precondition) -> Value {
    match precondition {
        Precondition::Absent => json!({}),
        Precondition::Uid(uid) => json!({ "uid": uid }),
        Precondition::Version { uid, resource_version } => {
            json!({ "uid": uid, "resourceVersion": resource_version })
        }
    }
}

/// Owner references of an object.
pub fn owners(object: &Value) -> impl Iterator<Item = &Value> {
    object["metadata"]["ownerReferences"].as_array().into_iter().flatten()
}

fn check(key: &ObjectKey, object: &Value, metadata: &Value) -> Result<(), Refusal> {
    for field in ["uid", "resourceVersion"] {
        let (asked, is) = (metadata[field].as_str(), object["metadata"][field].as_str());
        if asked.is_some() && asked != is {
            return Err(Refusal::Conflict(format!(
                "the {field} in the precondition ({}) does not match that of {key} ({})",
                asked.unwrap_or_default(),
                is.unwrap_or_default()
            )));
        }
    }
    Ok(())
}
