//! The room that writes. It carries out a plan's steps in order and stops at the
//! first that fails, but for what stands alone and for the parts behind it. It makes no
//! choices: whether a write is needed is a comparison, whether it is allowed is a precondition.

pub mod claim;
pub mod create;
pub mod delete;
pub mod fence;
pub mod issue;
pub mod object;
pub mod patch;

use crate::apply::fence::Guard;
use crate::error::ApiError;
use crate::expect::Expectation;
use crate::faults::Faults;
use crate::leader::Term;
use crate::lock::Keepers;
use crate::memory::Memory;
use crate::queue::Key;
use crate::request::Api;
use crate::watch::Watches;
use crate::words::NotDone;
use palladion_plan::{Count, Event, FailureClass, NotWritten, Object, ObjectKey, Plan, Step};
use serde_json::Value;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Why a step was not carried out.
#[derive(Debug)]
pub struct StepError {
    /// What to do about it.
    pub class: FailureClass,
    /// The answer, for people.
    pub message: String,
    /// When the server wants to be asked again.
    pub retry_after: Option<Duration>,
}

impl StepError {
    /// The world is not as the plan supposed.
    pub fn conflict(why: NotDone) -> Self {
        Self::new(FailureClass::Conflict, why)
    }

    /// Of this class.
    pub fn new(class: FailureClass, why: NotDone) -> Self {
        Self { class, message: why.to_string(), retry_after: None }
    }

    /// The object does not exist any more.
    pub fn gone(object: &ObjectKey) -> Self {
        Self::conflict(NotDone::Gone { object: object.to_string() })
    }

    /// A value that was decided from is another one now.
    pub fn changed(object: &ObjectKey, pointer: &str) -> Self {
        let (object, field) = (object.to_string(), pointer.to_string());
        Self::conflict(NotDone::ChangedAt { object, field })
    }
}

impl From<ApiError> for StepError {
    fn from(error: ApiError) -> Self {
        Self {
            class: error.class(),
            message: error.message.clone(),
            retry_after: error.retry_after,
        }
    }
}

/// What a step did.
#[derive(Debug, PartialEq, Eq)]
pub enum Effect {
    /// Everything was so already.
    Nothing,
    /// Something was written.
    Changed {
        /// These have to come back through the watches.
        expectations: Vec<Expectation>,
        /// The resourceVersion that the object has now, if it exists.
        version: Option<String>,
    },
}

/// A step that failed.
#[derive(Debug)]
pub struct Failed {
    /// What was being done.
    pub doing: String,
    /// The object.
    pub object: ObjectKey,
    /// Why.
    pub error: StepError,
}

/// What became of a plan.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Steps that wrote something, by what they did.
    pub done: Vec<String>,
    /// Events of the steps that wrote something.
    pub events: Vec<Event>,
    /// What is counted.
    pub counts: Vec<Count>,
    /// Own writes that have to come back.
    pub expectations: Vec<Expectation>,
    /// The first step that failed and ended its part of the plan, if one did.
    pub failed: Option<Failed>,
    /// The first step that stands alone and was refused.
    pub refused: Option<Failed>,
    /// Every object that was not written, in the order of the plan.
    pub not_written: Vec<NotWritten>,
    /// The owner's resourceVersion, if a step has changed the owner.
    pub owner_version: Option<String>,
    /// Why the status could not be written.
    pub status_failed: Option<ApiError>,
    /// When a status that is only worded differently is to be written.
    pub status_due: Option<Instant>,
}

/// All that carrying out a plan needs.
pub struct Applier<'a> {
    /// The API server.
    pub api: &'a Api,
    /// What is known.
    pub watches: &'a Watches,
    /// The right to write.
    pub term: &'a Term,
    /// When the facts were gathered from which it was decided.
    pub gathered: Instant,
    /// Fault injection.
    pub faults: &'a Faults,
    /// The owner.
    pub owner: &'a Object,
    /// Its key.
    pub owner_key: &'a ObjectKey,
    /// The operator's own namespace, where the keys of authorities are kept; none where
    /// nothing is signed.
    pub own_namespace: Option<&'a str>,
    /// The locks between regions.
    pub locks: &'a Keepers,
    /// Whose lock it is.
    pub key: &'a Key,
    /// Cancelled when the process is to end: the running step is the last.
    pub stopping: &'a CancellationToken,
}

