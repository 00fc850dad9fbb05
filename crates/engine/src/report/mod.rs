//! The last room: what people see. Status is patched only where it differs,
//! events are sent on transitions only, and at rest nothing is said at all.

pub mod events;
pub mod status;

use crate::apply::Outcome;
use crate::memory::Memory;
use crate::reconcile::again::worth_telling;
use crate::reconcile::{Case, Reconciler};
use crate::words::Told;
use events::Events;
use jiff::Timestamp;
use palladion_api::conditions::{Condition, DEGRADED, PROGRESSING, condition, set};
use palladion_api::words::Reasoned;
use palladion_plan::{FailureClass, Plan, Subresource};
use serde_json::{Value, json};
use status::Urgency;
use std::time::Duration;
use tokio::time::Instant;

/// An owner that is gone is not worked for, however long the cache still has it.
/// Looked at again all the same, in case the answer was about something else.
const OWNER_STAYS_GONE: Duration = Duration::from_secs(60);

/// What only words it differently waits this long after the last write: a ring
/// in motion would be written several times a second, to say what holds for a
/// moment.
const WORDS_APART: Duration = Duration::from_secs(5);

/// Waits alone wait longer: nearly always something else changes meanwhile, and
/// takes them along without a write of their own.
const WAITS_APART: Duration = Duration::from_secs(10);

impl Reconciler {
    /// Tell what was done and how things are.
    pub(crate) async fn report(
        &self,
        case: &Case<'_>,
        plan: &Plan,
        outcome: &mut Outcome,
        memory: &mut Memory,
    ) {
        for done in &outcome.done {
            tracing::info!(step = %done, "step carried out");
        }
        for count in &outcome.counts {
            self.metrics.minds.count(count);
        }
        self.metrics.minds.set(case.key, &plan.figures);
        let events = self.events(case);
        for event in outcome.events.iter().chain(&plan.events) {
            events.send(event, memory);
        }
        if let Some(failure) = memory.failure.clone()
            && worth_telling(failure.class, memory.attempts)
        {
            events.warn(&Told::Failed { doing: failure.doing, why: failure.message }, memory);
        }
        self.write_status(case, &plan.status, outcome, memory).await;
    }

    /// Tell that a plan was refused by the linter.
    pub(crate) fn veto_event(&self, case: &Case<'_>, words: &str, memory: &mut Memory) {
        self.events(case).warn(&Told::Vetoed { violations: words.to_string() }, memory);
    }

    /// Tell that nothing is decided, without the mind: in the conditions that it takes back with
    /// its next good decision. No generation is noted, as nothing was observed.
    pub(crate) async fn report_undecided(&self, case: &Case<'_>, told: Told, memory: &mut Memory) {
        self.events(case).warn(&told, memory);
        let stored = case.owner.at("/status/conditions").cloned().unwrap_or_else(|| json!([]));
        let Ok(mut conditions) = serde_json::from_value::<Vec<Condition>>(stored) else {
            return;
        };
        // One for which nothing was ever decided gets them here.
        let is_new = conditions.is_empty() && case.mind.reports_health();
        let has = |type_: &str| is_new || conditions.iter().any(|c| c.type_ == type_);
        // Tasks and backups have no such conditions: an event tells of them.
        if !has(DEGRADED) {
            return;
        }
        let told_in: Vec<&str> = [DEGRADED, PROGRESSING].into_iter().filter(|t| has(t)).collect();
        for type_ in told_in {
            let (reason, message, now) = (told.reason(), told.to_string(), Timestamp::now());
            let new = condition(type_, true, reason.as_str(), &message, None, now);
            set(&mut conditions, new);
        }
        let status = json!({ "conditions": conditions });
        self.write_status(case, &status, &mut Outcome::default(), memory).await;
    }

    async fn write_status(
        &self,
        case: &Case<'_>,
        wanted: &Value,
        outcome: &mut Outcome,
        memory: &mut Memory,
    ) {
        let stored = case.owner.at("/status");
        let Some(change) = status::patch(stored, wanted) else {
            return;
        };
        if memory.futile_status.as_ref() == Some(&change) {
            return;
        }
        let apart = match status::urgency(stored, &change) {
            Urgency::Now => Duration::ZERO,
            Urgency::Words => WORDS_APART,
            Urgency::Waits => WAITS_APART,
        };
        let due = memory.status_written.map(|at| at + apart);
        if let Some(due) = due.filter(|due| Instant::now() < *due)
            && memory.failure.is_none()
        {
            outcome.status_due = Some(due);
            return;
        }
        // Under the version that was decided from (or that this plan has made of
        // it): the status subresource ignores a uid, and a status that was
        // decided for an object must not end up on its namesake.
        let version = outcome.owner_version.as_ref().unwrap_or(&case.owner.meta.resource_version);
        let patch = json!({"metadata": {"resourceVersion": version}, "status": change});
        self.faults.before_write();
        if self.term.check().is_err() {
            return;
        }
        let answer = self.api.merge(&case.owner_key, Subresource::Status, &patch).await;
        self.faults.after_write();
        match answer {
            Ok(object) if object["metadata"]["resourceVersion"] == json!(version) => {
                let fields = names(&change);
                tracing::error!(fields, "the API server does not store these fields of status");
                memory.futile_status = Some(change);
            }
            Ok(object) => {
                memory.futile_status = None;
                memory.status_error = None;
                memory.status_written = Some(Instant::now());
                let expected = self.watches.world().expect_version(&case.owner_key, &object);
                outcome.expectations.extend(expected);
                self.tell_conditions(case, stored, wanted, memory);
            }
            Err(error) => {
                if error.is_not_found() {
                    let version = case.owner.meta.resource_version.clone();
                    memory.gone = Some((version, Instant::now() + OWNER_STAYS_GONE));
                }
                let told = memory.status_error.as_deref() == Some(error.message.as_str());
                if !told && error.class() != FailureClass::Conflict {
                    tracing::warn!(error = %error, "cannot write status");
                    memory.status_error = Some(error.message.clone());
                }
                outcome.status_failed = Some(error);
            }
        }
    }

    fn tell_conditions(
        &self,
        case: &Case<'_>,
        stored: Option<&Value>,
        wanted: &Value,
        memory: &mut Memory,
    ) {
        let events = self.events(case);
        for (type_, reason, message) in events::of_conditions(stored, wanted) {
            tracing::info!(reason = %reason, detail = %message, "condition changed");
            events.say(type_, &reason, &message, memory);
        }
    }

    fn events<'a>(&'a self, case: &'a Case<'_>) -> Events<'a> {
        Events {
            api: &self.api,
            resource: case.mind.owner(),
            owner: &case.owner,
            instance: &self.instance,
            term: &self.term,
        }
    }
}

/// Names of the fields of a patch, for logs: their values may be large.
fn names(patch: &Value) -> String {
    let names = patch.as_object().map(|map| map.keys().cloned().collect::<Vec<_>>());
    names.unwrap_or_default().join(", ")
}
