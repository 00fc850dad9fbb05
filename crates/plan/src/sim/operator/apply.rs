//! Carrying out a plan: in order, stopping at the first step that fails, each
//! write with its precondition and its fence.

use super::{Course, Done, End, Life, Operator, Running, Write};
use crate::differ;
use crate::hash;
use crate::mind::Mind;
use crate::object::{Object, ObjectKey};
use crate::plan::{Fence, Loss, Precondition, Propagation, Step, Subresource};
use crate::sim::Activity;
use crate::sim::faults::{Fault, Faults};
use crate::sim::store::{Refusal, Store, conditions, owners};
use crate::snapshot::FailureClass;
use palladion_api::labels;
use serde_json::{Value, json};

/// A request that is ready to be sent.
pub(super) enum Request {
    /// Server-side apply.
    Apply(ObjectKey, Value),
    /// Merge patch.
    Merge(ObjectKey, Value, Subresource),
    /// Deletion.
    Delete(ObjectKey, Precondition, Propagation),
}

/// Why nothing is sent for a step.
enum Hold {
    /// The object is as it should be.
    Nothing,
    /// It cannot be done.
    Failed(FailureClass, String),
}

impl Running {
    fn next_step(&self) -> Option<Step> {
        match self.course {
            Course::On => self.plan.steps.get(self.next).cloned(),
            Course::Stopped => None,
        }
    }
}

impl<M: Mind + Clone> Operator<M> {
    pub(super) fn go_on(
        &mut self,
        mut running: Running,
        store: &mut Store,
        faults: &mut Faults,
    ) -> Activity {
        while let Some(step) = running.next_step() {
            running.next += 1;
            let (key, write) = describe(&step, &self.owner);
            match self.prepare(&step, &running.owner, store) {
                Err(Hold::Nothing) => continue,
                Err(Hold::Failed(class, message)) => {
                    self.note(
                        &step,
                        key.clone(),
                        write,
                        End::Failed(class, message.clone()),
                    );
                    self.fail(store, step.doing(), &key, class, message);
                    running.course = Course::Stopped;
                }
                Ok(request) => {
                    let end = self.send(&request, store, faults);
                    let Some(end) = end else {
                        running.next -= 1;
                        self.running = Some(running);
                        return Activity::ACTED;
                    };
                    self.note(&step, key.clone(), write, end.clone());
                    match end {
                        End::Done => self.remember(&step),
                        End::Failed(class, message) => {
                            self.fail(store, step.doing(), &key, class, message);
                            running.course = Course::Stopped;
                        }
                        End::DiedBefore | End::DiedAfter => return Activity::ACTED,
                    }
                    self.running = Some(running);
                    return Activity::ACTED;
                }
            }
        }
        if running.course == Course::On {
            self.failure = None;
            self.failures = 0;
        }
        self.report(&running, store, faults)
    }

    /// Send a request, or meet the fault that was planned for it. `None` =
    /// frozen before it was sent.
    pub(super) fn send(
        &mut self,
        request: &Request,
        store: &mut Store,
        faults: &mut Faults,
    ) -> Option<End> {
        let fault = faults.take();
        match fault {
            Some(Fault::Freeze) => {
                self.life = Life::Frozen;
                return None;
            }
            Some(Fault::DieBefore) => {
                self.life = Life::Dead;
                return Some(End::DiedBefore);
            }
            Some(Fault::Unavailable) => {
                faults.count();
                return Some(End::Failed(
                    FailureClass::Transient,
                    "503 Service Unavailable".into(),
                ));
            }
            Some(Fault::DieAfter | Fault::AnswerLost) | None => faults.count(),
        }
        let answer = match request {
            Request::Apply(key, object) => store.apply(key, object),
            Request::Merge(key, patch, part) => store.merge(key, patch, *part),
            Request::Delete(key, precondition, propagation) => {
                store.delete(key, precondition, *propagation)
            }
        };
        let key = match request {
            Request::Apply(key, _) | Request::Merge(key, _, _) | Request::Delete(key, _, _) => key,
        };
        match (fault, answer) {
            (Some(Fault::DieAfter), _) => {
                self.life = Life::Dead;
                Some(End::DiedAfter)
            }
            (Some(Fault::AnswerLost), Ok(_)) => Some(End::Failed(
                FailureClass::Transient,
                "the connection was lost before the answer".into(),
            )),
            (_, Ok(version)) => {
                self.expect(store, key.resource, version);
                Some(End::Done)
            }
            (_, Err(refusal)) => {
                let (class, message) = class_of(&refusal);
                Some(End::Failed(class, message))
            }
        }
    }

