//! The lock that the turn is: taken, renewed and ended, saying why.

use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::words::turn::Ended;
use palladion_api::service::ServiceTurn;
use palladion_plan::members::turn as shared;
use palladion_plan::{Event, Step, turn as lock};
use serde_json::{Value, json};
use std::fmt::Display;

/// Take the turn, or go on with it as it now stands. A server ID that it gives goes on
/// record with it, so that none is ever given twice.
pub fn write(facts: &Facts<'_>, turn: &ServiceTurn, doing: impl Display) -> Step {
    write_with(facts, turn, Vec::new(), doing)
}

/// The same, with what goes on record besides.
pub fn write_with(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    mut more: Vec<(&'static str, Value)>,
    doing: impl Display,
) -> Step {
    let highest = facts.status.highest_server_id;
    if turn.server_id > highest {
        more.push(("highestServerID", json!(turn.server_id)));
    }
    lock::write(facts.snapshot, Some(turn), &more, doing)
}

/// End the turn; its work is done.
pub fn finish(facts: &Facts<'_>, turn: &ServiceTurn, event: Option<Event>) -> Step {
    finish_with(facts, turn, &[], event)
}

/// The same, with what goes on record besides.
pub fn finish_with(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    more: &[(&str, Value)],
    event: Option<Event>,
) -> Step {
    shared::finish(facts, turn, more, event)
}

/// End the turn before its work is done. A permit that no vote rests on goes with it.
pub fn release(facts: &Facts<'_>, turn: &ServiceTurn, why: Ended, draft: &mut Draft) {
    let member = facts.members.get(&turn.member).filter(|_| !votes(facts, turn));
    draft.steps.extend(member.and_then(|m| shared::withdraw_of_turn(facts, turn, m)));
    draft.steps.push(shared::end(facts, turn, why));
}

/// Does the server that the turn is for vote already, as far as anybody has reported?
pub fn votes(facts: &Facts<'_>, turn: &ServiceTurn) -> bool {
    let configuration = facts.configuration();
    turn.server_id.is_some_and(|id| configuration.is_some_and(|c| c.has_participant(id)))
}
