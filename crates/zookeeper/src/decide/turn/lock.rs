//! The lock that the turn is: taken, renewed and ended, saying why.

use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::words::turn::{Doing, Ended};
use palladion_api::service::ServiceTurn;
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
    let doing = Doing::Finish { member: turn.member.clone(), work: turn.step.into() };
    lock::write(facts.snapshot, None, more, doing).announced(event)
}

/// End the turn before its work is done. A permit that no vote rests on goes with it.
pub fn release(facts: &Facts<'_>, turn: &ServiceTurn, why: Ended, draft: &mut Draft) {
    let member = facts.members.get(&turn.member);
    draft.steps.extend(member.and_then(|m| withdraw_permit(facts, turn, m)));
    let (member, work) = (turn.member.clone(), turn.step.into());
    let doing = Doing::End { member, work, why };
    draft.steps.push(lock::write(facts.snapshot, None, &[], doing));
}

fn withdraw_permit(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact) -> Option<Step> {
    let permit = member.spec.as_ref()?.start.as_ref()?;
    if permit.nonce != turn.nonce || votes(facts, turn) {
        return None;
    }
    let meta = &member.object.as_ref()?.meta;
    let doing = Doing::Withdraw { member: member.name.clone() };
    let patch = json!({ "spec": { "start": Value::Null } });
    Some(Step::patch_as_seen(kinds::MEMBER, meta, patch, doing).fenced(facts.fence()))
}

/// Does the server that the turn is for vote already, as far as anybody has reported?
pub fn votes(facts: &Facts<'_>, turn: &ServiceTurn) -> bool {
    let configuration = facts.configuration();
    turn.server_id.is_some_and(|id| configuration.is_some_and(|c| c.has_participant(id)))
}
