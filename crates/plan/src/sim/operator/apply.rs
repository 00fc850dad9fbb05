//! Carrying out a plan: in order, stopping at the first step that fails, each
//! write with its precondition and its fence.

use super::{Course, Done, End, Life, Operator, Running, Write};
use crate::hash;
use crate::mind::Mind;
use crate::object::ObjectKey;
use crate::plan::{Loss, Precondition, Propagation, Step, Subresource};
use crate::proof::Proof;
use crate::sim::Activity;
use crate::sim::faults::{Fault, Faults};
use crate::sim::store::{Refusal, Store};
use crate::snapshot::{FailureClass, NotWritten};
use serde_json::Value;

/// What a process knows of a write whose answer was lost.
pub(super) const LOST: &str = "the connection was lost before the answer";

/// A request that is ready to be sent.
#[derive(Clone, Debug)]
pub(super) enum Request {
    /// Server-side apply.
    Apply(ObjectKey, Value),
    /// Creation.
    Create(ObjectKey, Value),
    /// Merge patch.
    Merge(ObjectKey, Value, Subresource),
    /// Deletion.
    Delete(ObjectKey, Precondition, Propagation),
    /// Deletion, if budgets allow it.
    Evict(ObjectKey, Precondition),
    /// Deletion without grace.
    Remove(ObjectKey, Precondition),
}

impl Request {
    fn key(&self) -> &ObjectKey {
        match self {
            Request::Apply(key, _)
            | Request::Create(key, _)
            | Request::Merge(key, _, _)
            | Request::Delete(key, _, _)
            | Request::Evict(key, _)
            | Request::Remove(key, _) => key,
        }
    }
}

/// Why nothing is sent for a step.
pub(super) enum Hold {
    /// The object is as it should be.
    Nothing,
    /// It cannot be done.
    Failed(FailureClass, String),
}

impl Running {
    fn next_step(&self) -> Option<Step> {
        match self.course {
            Course::On | Course::Apart => self.plan.steps.get(self.next).cloned(),
            Course::Stopped => None,
        }
    }

    fn lacks(&mut self, key: &ObjectKey, class: FailureClass, message: &str) {
        let (object, message) = (key.clone(), message.to_string());
        self.not_written.push(NotWritten { object, class, message });
    }

