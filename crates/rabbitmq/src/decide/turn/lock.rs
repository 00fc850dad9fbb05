//! The lock that the turn is: taken, renewed and ended, saying why.

use super::{postponed, yet_to_grow};
use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::words::turn::Ended;
use palladion_api::rabbitmq::PostponedTurn;
use palladion_api::service::ServiceTurn;
use palladion_plan::members::turn as shared;
use palladion_plan::{Event, Step, turn as lock};
use serde_json::{Value, json};
use std::fmt::Display;

/// Take the turn, or go on with it as it now stands.
pub fn write(facts: &Facts<'_>, turn: &ServiceTurn, doing: impl Display) -> Step {
    write_with(facts, turn, &[], doing)
}

/// The same, with what goes on record besides.
pub fn write_with(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    more: &[(&str, Value)],
    doing: impl Display,
) -> Step {
    lock::write(facts.snapshot, Some(turn), more, doing)
}

/// End a turn after which the leaders of queues stand where they came to stand: they are
/// spread when nothing else is to be done.
pub fn finish(facts: &Facts<'_>, turn: &ServiceTurn, event: Option<Event>) -> Step {
    let mut more = vec![("rebalancePending", json!(true))];
    if !facts.status.postponed.is_empty() {
        more.push(("postponed", json!(postponed::after(facts, turn))));
    }
    shared::finish(facts, turn, &more, event)
}

/// End the turn before its work is done. A permit by which nothing has joined goes with it; of
/// a member that the others name it goes on record what it has yet to take.
pub fn release(facts: &Facts<'_>, turn: &ServiceTurn, why: Ended, draft: &mut Draft) {
    release_with(facts, turn, &[], why, draft);
}

/// The same, and it is postponed.
pub fn postpone(facts: &Facts<'_>, turn: &ServiceTurn, why: Ended, draft: &mut Draft) {
    postpone_as(facts, turn, postponed::of(facts, turn), why, draft);
}

/// The same, with what is known of the queues.
pub fn postpone_as(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    record: PostponedTurn,
    why: Ended,
    draft: &mut Draft,
) {
    let mut all = postponed::of_others(facts, &turn.member);
    all.push(record);
    release_with(facts, turn, &[("postponed", json!(all))], why, draft);
}

/// The same, with what goes on record besides.
fn release_with(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    more: &[(&str, Value)],
    why: Ended,
    draft: &mut Draft,
) {
    if let Some(member) = facts.members.get(&turn.member) {
        draft.steps.extend(match facts.is_named(member) {
            true => yet_to_grow::record_at_end(facts, turn, member),
            false => shared::withdraw_of_turn(facts, turn, member),
        });
    }
    draft.steps.push(shared::end_with(facts, turn, more, why));
}
