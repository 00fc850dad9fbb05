//! The turn of a leaver: out of every queue, out of the cluster, stopped, on record.

use super::next::question;
use super::{alarmed, depart};
use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Agreed};
use crate::decide::forget;
use crate::decide::join;
use crate::decide::turn::{lock, order, permit, yet_to_grow};
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::leave::{Doing, Happened, Waiting};
use crate::words::turn::Ended;
use palladion_api::labels;
use palladion_api::service::{ServiceStep, ServiceTurn};
use palladion_api::service_member::ServiceIntentKind;
use palladion_plan::members::leave::{self, End};
use palladion_plan::members::turn as shared;
use palladion_plan::proof::ProofKind;
use palladion_plan::{Event, Step, turn};
use serde_json::json;

/// Go on with the turn.
pub fn advance(facts: &Facts<'_>, valid: &Valid, turn: &ServiceTurn, draft: &mut Draft) {
    let Some(member) = facts.members.get(&turn.member).filter(|m| m.object.is_some()) else {
        return lock::release(facts, turn, Ended::MemberGone, draft);
    };
    if member.is_gone() {
        return stop(facts, turn, member, draft);
    }
    // By a join alone its node runs again, and can leave.
    if join::is_stranded(facts, member) {
        draft.steps.push(shared::end(facts, turn, Ended::NotTakenIn));
        return;
    }
    if serves_no_other(facts, member)
        && let Some(step) = depart::start_again(facts, member)
    {
        draft.steps.push(step);
        return;
    }
    let question = question(facts, member);
    let is_named = facts.is_named(member);
    if !is_named && may_still_join(facts, member) {
        // What ends it is the withdrawn permit. Whether the others know the node by then,
        // they are asked when it has stopped.
        draft.steps.extend(permit::withdraw(facts, member));
        let (name, server) = (member.name.clone(), member.server_words());
        draft.wait_for(Waiting::Ending { member: name, server }).about(member.subject());
        return;
    }
    if is_named && member.ordinal < valid.size && !order::is_given(facts, turn) {
        return stay(facts, turn, member, draft);
    }
    if alarmed::is_so(facts, turn, &question) {
        return lock::release(facts, turn, Ended::AlarmFirst, draft);
    }
    if order::is_open(facts, turn, &question, draft) {
        return;
    }
    let kind = match (is_named, member.is_lost()) {
        (false, _) => ProofKind::Gone,
        (true, true) => ProofKind::Dead,
        (true, false) => ProofKind::AllWell,
    };
    let Some(agreed) = evidence::prove(facts, turn, &question, kind, draft) else {
        return;
    };
    match (agreed.names(&facts.node_of(member)), kind) {
        (false, ProofKind::Gone) => draft.steps.extend(record(facts, turn, member, &agreed)),
        // It was named a moment ago, or is named by somebody who did not say so before.
        (false, _) | (true, ProofKind::Gone) => {
            let _ = evidence::renew(facts, turn, &question, draft);
        }
        (true, ProofKind::Dead) => {
            let _ = forget::is_forgotten(facts, turn, &question, &agreed, draft);
        }
        (true, _) => depart::advance(facts, turn, &question, &agreed, draft),
    }
}

/// Is it out already, or does somebody carry out an order for it? What it has given away before
/// goes on record with the end of the turn.
pub fn is_begun(facts: &Facts<'_>, turn: &ServiceTurn) -> bool {
    let member = facts.members.get(&turn.member);
    let has_intent = |m: &MemberFact| m.spec.as_ref().is_some_and(|spec| spec.intent.is_some());
    let is_out = member.is_none_or(|m| m.is_gone() || !facts.is_named(m) || has_intent(m));
    is_out || order::is_under_way(facts, turn)
}

/// Does no other node serve? Of two the other one pauses when the pod of the leaver ends,
/// and a leaver whose application is to be stopped starts it in no new pod: they would wait
/// for each other for ever. It starts again, and leaves once both serve.
fn serves_no_other(facts: &Facts<'_>, member: &MemberFact) -> bool {
    facts.views().all(|(other, _)| other.name == member.name)
}