    /// This step was refused: the rest is carried out, but for what supposes it.
    fn go_on_without(&mut self, step: &Step, key: &ObjectKey, message: String) {
        self.lacks(key, FailureClass::Refused, &message);
        self.refused.get_or_insert((step.doing().to_string(), key.clone(), message));
        self.next += usize::from(step.leaves_out_next());
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
            let ready = match running.in_flight.take() {
                Some(request) => Ok(request),
                None => self.prepare(&step, &running.owner, store),
            };
            match ready {
                Err(Hold::Nothing) => continue,
                Err(Hold::Failed(FailureClass::Refused, message)) if step.stands_alone() => {
                    let end = End::Failed(FailureClass::Refused, message.clone());
                    self.note(&step, key.clone(), write, end);
                    running.go_on_without(&step, &key, message);
                }
                Err(Hold::Failed(class, message)) => {
                    self.note(&step, key.clone(), write, End::Failed(class, message.clone()));
                    self.stop(&mut running, store, (&step, &key), class, message);
                }
                Ok(request) => {
                    let end = self.send(&request, store, faults);
                    let Some(end) = end else {
                        running.next -= 1;
                        running.in_flight = self.holds_request.then_some(request);
                        self.running = Some(running);
                        return Activity::ACTED;
                    };
                    self.note(&step, key.clone(), write, end.clone());
                    match end {
                        End::Done => self.remember(&step),
                        End::Failed(FailureClass::Refused, message) if step.stands_alone() => {
                            running.go_on_without(&step, &key, message);
                        }
                        End::Failed(class, message) => {
                            self.stop(&mut running, store, (&step, &key), class, message);
                        }
                        End::AnswerLost => {
                            let (class, message) = (FailureClass::Transient, LOST.to_string());
                            self.stop(&mut running, store, (&step, &key), class, message);
                        }
                        End::DiedBefore | End::DiedAfter => return Activity::ACTED,
                    }
                    self.running = Some(running);
                    return Activity::ACTED;
                }
            }
        }
        if running.course == Course::On {
            self.went_through(&running, store);
        }
        if let Some(failure) = &mut self.failure {
            failure.all.clone_from(&running.not_written);
        }
        self.report(&running, store, faults)
    }

    /// A step has failed. The first that did is told; what supposes nothing of it goes on.
    fn stop(
        &mut self,
        running: &mut Running,
        store: &Store,
        (step, key): (&Step, &ObjectKey),
        class: FailureClass,
        message: String,
    ) {
        running.lacks(key, class, &message);
        if running.course == Course::On {
            self.fail(store, step.doing(), key, class, message);
        }
        match running.plan.goes_on_at(running.next - 1, class) {
            Some(part) => (running.course, running.next) = (Course::Apart, part),
            None => running.course = Course::Stopped,
        }
    }

    /// The plan was carried out, but for what stands alone and was refused.
    fn went_through(&mut self, running: &Running, store: &Store) {
        self.holds = false;
        let Some((doing, key, message)) = &running.refused else {
            self.failure = None;
            self.failures = 0;
            return;
        };
        let wake = self.wake;
        self.fail(store, doing, key, FailureClass::Refused, message.clone());
        self.holds = false;
        self.wake = self.wake.into_iter().chain(wake).min();
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
            Some(fault @ (Fault::Freeze | Fault::FreezeInFlight)) => {
                self.life = Life::Frozen;
                self.holds_request = fault == Fault::FreezeInFlight;
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
            // Whoever has created it: that is what was wanted.
            Request::Create(key, object) => match store.create(key, object) {
                Err(Refusal::AlreadyExists) => Ok(0),
                answer => answer,
            },
            Request::Merge(key, patch, part) => store.merge(key, patch, *part),
            Request::Delete(key, precondition, propagation) => {
                store.delete(key, precondition, *propagation)
            }
            Request::Evict(key, precondition) => store.evict(key, precondition),
            Request::Remove(key, precondition) => {
                let answer = store.delete(key, precondition, Propagation::Background);
                if answer.is_ok() {
                    store.remove(key);
                }
                answer
            }
        };
        match (fault, answer) {
            (Some(Fault::DieAfter), _) => {
                self.life = Life::Dead;
                Some(End::DiedAfter)
            }
            (Some(Fault::AnswerLost), Ok(_)) => Some(End::AnswerLost),
            (_, Ok(version)) => {
                self.expect(store, request.key().resource, version);
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
                | Step::Create { event, .. }
                | Step::Patch { event, .. }
                | Step::CompareAndSet { event, .. }
                | Step::Issue { event, .. }
                | Step::Delete { event, .. },
            ) => event.clone(),
            (End::Failed(..) | End::AnswerLost | End::DiedBefore | End::DiedAfter, _) => None,
        };
        let counted = step.counted().filter(|_| end == End::Done).cloned();
        let (doing, proof) = (step.doing().to_string(), step.proof().map(Proof::kind));
        self.done.push(Done { doing, object, write, end, event, counted, proof });
    }

    fn remember(&mut self, step: &Step) {
        if let Step::Apply { object, key, .. } = step {
            self.memo.insert(key.clone(), (std::sync::Arc::new(object.clone()), hash::of(object)));
        }
    }
}

fn class_of(refusal: &Refusal) -> (FailureClass, String) {
    match refusal {
        Refusal::NotFound => (FailureClass::Conflict, "404: the object is gone".into()),
        Refusal::AlreadyExists => (FailureClass::Conflict, "409: the object exists".into()),
        Refusal::Conflict(why) => (FailureClass::Conflict, format!("409: {why}")),
        Refusal::Budget => {
            let why = "429: Cannot evict pod as it would violate the pod's disruption budget.";
            (FailureClass::Held, why.into())
        }
        Refusal::Invalid(why) => (FailureClass::Refused, format!("422: {why}")),
    }
}

fn describe(step: &Step, owner: &ObjectKey) -> (ObjectKey, Write) {
    match step {
        Step::Apply { key, .. } => (key.clone(), Write::Apply),
        Step::Create { key, .. } => (key.clone(), Write::Create),
        Step::Patch { key, .. } => (key.clone(), Write::Patch),
        Step::CompareAndSet { .. } => (owner.clone(), Write::CompareAndSet),
        Step::Issue { key, .. } => (key.clone(), Write::Issue),
        Step::Delete { key, loss: Loss::Nothing | Loss::Remains, .. } => {
            (key.clone(), Write::Delete)
        }
        Step::Delete { key, loss: Loss::Process, .. } => (key.clone(), Write::DeleteProcess),
        Step::Delete { key, loss: Loss::Serving, .. } => (key.clone(), Write::Evict),
        Step::Delete { key, loss: Loss::Data, .. } => (key.clone(), Write::DeleteData),
    }
}
