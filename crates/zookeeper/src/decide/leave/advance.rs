//! The turn of a leaver: out of the configuration, then stopped, then on record.

use super::next::question;
use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Agreed};
use crate::decide::turn::change::{self, Goal};
use crate::decide::turn::lock;
use crate::facts::{Facts, MemberFact, Voter};
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::leave::{Doing, Happened, Waiting};
use crate::words::turn::Ended;
use palladion_api::labels;
use palladion_api::service::ServiceTurn;
use palladion_api::service_member::ServiceIntentKind;
use palladion_plan::members::leave::{self, End};
use palladion_plan::proof::ProofKind;
use palladion_plan::{Event, Step};
use serde_json::json;

/// Go on with the turn.
pub fn advance(facts: &Facts<'_>, valid: &Valid, turn: &ServiceTurn, draft: &mut Draft) {
    let Some(member) = facts.members.get(&turn.member).filter(|m| m.object.is_some()) else {
        return lock::release(facts, turn, Ended::MemberGone, draft);
    };
    if member.is_gone() {
        return stop(facts, turn, member, draft);
    }
    let question = question(facts, member);
    // And what was lost before it, in whose place it had come.
    let mut remove = member.lost_ids();
    remove.extend(member.server_id().filter(|id| !member.lost_ids().contains(id)));
    let goal = Goal { add: Vec::new(), remove };
    let kind = match member.is_lost() {
        true => ProofKind::Dead,
        false => ProofKind::AllWell,
    };
    let is_out = facts.configuration().is_some_and(|c| goal.is_met(&c));
    if !is_out && member.ordinal < valid.size && !change::is_ordered(facts, turn) {
        return lock::release(facts, turn, Ended::NotWanted, draft);
    }
    if !is_out {
        let _ = change::bring(facts, turn, &question, kind, &goal, draft);
        return;
    }
    // Somebody has reported a configuration without it: do all have that one?
    match evidence::prove(facts, turn, &question, ProofKind::Gone, draft) {
        Some(agreed) if goal.is_met(&agreed.configuration) => {
            draft.steps.extend(record(facts, turn, member, &agreed));
        }
        Some(_) => {
            let _ = evidence::renew(facts, turn, &question, draft);
        }
        None => {}
    }
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

/// It is out. Nothing else begins before its server has stopped and its agent has noted on the
/// volume that it has left, or its pod is gone; of a lost one that is not awaited for ever.
fn stop(facts: &Facts<'_>, turn: &ServiceTurn, member: &MemberFact, draft: &mut Draft) {
    let until = match leave::end(facts, turn, member) {
        End::Over => return draft.steps.push(lock::finish(facts, turn, None)),
        End::AwaitedUntil(until) => Some(until),
        End::Awaited => None,
    };
    let (name, server) = (member.name.clone(), member.server_words());
    draft.wait_for(Waiting::Stopping { member: name, server }).about(member.subject()).until =
        until;
}