/// May a join be under way on a volume that is no member's yet? Its agent hears of a permit
/// that is withdrawn when the others may have taken the node in already. Of an agent that
/// does not answer nothing is waited for here: the end of its pod is, before the turn ends.
fn may_still_join(facts: &Facts<'_>, member: &MemberFact) -> bool {
    let may_run = member.server().is_some_and(|server| server.state.may_run());
    !member.has_served() && member.agent_answers(&facts.nodes) && may_run
}

/// The spec asks for it again, and the others have not forgotten it: it stays. Its
/// application is started before anybody else begins something.
fn stay(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact, draft: &mut Draft) {
    if let Some(step) = depart::start_again(facts, member) {
        draft.steps.push(step);
        return;
    }
    if member.serves && order::has_worked(turn, member) {
        return take_back(facts, member, draft);
    }
    if member.serves || member.is_lost() {
        return lock::release(facts, turn, Ended::NotWanted, draft);
    }
    let (name, server) = (member.name.clone(), member.server_words());
    draft.wait_for(Waiting::StartingApp { member: name, server }).about(member.subject());
}

/// Its queues come back to it, as to one that has just joined.
fn take_back(facts: &Facts<'_>, member: &MemberFact, draft: &mut Draft) {
    let Some(volume) = member.volume_id() else { return };
    let next = turn::new(facts.snapshot, &member.name, volume, ServiceStep::Join);
    draft.steps.extend(yet_to_grow::record(facts, member, &next.nonce));
    draft.steps.push(lock::write(facts, &next, Doing::TakeBack { member: member.name.clone() }));
}

/// Record that the member is out for good: from here on its set may shrink.
fn record(
    facts: &Facts<'_>,
    turn: &ServiceTurn,
    member: &MemberFact,
    agreed: &Agreed,
) -> Option<Step> {
    let name = || member.name.clone();
    let intent = member.volume_id().map(|volume| {
        json!({ "kind": ServiceIntentKind::Leave, "nonce": turn.nonce, "volumeID": volume })
    });
    let patch = json!({
        "metadata": { "annotations": { labels::GONE: agreed.proof.text() } },
        "spec": { "run": "Terminated", "start": null, "operation": null, "intent": intent },
    });
    let meta = &member.object.as_ref()?.meta;
    Some(
        Step::patch_as_seen(kinds::MEMBER, meta, patch, Doing::RecordLeft { member: name() })
            .fenced(facts.fence())
            .proven(agreed.proof.stated())
            .announced(Event::normal(Happened::HasLeft { member: name() })),
    )
}

/// It is out. Nothing else begins before its node has stopped and its agent has noted on the
/// volume that it has left, or its pod is gone; of a lost one that is not awaited for ever. One
/// that was taken in after the others had answered that they do not know it is forgotten: as
/// soon as its member is deleted, nobody would account for it.
fn stop(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact, draft: &mut Draft) {
    let is_named = facts.is_named(member);
    let until = match leave::end(facts, turn, member) {
        // What puts the question anew would put off the end of that wait with it.
        End::Over | End::AwaitedUntil(_) if is_named => {
            return forget_again(facts, turn, member, draft);
        }
        End::Over => {
            return draft.steps.push(lock::finish(facts, turn, None));
        }
        End::AwaitedUntil(until) => Some(until),
        End::Awaited => None,
    };
    let (name, server) = (member.name.clone(), member.server_words());
    draft.wait_for(Waiting::Stopping { member: name, server }).about(member.subject()).until =
        until;
}

fn forget_again(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact, draft: &mut Draft) {
    let question = question(facts, member);
    if order::is_open(facts, turn, &question, draft) {
        return;
    }
    let Some(agreed) = evidence::prove(facts, turn, &question, ProofKind::Dead, draft) else {
        return;
    };
    if forget::is_forgotten(facts, turn, &question, &agreed, draft) {
        // They had answered before they took it in.
        let _ = evidence::renew(facts, turn, &question, draft);
    }
}
