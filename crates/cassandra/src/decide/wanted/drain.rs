//! The drain of one member, for a task: a stop of its service, though not of its
//! process, so it has the turn of a stop and needs the same proof. The order stands
//! only while the member has the turn: an agent that comes back later drains nothing.

use super::order;
use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Purpose, Unproven};
use crate::decide::turn::lock;
use crate::facts::words::{pod_words, server_words};
use crate::facts::{DrainTask, Facts, MemberFact};
use crate::resources as kinds;
use crate::words::evidence::Forbidden;
use crate::words::wanted::{Doing, Ended, Happened, Stopping};
use palladion_api::cluster::{Turn, TurnStep};
use palladion_api::member::Drain;
use palladion_plan::{Event, Flow, Step};
use serde_json::{Value, json};

/// Is this member being drained, or is an order left over?
pub fn concerns(member: &MemberFact) -> bool {
    member.drain != DrainTask::None || order_of(member).is_some()
}

/// The turn for whoever a task drains next.
pub fn next(facts: &Facts<'_>, draft: &mut Draft) -> Flow {
    let left = facts.members.values().find(|m| order_of(m).is_some());
    if let Some(step) = left.and_then(|member| take_back(member, None)) {
        draft.steps.push(step);
        return Flow::Busy;
    }
    let due = |m: &&MemberFact| m.drain == DrainTask::Wanted && !m.is_drained();
    for member in facts.members.values().filter(due).filter(|m| !order::is_on_its_way(m)) {
        let Some(volume) = order::volume(member).filter(|_| may_begin(facts, member, draft)) else {
            continue;
        };
        let turn = lock::new(facts, &member.name, &volume, TurnStep::Stop, 1);
        let doing = Doing::BeginDrain { member: member.name.clone() };
        draft.steps.push(lock::take(facts, &turn, doing, None));
        return Flow::Busy;
    }
    Flow::Free
}

fn may_begin(facts: &Facts<'_>, member: &MemberFact, draft: &mut Draft) -> bool {
    let name = member.name.clone();
    if !member.is_normal() || !member.agent_answers(&facts.nodes) {
        let waiting = Stopping::ForAgent { member: name, pod: pod_words(member) };
        draft.wait_for(waiting).about(member.subject());
        return false;
    }
    match evidence::others_are_quiet(facts, member) {
        Ok(()) => true,
        Err(why) => {
            draft.wait_for(Forbidden::Stop { member: name, why }).about(member.subject());
            false
        }
    }
}

/// Go on with the turn.
pub fn advance(facts: &Facts<'_>, turn: &Turn, member: &MemberFact, draft: &mut Draft) {
    let name = || member.name.clone();
    if member.is_drained() {
        draft.steps.extend(take_back(member, Some((facts, turn))));
        let event = Event::normal(Happened::Drained { member: name() });
        draft.steps.push(lock::finish(facts, turn, Some(event)));
        return;
    }
    let gives_up = |why: Ended, draft: &mut Draft| {
        draft.steps.extend(take_back(member, Some((facts, turn))));
        draft.steps.push(lock::end(facts, turn, why, None));
    };
    let is_wanted = match member.drain {
        DrainTask::Wanted => true,
        // Too late: its server drains.
        DrainTask::TakenBack => is_asked(turn, member),
        DrainTask::None => false,
    };
    if !is_wanted || order::is_on_its_way(member) {
        return gives_up(Ended::NotWanted, draft);
    }
    if !member.agent_answers(&facts.nodes) {
        return gives_up(Ended::NotDrained, draft);
    }
    if is_asked(turn, member) {
        let waiting = Stopping::Drains { member: name(), server: server_words(member) };
        draft.wait_for(waiting).about(member.subject());
        return;
    }
    let purpose = Purpose::Stop { except: Vec::new() };
    match evidence::prove(facts, turn, member, &purpose, draft) {
        Ok(proof) => {
            let step = give(facts, turn, member);
            draft.steps.extend(step.map(|step| step.proven(proof.stated())));
        }
        Err(Unproven::Waiting) => {}
        Err(Unproven::AskAgain(why)) => gives_up(Ended::Forbidden { why }, draft),
    }
}

fn order_of(member: &MemberFact) -> Option<&Drain> {
    member.spec.as_ref()?.drain.as_ref()
}

/// Is the server that runs now asked to drain, in this turn? One that was started
/// since is another.
fn is_asked(turn: &Turn, member: &MemberFact) -> bool {
    let runs = member.status.start_history.first().map(|start| &start.started_at);
    let order = order_of(member).filter(|order| order.nonce == turn.nonce);
    order.is_some_and(|order| runs == Some(&order.started_at))
}

fn give(facts: &Facts<'_>, turn: &Turn, member: &MemberFact) -> Option<Step> {
    let drain = Drain {
        nonce: turn.nonce.clone(),
        host_id: member.recorded_host_id()?.clone(),
        volume_id: turn.volume_id.clone(),
        started_at: member.status.start_history.first()?.started_at.clone(),
    };
    let meta = &member.object.as_ref()?.meta;
    let patch = json!({ "spec": { "drain": drain } });
    let doing = Doing::Drain { member: member.name.clone() };
    let event = Event::normal(Happened::Drains { member: member.name.clone() });
    let step = Step::patch_as_seen(kinds::MEMBER, meta, patch, doing);
    Some(step.fenced(facts.fence(turn)).announced(event))
}

/// Nobody is to be drained by this order any more.
fn take_back(member: &MemberFact, held: Option<(&Facts<'_>, &Turn)>) -> Option<Step> {
    let meta = &member.object.as_ref().filter(|_| order_of(member).is_some())?.meta;
    let patch = json!({ "spec": { "drain": Value::Null } });
    let doing = Doing::EndDrain { member: member.name.clone() };
    let step = Step::patch_as_seen(kinds::MEMBER, meta, patch, doing);
    Some(step.fenced(held.map(|(facts, turn)| facts.fence(turn))))
}
