//! How a change is stored: admission, uid, resourceVersion, generation, and the
//! end of an object that nothing holds any more.

use super::{CLAIM_PROTECTION, Change, Refusal, Store, Stored, owners};
use crate::object::ObjectKey;
use crate::sim::kinds;
use palladion_api::ids::Uid;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Store {
    pub(super) fn orphan(&mut self, owner: &Uid) {
        let dependents: Vec<ObjectKey> = self
            .all()
            .filter(|(_, o)| owners(o).any(|r| r["uid"] == owner.as_str()))
            .map(|(key, _)| key.clone())
            .collect();
        for key in dependents {
            let Some(stored) = self.objects.get(&key).cloned() else {
                continue;
            };
            let mut object = Value::clone(&stored.object);
            let rest: Vec<Value> =
                owners(&object).filter(|r| r["uid"] != owner.as_str()).cloned().collect();
            object["metadata"]["ownerReferences"] = Value::from(rest);
            let applied = stored.applied.clone();
            let _ = self.replace(&key, &stored, object, applied);
        }
    }

    pub(super) fn insert(
        &mut self,
        key: &ObjectKey,
        mut object: Value,
        applied: Option<Value>,
    ) -> Result<u64, Refusal> {
        self.admit(key, None, &object)?;
        if key.resource == kinds::SERVICE {
            self.addresses.allocate(&mut object).map_err(Refusal::Invalid)?;
        }
        self.uids += 1;
        self.version += 1;
        let metadata = &mut object["metadata"];
        metadata["uid"] = json!(format!("uid-{:04}", self.uids));
        metadata["resourceVersion"] = json!(self.version.to_string());
        metadata["generation"] = json!(1);
        metadata["creationTimestamp"] = json!(self.now);
        if key.resource == kinds::CLAIM {
            metadata["finalizers"] = json!([CLAIM_PROTECTION]);
        }
        let stored = Stored { object: Arc::new(object), applied: applied.map(Arc::new) };
        self.log.push(Change {
            version: self.version,
            key: key.clone(),
            object: Some(stored.object.clone()),
        });
        self.objects.insert(key.clone(), stored);
        Ok(self.version)
    }

    pub(super) fn replace(
        &mut self,
        key: &ObjectKey,
        old: &Stored,
        mut object: Value,
        applied: Option<Arc<Value>>,
    ) -> Result<u64, Refusal> {
        if key.resource == kinds::SERVICE && object["spec"]["clusterIP"].is_null() {
            object["spec"]["clusterIP"] = old.object["spec"]["clusterIP"].clone();
        }
        if object == *old.object {
            if let Some(stored) = self.objects.get_mut(key) {
                stored.applied = applied;
            }
            return Ok(self.version);
        }
        self.admit(key, Some(&old.object), &object)?;
        self.version += 1;
        if differs_in_spec(&old.object, &object) {
            let generation = old.object["metadata"]["generation"].as_i64().unwrap_or_default();
            object["metadata"]["generation"] = json!(generation + 1);
        }
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        let ended = is_ended(key, &object);
        let object = Arc::new(object);
        self.log.push(Change {
            version: self.version,
            key: key.clone(),
            object: Some(object.clone()),
        });
        self.objects.insert(key.clone(), Stored { object, applied });
        if ended {
            self.remove(key);
        }
        Ok(self.version)
    }

    fn admit(&self, key: &ObjectKey, old: Option<&Value>, new: &Value) -> Result<(), Refusal> {
        if let Some((why, _)) = self.refused.iter().find(|(_, refuses)| refuses(key, new)) {
            return Err(Refusal::Invalid((*why).to_string()));
        }
        self.rules.iter().try_for_each(|rule| rule(key, old, new)).map_err(Refusal::Invalid)
    }
}

fn differs_in_spec(old: &Value, new: &Value) -> bool {
    let rest = |o: &Value| -> BTreeMap<String, Value> {
        o.as_object()
            .into_iter()
            .flatten()
            .filter(|(key, _)| !matches!(key.as_str(), "metadata" | "status"))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    };
    rest(old) != rest(new)
}

/// A deleted object without finalizers is gone; a pod on a node waits for its kubelet.
fn is_ended(key: &ObjectKey, object: &Value) -> bool {
    let metadata = &object["metadata"];
    metadata["deletionTimestamp"].is_string()
        && metadata["finalizers"].as_array().is_none_or(Vec::is_empty)
        && !(key.resource == kinds::POD && object["spec"]["nodeName"].is_string())
}
