//! Scale-down: a member leaves by recorded intent, the rest of the ring proves
//! that it is gone, and only then does its pod go. The claim is kept.

use super::never;
use super::next::{candidate, last_answer, looks_again, refused_by_disk};
use super::steps::{decommission, end, renew, terminate, withdraw};
use crate::decide::departure;
use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Purpose, Unproven, marks};
use crate::decide::leave::{delivered, refused};
use crate::decide::turn::lock;
use crate::facts::leaver::{failed_halfway, is_interrupted};
use crate::facts::words::server_words;
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::leave::{Doing, Ended, Happened, Refused, Waiting};
use crate::words::turn;
use palladion_api::cluster::Turn;
use palladion_api::member::IntentState;
use palladion_plan::Event;
use palladion_plan::words::Count;

/// Go on with a Leave turn.
pub fn advance(facts: &Facts<'_>, valid: &Valid, turn: &Turn, draft: &mut Draft) {
    let Some(member) = facts.members.get(&turn.member) else {
        return end(facts, turn, turn::Ended::MemberGone, None, draft);
    };
    if member.is_gone() {
        let (rack, members) = (member.rack.clone(), Count::of(member.ordinal, "member"));
        let event = Event::normal(Happened::ScaledDown { rack, members });
        return end(facts, turn, Ended::HasLeft, Some(event), draft);
    }
    if marks::of(member).is_some() {
        // It will never go on with it; the others remove it instead.
        draft.steps.extend(withdraw(facts, turn, member));
        return end(facts, turn, Ended::Marked, None, draft);
    }
    if member.recorded_host_id().is_none() {
        return never::advance(facts, valid, turn, member, draft);
    }
    let intent =
        member.spec.as_ref().and_then(|s| s.intent.as_ref()).filter(|i| i.nonce == turn.nonce);
    let answer = member.status.intent.as_ref().filter(|i| i.nonce == turn.nonce);
    match (intent, answer.map(|a| a.state)) {
        (None, _) => before_intent(facts, valid, turn, member, draft),
        (Some(_), Some(IntentState::Failed)) if is_interrupted(member) => {
            draft.steps.extend(withdraw(facts, turn, member));
            end(facts, turn, Ended::Interrupted, None, draft);
        }
        (Some(_), Some(IntentState::Failed | IntentState::Refused)) => {
            let why = answer.and_then(|a| a.message.clone()).unwrap_or_default();
            // One that failed halfway is reported for as long as it stands.
            if failed_halfway(member).is_none() {
                draft.report(Refused::Failed { member: member.name.clone(), why: why.clone() });
            }
            draft.steps.extend(withdraw(facts, turn, member));
            end(facts, turn, Ended::Failed { why }, None, draft);
        }
        (Some(_), Some(IntentState::Done)) => prove_gone(facts, valid, turn, member, draft),
        (Some(_), None | Some(IntentState::Running | IntentState::Unknown)) => {
            let (name, server) = (member.name.clone(), server_words(member));
            draft.wait_for(Waiting::Leaving { member: name, server }).about(member.subject());
        }
    }
}

fn before_intent(
    facts: &Facts<'_>,
    valid: &Valid,
    turn: &Turn,
    member: &MemberFact,
    draft: &mut Draft,
) {
    if evidence::absence::has_left(facts, member) {
        return prove_gone(facts, valid, turn, member, draft);
    }
    let halfway = failed_halfway(member).is_some();
    let still_wanted = candidate(facts, valid).is_none_or(|(_, m)| m.name != member.name);
    // Nothing but its end or a restart makes a leave that failed halfway undone.
    if still_wanted && !halfway {
        return end(facts, turn, Ended::RequestedAgain, None, draft);
    }
    let (Some(object), Some(host_id)) = (&member.object, member.recorded_host_id()) else {
        return;
    };
    let purpose = Purpose::Leave { except: halfway.then_some(host_id).into_iter().collect() };
    let proof = match evidence::prove(facts, turn, member, &purpose, draft) {
        Ok(proof) => proof,
        Err(Unproven::Waiting) => return,
        Err(Unproven::AskAgain(why)) => {
            return end(facts, turn, turn::Ended::Objection { why }, None, draft);
        }
    };
    let answer = |m| last_answer(m).filter(|e| e.nonce == turn.nonce);
    // What it streams with its datacenter are the system keyspaces alone.
    let by_disk = || refused::by_disk(facts, member, answer);
    if let Some((obstacle, read_at)) =
        (!departure::takes_along(facts, member)).then(by_disk).flatten()
    {
        refused_by_disk(member, &obstacle, looks_again(facts, turn, read_at), draft);
        return end(facts, turn, Ended::Obstructed { obstacle }, None, draft);
    }
    draft.steps.push(decommission(facts, turn, (member, object), host_id, &proof));
}

/// The member says that it has left; now the others must say so.
fn prove_gone(
    facts: &Facts<'_>,
    valid: &Valid,
    turn: &Turn,
    member: &MemberFact,
    draft: &mut Draft,
) {
    let Some(host_id) = member.recorded_host_id() else {
        return;
    };
    // Of who left by hand no agent says that its server has ended.
    let by_intent = member.spec.as_ref().is_some_and(|s| s.intent.is_some());
    if let Some(waits) = delivered::after(facts, turn, member).filter(|_| by_intent) {
        draft.wait_for(waits).about(member.subject());
        return;
    }
    if let Some(proof) = evidence::records::was_the_last(facts, member, host_id) {
        draft.steps.push(terminate(facts, valid, member, &proof, turn));
        return;
    }
    match evidence::prove(facts, turn, member, &Purpose::HasLeft { host_id }, draft) {
        Ok(proof) => draft.steps.push(terminate(facts, valid, member, &proof, turn)),
        Err(Unproven::Waiting) => {}
        Err(Unproven::AskAgain(_)) => {
            // The same turn asks again under a fresh nonce.
            let renewed = lock::again(facts, turn);
            // Who left by hand has no intent.
            if member.spec.as_ref().is_some_and(|s| s.intent.is_some()) {
                draft.steps.extend(renew(facts, turn, member, &renewed));
            }
            let doing = Doing::AskAgain { member: member.name.clone() };
            draft.steps.push(lock::renew(facts, &renewed, doing));
        }
    }
}
