//! Status: only where it differs from what is stored.

use super::apply::{LOST, Request};
use super::{Done, End, Operator, Running, Write};
use crate::mind::Mind;
use crate::plan::Subresource;
use crate::sim::Activity;
use crate::sim::faults::Faults;
use crate::sim::store::Store;
use crate::snapshot::FailureClass;
use jiff::SignedDuration;
use serde_json::{Map, Value, json};

/// As in the engine: an owner that is gone is not worked for, however long the
/// cache still has it.
const OWNER_STAYS_GONE: SignedDuration = SignedDuration::from_secs(60);

impl<M: Mind + Clone> Operator<M> {
    pub(super) fn report(
        &mut self,
        running: &Running,
        store: &mut Store,
        faults: &mut Faults,
    ) -> Activity {
        let Some(owner) = self.cache.get(&self.owner) else {
            return Activity::ACTED;
        };
        let stored = owner.body.get("status").cloned().unwrap_or(Value::Null);
        let Some(patch) = difference(&stored, &running.plan.status) else {
            return Activity { acted: true, next: self.wake };
        };
        let version = owner.meta.resource_version.clone();
        let patch = json!({ "metadata": { "uid": owner.meta.uid }, "status": patch });
        let request = Request::Merge(self.owner.clone(), patch, Subresource::Status);
        let Some(end) = self.send(&request, store, faults) else {
            self.running = Some(running.clone());
            return Activity::ACTED;
        };
        let failed = match &end {
            End::Failed(class, message) => Some((*class, message.clone())),
            End::AnswerLost => Some((FailureClass::Transient, LOST.to_string())),
            End::Done | End::DiedBefore | End::DiedAfter => None,
        };
        if let Some((class, message)) = failed {
            if store.get(&self.owner).is_none() {
                self.gone = Some((version, store.now + OWNER_STAYS_GONE));
            }
            let owner = self.owner.clone();
            self.fail(store, "report the status", &owner, class, message);
        }
        let object = self.owner.clone();
        self.done.push(Done {
            doing: String::new(),
            object,
            write: Write::Status,
            end,
            event: None,
            counted: None,
            proof: None,
        });
        Activity { acted: true, next: self.wake }
    }
}

/// A merge patch of the top-level fields that differ, if any does.
fn difference(stored: &Value, wanted: &Value) -> Option<Value> {
    let mut patch = Map::new();
    for (field, value) in wanted.as_object()? {
        let have = stored.get(field).unwrap_or(&Value::Null);
        if have != value {
            patch.insert(field.clone(), replacing(have, value));
        }
    }
    (!patch.is_empty()).then_some(Value::Object(patch))
}

/// A merge patch that makes `wanted` of `have`: what is dropped becomes null.
fn replacing(have: &Value, wanted: &Value) -> Value {
    let (Value::Object(have), Value::Object(want)) = (have, wanted) else {
        return wanted.clone();
    };
    let mut patch = Map::new();
    for key in have.keys().filter(|k| !want.contains_key(*k)) {
        patch.insert(key.clone(), Value::Null);
    }
    for (key, value) in want {
        patch.insert(
            key.clone(),
            have.get(key).map_or_else(|| value.clone(), |h| replacing(h, value)),
        );
    }
    Value::Object(patch)
}
