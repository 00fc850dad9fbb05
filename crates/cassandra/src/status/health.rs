//! Whether the ring is well: a verdict over the checks that stand beside each
//! other in `checks/`, and the condition `Healthy`. It changes when a check comes
//! to another result. Observations only, no decision is taken from them.

mod checks;
mod members;
mod ring;

use crate::facts::Facts;
use crate::validate::Valid;
use crate::words::health::{All, Failing};
use checks::Outcome;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::cluster::{Check, CheckResult, RingHealth, Verdict};
use palladion_api::conditions::HEALTHY;
use palladion_api::reasons::Reason;
use palladion_plan::{Conditions, Truth};

/// The health of the ring, and the condition that says the same. Without a valid
/// spec it is unknown which members there should be.
pub fn of(facts: &Facts<'_>, valid: Option<&Valid>, writer: &mut Conditions) -> RingHealth {
    let outcomes = match super::is_stopped(facts) {
        true => checks::ORDER.map(stopped).to_vec(),
        false => all(facts, valid),
    };
    let first = |result| outcomes.iter().find(|o| o.result == result);
    let verdict = match (first(CheckResult::Fail), first(CheckResult::Unknown)) {
        (Some(failing), _) => {
            set(writer, Truth::False, failing);
            Verdict::Ill
        }
        (None, Some(unclear)) => {
            set(writer, Truth::Unknown, unclear);
            Verdict::Unknown
        }
        (None, None) => {
            writer.set_true(HEALTHY, All::Pass);
            Verdict::Well
        }
    };
    let stored = facts.status.health.as_ref().filter(|h| h.verdict == verdict);
    let since = stored.map_or_else(|| Time(facts.now()), |h| h.since.clone());
    RingHealth { verdict, since, checks: outcomes.iter().map(check).collect() }
}

/// All checks, in their order.
fn all(facts: &Facts<'_>, valid: Option<&Valid>) -> Vec<Outcome> {
    let views = ring::Views::of(facts);
    vec![
        members::exist(facts, valid),
        members::seeds_live(facts, valid),
        members::are_healthy(facts),
        members::are_normal(facts),
        members::agents_speak(facts),
        members::servers_run(facts),
        views.agree(),
        views.schemas_agree(),
        ring::topology_is_still(facts),
        ring::lines_are_the_same(facts),
    ]
}

/// Of a ring that is stopped as its spec says only that is checked.
fn stopped(check: Reason) -> Outcome {
    match check == Reason::ServersRun {
        true => Outcome::fail(Failing::Stopped),
        false => Outcome::unchecked(check),
    }
}

fn set(writer: &mut Conditions, truth: Truth, outcome: &Outcome) {
    if let Some(message) = &outcome.message {
        writer.set(HEALTHY, truth, outcome.check, message);
    }
}

fn check(outcome: &Outcome) -> Check {
    Check {
        name: outcome.check.as_str().into(),
        result: outcome.result,
        message: outcome.message.as_ref().map(ToString::to_string),
    }
}
