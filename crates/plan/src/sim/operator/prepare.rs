//! From a step to a request: is it needed, does it still hold, is it ours?

use super::Operator;
use super::apply::{Hold, Request};
use crate::differ;
use crate::hash;
use crate::issue;
use crate::lock::LockFence;
use crate::mind::Mind;
use crate::object::{Object, ObjectKey};
use crate::plan::{Fence, Generated, Loss, Precondition, Step, Subresource};
use crate::sim::authority;
use crate::sim::store::{Store, conditions, owners};
use crate::snapshot::FailureClass;
use palladion_api::labels;
use serde_json::{Value, json};

impl<M: Mind + Clone> Operator<M> {
    pub(super) fn prepare(
        &self,
        step: &Step,
        owner: &Object,
        store: &mut Store,
    ) -> Result<Request, Hold> {
        match step {
            Step::Apply { object, key, precondition, fences, .. } => {
                self.check_fences(fences, store)?;
                self.prepare_apply(object, key, precondition, owner, store)
            }
            Step::Create { object, generated, key, fences, .. } => {
                // What has random values is watched by nobody: the API server knows it.
                let exists = !generated.is_empty() && store.get(key).is_some();
                if exists || self.cache.get(key).is_some() {
                    return Err(Hold::Nothing);
                }
                self.check_fences(fences, store)?;
                let version = store.log().len();
                let random = |digits| format!("{version:0digits$x}");
                let object = Generated::filled(object, generated, random);
                Ok(Request::Create(key.clone(), object))
            }
            Step::Patch { key, patch, subresource, precondition, fences, .. } => {
                self.check_fences(fences, store)?;
                let mut patch = patch.clone();
                crate::sim::json::merge(&mut patch["metadata"], &conditions(precondition));
                Ok(Request::Merge(key.clone(), patch, *subresource))
            }
            Step::Issue { key, authority, order, patch, at, subresource, precondition, .. } => {
                let made = authority::make(owner, key, authority, order, store.now + self.clock);
                let made = made.map_err(|why| Hold::Failed(FailureClass::Refused, why))?;
                let mut patch = issue::filled(patch, at, &made);
                crate::sim::json::merge(&mut patch["metadata"], &conditions(precondition));
                Ok(Request::Merge(key.clone(), patch, *subresource))
            }
            Step::CompareAndSet { status, seen, lock, .. } => {
                self.check_lock(lock.as_ref(), store)?;
                let live = store.get(&self.owner).ok_or_else(|| {
                    Hold::Failed(FailureClass::Conflict, "the owner is gone".into())
                })?;
                for (pointer, value) in seen {
                    let now = live.pointer(pointer).unwrap_or(&Value::Null);
                    if now != value {
                        return Err(Hold::Failed(
                            FailureClass::Conflict,
                            format!("{pointer} is {now} now, not {value}"),
                        ));
                    }
                }
                let patch = json!({
                    "metadata": { "uid": live["metadata"]["uid"], "resourceVersion": live["metadata"]["resourceVersion"] },
                    "status": status,
                });
                Ok(Request::Merge(self.owner.clone(), patch, Subresource::Status))
            }
            Step::Delete { key, precondition, loss, propagation, fences, .. } => {
                self.check_fences(fences, store)?;
                if matches!(loss, Loss::Remains) {
                    return Ok(Request::Remove(key.clone(), precondition.clone()));
                }
                if matches!(loss, Loss::Serving) {
                    return Ok(Request::Evict(key.clone(), precondition.clone()));
                }
                Ok(Request::Delete(key.clone(), precondition.clone(), *propagation))
            }
        }
    }

    fn prepare_apply(
        &self,
        object: &Value,
        key: &ObjectKey,
        precondition: &Precondition,
        owner: &Object,
        store: &Store,
    ) -> Result<Request, Hold> {
        if *precondition == Precondition::Absent {
            check_ours(key, owner, store)?;
        }
        let cached = self.cache.get(key);
        let memo = self.memo.get(key).filter(|(applied, _)| **applied == *object);
        let hash = memo.map_or_else(|| hash::of(object), |(_, hash)| hash.clone());
        if cached.is_some_and(|c| {
            c.meta.annotations.get(labels::APPLIED) == Some(&hash) && states(c, object)
        }) {
            return Err(Hold::Nothing);
        }
        let mut wanted = object.clone();
        wanted["metadata"]["annotations"][labels::APPLIED] = json!(hash);
        crate::sim::json::merge(&mut wanted["metadata"], &conditions(precondition));
        if *precondition == Precondition::Absent {
            // As the engine does: nothing is created where something exists by then.
            let live = store.get(key).map(|live| live["metadata"]["resourceVersion"].clone());
            wanted["metadata"]["resourceVersion"] = live.unwrap_or_else(|| json!(OF_NO_OBJECT));
        }
        Ok(Request::Apply(key.clone(), wanted))
    }
}

/// A resourceVersion that no object has.
const OF_NO_OBJECT: &str = "1";

/// Does an observed object say all that is wanted, metadata included?
fn states(observed: &Object, wanted: &Value) -> bool {
    let mut body = wanted.clone();
    if let Some(map) = body.as_object_mut() {
        for field in ["apiVersion", "kind", "metadata"] {
            map.remove(field);
        }
    }
    let metadata =
        json!({ "labels": observed.meta.labels, "annotations": observed.meta.annotations });
    let stated = json!({ "labels": wanted["metadata"]["labels"], "annotations": wanted["metadata"]["annotations"] });
    differ::contains(&observed.body, &body) && differ::contains(&metadata, &stated)
}

/// An object that should not exist yet, and does, must at least be ours.
fn check_ours(key: &ObjectKey, owner: &Object, store: &Store) -> Result<(), Hold> {
    let Some(live) = store.get(key) else {
        return Ok(());
    };
    if owners(live).any(|r| r["uid"] == owner.meta.uid.as_str()) {
        return Ok(());
    }
    let by = owners(live)
        .next()
        .map_or("nobody".to_string(), |r| format!("{} {}", r["kind"], r["name"]));
    Err(Hold::Failed(FailureClass::Foreign, format!("{key} exists and is owned by {by}")))
}

impl<M: Mind + Clone> Operator<M> {
    fn check_fences(&self, fences: &[Fence], store: &mut Store) -> Result<(), Hold> {
        fences.iter().try_for_each(|fence| {
            check_fence(fence, store)?;
            self.check_lock(fence.lock.as_ref(), store)
        })
    }

    fn check_lock(&self, fence: Option<&LockFence>, store: &mut Store) -> Result<(), Hold> {
        let Some(fence) = fence else { return Ok(()) };
        let now = store.now + self.clock;
        let stands = self.keeper.check(fence, &mut store.locks, now);
        stands.map_err(|why| Hold::Failed(FailureClass::Conflict, why))
    }
}

fn check_fence(fence: &Fence, store: &Store) -> Result<(), Hold> {
    let live =
        store.get(&fence.object).and_then(|o| o.pointer(&fence.pointer)).unwrap_or(&Value::Null);
    if *live == fence.expected {
        return Ok(());
    }
    let message =
        format!("{} of {} is {live} now, not {}", fence.pointer, fence.object, fence.expected);
    Err(Hold::Failed(FailureClass::Conflict, message))
}