impl Applier<'_> {
    /// Carry out the steps in order; at the first that fails go on with what supposes nothing
    /// of it.
    pub async fn carry_out(&self, plan: &Plan, memory: &mut Memory) -> Outcome {
        let mut outcome = Outcome::default();
        let mut next = Some(0);
        while let Some((at, step)) = next.and_then(|at| Some((at, plan.steps.get(at)?))) {
            if self.stopping.is_cancelled() {
                break;
            }
            next = Some(at + 1);
            match self.step(step, memory).await {
                Ok(Effect::Nothing) => {}
                Ok(Effect::Changed { expectations, version }) => {
                    outcome.done.push(step.doing().to_string());
                    outcome.events.extend(event(step).cloned());
                    outcome.counts.extend(step.counted().cloned());
                    outcome.expectations.extend(expectations);
                    if self.subject(step) == self.owner_key {
                        outcome.owner_version = version;
                    }
                }
                Err(error) => {
                    let class = error.class;
                    let object = self.subject(step).clone();
                    let message = error.message.clone();
                    outcome.not_written.push(NotWritten { object: object.clone(), class, message });
                    let failed = Failed { doing: step.doing().to_string(), object, error };
                    if step.stands_alone() && class == FailureClass::Refused {
                        outcome.refused.get_or_insert(failed);
                        next = Some(at + 1 + usize::from(step.leaves_out_next()));
                    } else {
                        outcome.failed.get_or_insert(failed);
                        next = plan.goes_on_at(at, class);
                    }
                }
            }
        }
        outcome
    }

    async fn step(&self, step: &Step, memory: &mut Memory) -> Result<Effect, StepError> {
        match step {
            Step::Apply { object, key, precondition, fences, .. } => {
                let guard = Guard { fences, proof: step.proof() };
                self.apply_object(key, object, precondition, guard, memory).await
            }
            Step::Create { object, generated, key, fences, .. } => {
                let guard = Guard { fences, proof: step.proof() };
                self.create_once(key, (object, generated), guard).await
            }
            Step::Patch { key, patch, subresource, precondition, fences, .. } => {
                let guard = Guard { fences, proof: step.proof() };
                self.patch(key, patch, *subresource, precondition, guard).await
            }
            Step::CompareAndSet { status, seen, lock, .. } => {
                self.claim(status, seen, lock.as_ref()).await
            }
            Step::Issue { key, authority, order, patch, at, subresource, precondition, .. } => {
                let made = self.issue(key, authority, order).await?;
                let patch = palladion_plan::issue::filled(patch, at, &made);
                let guard = Guard { fences: &[], proof: None };
                self.patch(key, &patch, *subresource, precondition, guard).await
            }
            Step::Delete { key, precondition, loss, propagation, fences, .. } => {
                let guard = Guard { fences, proof: step.proof() };
                self.delete(key, precondition, (loss, *propagation), guard, memory).await
            }
        }
    }

    fn subject<'a>(&'a self, step: &'a Step) -> &'a ObjectKey {
        match step {
            Step::Apply { key, .. }
            | Step::Create { key, .. }
            | Step::Patch { key, .. }
            | Step::Issue { key, .. }
            | Step::Delete { key, .. } => key,
            Step::CompareAndSet { .. } => self.owner_key,
        }
    }

    /// To be called right before every write, after its fence was looked at: a
    /// leader that was frozen in between finds its term over.
    fn may_write(&self) -> Result<(), StepError> {
        self.faults.before_write();
        if let Err(over) = self.term.check() {
            return Err(StepError {
                class: FailureClass::Transient,
                message: over.to_string(),
                retry_after: None,
            });
        }
        Ok(())
    }

    /// To be called with every answer to a write.
    fn written(
        &self,
        key: &ObjectKey,
        before: Option<&str>,
        answer: Result<Value, ApiError>,
    ) -> Result<Effect, StepError> {
        self.faults.after_write();
        let object = answer?;
        let version = object["metadata"]["resourceVersion"].as_str();
        if before.is_some() && before == version {
            return Ok(Effect::Nothing);
        }
        Ok(Effect::Changed {
            expectations: self.watches.world().expect_version(key, &object),
            version: version.map(str::to_string),
        })
    }
}

fn event(step: &Step) -> Option<&Event> {
    match step {
        Step::Apply { event, .. }
        | Step::Create { event, .. }
        | Step::Patch { event, .. }
        | Step::CompareAndSet { event, .. }
        | Step::Issue { event, .. }
        | Step::Delete { event, .. } => event.as_ref(),
    }
}
