//! Changes of the configuration that the ensemble refuses: how often is counted, the next one is
//! ordered after a pause, from another server where there is one, and it is reported. The turn goes
//! on: what forbids this change forbids each other one.

use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::words::turn::{Problem, Refused};
use jiff::SignedDuration;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::service::{FailingOperation, ServiceTurn};
use palladion_api::service_member::{MemberOperationStatus, OperationAnswer};

/// From an order that was refused to the next: it costs a write to the owner and to each member,
/// and two writes of each server.
pub const RETRY: SignedDuration = SignedDuration::from_secs(10);
/// An ensemble refuses a change while a server follows it that has just come. What it has refused so
/// often needs a person.
const FAILURES: u32 = 5;
/// Of what an agent says of a refusal so much is kept. A sentence around it fits into a condition.
const LONGEST: usize = 500;

/// Why an order was refused; `None` where it was carried out, or may have been, or another version of
/// the configuration is there by now.
pub fn why(answer: &MemberOperationStatus) -> Option<String> {
    let otherwise = match answer.answer? {
        OperationAnswer::Made | OperationAnswer::BadVersion | OperationAnswer::NoAnswer => {
            return None;
        }
        OperationAnswer::NewConfigNoQuorum => Refused::NoQuorum,
        OperationAnswer::ReconfigInProgress => Refused::InProgress,
        OperationAnswer::Other | OperationAnswer::Unknown => Refused::Unsaid,
    };
    let said = answer.message.clone().unwrap_or_else(|| otherwise.to_string());
    Some(said.chars().take(LONGEST).collect())
}

/// The turn after an order: with what was refused, or without what was refused before.
pub fn after(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    executor: &MemberFact,
    why: Option<String>,
) -> ServiceTurn {
    let before = turn.failing.as_ref();
    let failing = why.map(|why| FailingOperation {
        executor: executor.name.clone(),
        times: before.map_or(0, |before| before.times).saturating_add(1),
        since: before.map_or(Time(facts.now()), |before| before.since.clone()),
        why,
    });
    ServiceTurn { failing, ..turn.clone() }
}

/// Say of a turn what it fails at.
pub fn report(facts: &Facts<'_>, turn: &ServiceTurn, draft: &mut Draft) {
    let failing = turn.failing.clone().filter(|failing| failing.times >= FAILURES);
    let Some(FailingOperation { executor, times, why, .. }) = failing else { return };
    let (member, work) = (turn.member.clone(), turn.step.into());
    let namespace = facts.snapshot.owner.meta.namespace.clone();
    draft.report(Problem::ChangeFails { member, work, times, executor, why, namespace });
}