    fn note(&mut self, step: &Step, object: ObjectKey, write: Write, end: End) {
        let event = match (&end, step) {
            (
                End::Done,
                Step::Apply { event, .. }
                | Step::Patch { event, .. }
                | Step::Claim { event, .. }
                | Step::Delete { event, .. },
            ) => event.clone(),
            (End::Failed(..) | End::DiedBefore | End::DiedAfter, _) => None,
        };
        self.done.push(Done {
            doing: step.doing().to_string(),
            object,
            write,
            end,
            event,
        });
    }

    fn prepare(&self, step: &Step, owner: &Object, store: &Store) -> Result<Request, Hold> {
        match step {
            Step::Apply {
                object,
                key,
                precondition,
                fence,
                ..
            } => {
                check_fence(fence.as_ref(), store)?;
                self.prepare_apply(object, key, precondition, owner, store)
            }
            Step::Patch {
                key,
                patch,
                subresource,
                precondition,
                fence,
                ..
            } => {
                check_fence(fence.as_ref(), store)?;
                let mut patch = patch.clone();
                crate::sim::json::merge(&mut patch["metadata"], &conditions(precondition));
                Ok(Request::Merge(key.clone(), patch, *subresource))
            }
            Step::Claim { status, seen, .. } => {
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
                Ok(Request::Merge(
                    self.owner.clone(),
                    patch,
                    Subresource::Status,
                ))
            }
            Step::Delete {
                key,
                precondition,
                propagation,
                fence,
                ..
            } => {
                check_fence(fence.as_ref(), store)?;
                Ok(Request::Delete(
                    key.clone(),
                    precondition.clone(),
                    *propagation,
                ))
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
        let memo = self
            .memo
            .get(key)
            .filter(|(applied, _)| **applied == *object);
        let hash = memo.map_or_else(|| hash::of(object), |(_, hash)| hash.clone());
        if cached.is_some_and(|c| {
            c.meta.annotations.get(labels::APPLIED) == Some(&hash) && states(c, object)
        }) {
            return Err(Hold::Nothing);
        }
        let mut wanted = object.clone();
        wanted["metadata"]["annotations"][labels::APPLIED] = json!(hash);
        crate::sim::json::merge(&mut wanted["metadata"], &conditions(precondition));
        Ok(Request::Apply(key.clone(), wanted))
    }

    fn remember(&mut self, step: &Step) {
        if let Step::Apply { object, key, .. } = step {
            self.memo.insert(
                key.clone(),
                (std::sync::Arc::new(object.clone()), hash::of(object)),
            );
        }
    }
}

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
    let by = owners(live).next().map_or("nobody".to_string(), |r| {
        format!("{} {}", r["kind"], r["name"])
    });
    Err(Hold::Failed(
        FailureClass::Foreign,
        format!("{key} exists and is owned by {by}"),
    ))
}

fn check_fence(fence: Option<&Fence>, store: &Store) -> Result<(), Hold> {
    let Some(fence) = fence else { return Ok(()) };
    let live = store
        .get(&fence.object)
        .and_then(|o| o.pointer(&fence.pointer))
        .unwrap_or(&Value::Null);
    if *live == fence.expected {
        return Ok(());
    }
    let message = format!(
        "{} of {} is {live} now, not {}",
        fence.pointer, fence.object, fence.expected
    );
    Err(Hold::Failed(FailureClass::Conflict, message))
}

fn class_of(refusal: &Refusal) -> (FailureClass, String) {
    match refusal {
        Refusal::NotFound => (FailureClass::Conflict, "404: the object is gone".into()),
        Refusal::AlreadyExists => (FailureClass::Conflict, "409: the object exists".into()),
        Refusal::Conflict(why) => (FailureClass::Conflict, format!("409: {why}")),
        Refusal::Invalid(why) => (FailureClass::Refused, format!("422: {why}")),
    }
}

fn describe(step: &Step, owner: &ObjectKey) -> (ObjectKey, Write) {
    match step {
        Step::Apply { key, .. } => (key.clone(), Write::Apply),
        Step::Patch { key, .. } => (key.clone(), Write::Patch),
        Step::Claim { .. } => (owner.clone(), Write::Claim),
        Step::Delete {
            key,
            loss: Loss::Nothing,
            ..
        } => (key.clone(), Write::Delete),
        Step::Delete {
            key,
            loss: Loss::Process { .. },
            ..
        } => (key.clone(), Write::DeleteProcess),
        Step::Delete {
            key,
            loss: Loss::Data { .. },
            ..
        } => (key.clone(), Write::DeleteData),
    }
}
