//! When an owner is looked at again: after its own writes have come back, after
//! a failure, or when its plan wants to be woken.

use crate::apply::{Failed, Outcome};
use crate::backoff;
use crate::error::ApiError;
use crate::expect::PATIENCE;
use crate::memory::Memory;
use crate::queue::After;
use crate::reconcile::{Case, Reconciler};
use palladion_plan::{Failure, FailureClass, NotWritten, Plan, Snapshot};
use std::time::Duration;
use tokio::time::Instant;

/// A mind that asks to be woken in the past is woken a little later.
const SHORTEST_WAKE: Duration = Duration::from_secs(1);
/// So many conflicts in a row are not somebody else's success any more, and
/// are told as what they are. About ten seconds of trying.
const MANY_CONFLICTS: u32 = 8;

/// Is a failure of this class worth telling people?
pub(crate) fn worth_telling(class: FailureClass, attempts: u32) -> bool {
    match class {
        FailureClass::Conflict | FailureClass::Held => attempts >= MANY_CONFLICTS,
        FailureClass::Transient | FailureClass::Foreign | FailureClass::Refused => true,
    }
}

/// When the plan wants to be looked at again.
pub(super) fn wake(plan: &Plan, facts: &Snapshot) -> Option<Instant> {
    let wake = plan.wake_at()?;
    let until = Duration::try_from(wake.duration_since(facts.now)).unwrap_or_default();
    Some(Instant::now() + until.max(SHORTEST_WAKE))
}

impl Reconciler {
    pub(super) fn after(
        &self,
        case: &Case<'_>,
        plan: &Plan,
        facts: &Snapshot,
        outcome: Outcome,
        retry: Option<After>,
        memory: &mut Memory,
    ) -> After {
        let status = outcome.status_failed.as_ref();
        let retry = retry.or_else(|| status.map(|error| status_failed(error, memory)));
        if retry.is_none() {
            memory.attempts = 0;
        }
        let mut after = retry.unwrap_or(After::Rest);
        if let (After::Rest, Some(wake)) = (after, wake(plan, facts)) {
            after = After::WakeAt(wake);
        }
        if let (After::Rest, Some(again)) = (after, self.settings.look_again()) {
            after = After::WakeAt(Instant::now() + again);
        }
        if let Some(due) = outcome.status_due {
            after = match after {
                After::Rest => After::WakeAt(due),
                After::WakeAt(at) => After::WakeAt(at.min(due)),
                After::RetryAt(_) | After::HoldUntil(_) => after,
            };
        }
        if outcome.expectations.is_empty() {
            return after;
        }
        memory.expected_since = Some(Instant::now());
        let mut world = self.watches.world();
        world.awaited.expect(case.key, &outcome.expectations);
        let come_back = world.caught_up(&outcome.expectations);
        memory.expectations = outcome.expectations;
        match (retry, come_back) {
            (Some(retry), _) => retry,
            (None, true) => After::WakeAt(Instant::now()),
            (None, false) => After::WakeAt(Instant::now() + PATIENCE),
        }
    }

    /// Remember a failed step and say when to try again.
    pub(super) fn failed(
        &self,
        failed: Failed,
        all: Vec<NotWritten>,
        memory: &mut Memory,
    ) -> After {
        let Failed { doing, object, error } = failed;
        let wait = backoff::wait(error.class, memory.attempts);
        let known = memory.failure.as_ref().is_some_and(|f| f.message == error.message);
        let told = known && worth_telling(error.class, memory.attempts);
        memory.attempts = memory.attempts.saturating_add(1);
        if !told && worth_telling(error.class, memory.attempts) {
            tracing::warn!(
                step = %doing, object = %object, class = ?error.class, error = %error.message,
                "step failed"
            );
        }
        let at = Instant::now() + wait.max(error.retry_after.unwrap_or_default());
        let after = match error.class {
            FailureClass::Transient => After::HoldUntil(at),
            FailureClass::Conflict
            | FailureClass::Held
            | FailureClass::Foreign
            | FailureClass::Refused => After::RetryAt(at),
        };
        memory.failure = Some(Failure {
            doing,
            object: Some(object),
            class: error.class,
            message: error.message,
            at: jiff::Timestamp::now(),
            all,
        });
        after
    }

    /// After a bug of ours: news may cure it, and so may a new version.
    pub(super) fn bug(&self, memory: &mut Memory) -> After {
        let wait = backoff::wait(FailureClass::Refused, memory.attempts);
        memory.attempts = memory.attempts.saturating_add(1);
        After::RetryAt(Instant::now() + wait)
    }
}

/// The status is derived from the world: the next decision writes it.
fn status_failed(error: &ApiError, memory: &mut Memory) -> After {
    let wait = backoff::wait(error.class(), memory.attempts);
    memory.attempts = memory.attempts.saturating_add(1);
    After::RetryAt(Instant::now() + wait.max(error.retry_after.unwrap_or_default()))
}
