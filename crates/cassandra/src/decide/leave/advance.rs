//! Scale-down: a member leaves by recorded intent, the rest of the ring proves
//! that it is gone, and only then does its pod go. The claim is kept.

use super::next::{candidate, last_answer, refused_by_disk};
use super::steps::{end, renew, terminate, withdraw};
use crate::decide::draft::{Draft, synced};
use crate::decide::evidence::absence::{self, Gone, Voters};
use crate::decide::evidence::{self, Verdict, marks};
use crate::decide::leave::refused;
use crate::decide::turn::lock;
use crate::facts::leaver::is_interrupted;
use crate::facts::words::server_words;
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::validate::Valid;
use jiff::SignedDuration;
use palladion_api::cluster::{Turn, TurnStep};
use palladion_api::ids::Nonce;
use palladion_api::member::{IntentKind, IntentState};
use palladion_api::reasons::Reason;
use palladion_plan::{ObjectKey, Precondition, Step, Subresource};
use serde_json::json;

/// Gossip settles within seconds; then the question is put again.
const ASK_AGAIN: SignedDuration = SignedDuration::from_secs(5);

/// Go on with a Leave turn.
pub fn advance(facts: &Facts<'_>, valid: &Valid, turn: &Turn, draft: &mut Draft) {
    let Some(member) = facts.members.get(&turn.member) else {
        return end(facts, turn, "the member is gone", None, draft);
    };
    if member.is_gone() {
        let event =
            synced(format!("Rack {} scaled down to {} members", member.rack, member.ordinal));
        return end(facts, turn, "it has left", event, draft);
    }
    if marks::of(member).is_some() {
        // It will never go on with it; the others remove it instead.
        draft.steps.push(withdraw(valid, member));
        return end(facts, turn, "its volume is given up", None, draft);
    }
    let intent =
        member.spec.as_ref().and_then(|s| s.intent.as_ref()).filter(|i| i.nonce == turn.nonce);
    let answer = member.status.intent.as_ref().filter(|i| i.nonce == turn.nonce);
    match (intent, answer.map(|a| a.state)) {
        (None, _) => before_intent(facts, valid, turn, member, draft),
        (Some(_), Some(IntentState::Failed)) if is_interrupted(member) => {
            draft.steps.push(withdraw(valid, member));
            end(facts, turn, "its server ended before it had left", None, draft);
        }
        (Some(_), Some(IntentState::Failed | IntentState::Refused)) => {
            let why = answer.and_then(|a| a.message.clone()).unwrap_or_default();
            draft.trouble(
                Reason::LeaveRefused,
                format!("member {} could not leave: {why}", member.name),
            );
            draft.steps.push(withdraw(valid, member));
            end(facts, turn, &format!("it could not leave: {why}"), None, draft);
        }
        (Some(_), Some(IntentState::Done)) => prove_gone(facts, valid, turn, member, draft),
        (Some(_), None | Some(IntentState::Running)) => {
            draft.wait(
                Reason::MemberLeaving,
                format!("member {} leaves the ring: {}", member.name, server_words(member)),
            );
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
    let still_wanted = candidate(facts, valid).is_none_or(|(_, m)| m.name != member.name);
    if still_wanted {
        return end(facts, turn, "the spec wants it again", None, draft);
    }
    let (Some(object), Some(host_id)) = (&member.object, member.recorded_host_id()) else {
        return;
    };
    // All are asked: who receives the data must have room for it.
    let mut witnesses = evidence::others(facts, &member.name);
    witnesses.push(member);
    let verdict = evidence::verdict(facts, &witnesses, &turn.nonce, &[]);
    let no_room =
        refused::by_disk(facts, member, |m| last_answer(m).filter(|e| e.nonce == turn.nonce));
    if let (Verdict::Good(_), Some((why, read_at))) = (&verdict, no_room) {
        refused_by_disk(member, &why, read_at, draft);
        return end(facts, turn, &why, None, draft);
    }
    match verdict {
        Verdict::Good(_) => draft.steps.push(Step::Patch {
            key: ObjectKey::new(kinds::MEMBER, &valid.namespace, &member.name),
            patch: json!({ "spec": { "intent": {
                "kind": IntentKind::Decommission,
                "nonce": turn.nonce,
                "hostID": host_id,
                "volumeID": turn.volume_id,
            }}}),
            subresource: Subresource::None,
            precondition: Precondition::Version {
                uid: object.meta.uid.clone(),
                resource_version: object.meta.resource_version.clone(),
            },
            fence: Some(facts.fence(turn)),
            doing: format!("let member {} leave", member.name),
            event: synced(format!("Member {} leaves the ring", member.name)),
        }),
        Verdict::Waiting(names) => {
            evidence::ask(facts, &witnesses, &turn.nonce, &facts.fence(turn), draft);
            draft.wait_until(
                Reason::WaitingForEvidence,
                format!(
                    "member {} waits to leave: {} should tell how they see the ring",
                    member.name,
                    names.join(", ")
                ),
                evidence::void_from(turn),
            );
        }
        Verdict::Bad { why, read_at } => {
            let again = read_at + ASK_AGAIN;
            draft.wait_until(
                Reason::WaitingForRing,
                format!("member {} waits to leave: {why}", member.name),
                again,
            );
            if facts.now() >= again {
                end(facts, turn, &why, None, draft);
            }
        }
    }
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
    let nonce = Nonce::new(format!("{}-gone", turn.nonce));
    let others = evidence::others(facts, &member.name);
    match absence::is_gone(facts, &others, &nonce, host_id, Voters::Majority) {
        Gone::Proven(proof) => {
            draft.steps.push(terminate(facts, valid, member, &proof, Some(turn)))
        }
        Gone::Waiting(names) => {
            evidence::ask(facts, &others, &nonce, &facts.fence(turn), draft);
            draft.wait(
                Reason::WaitingForEvidence,
                format!("member {} has left; {} should confirm it", member.name, names.join(", ")),
            );
        }
        Gone::NotYet { why, read_at } => {
            let again = read_at + ASK_AGAIN;
            draft.wait_until(
                Reason::WaitingForEvidence,
                format!("member {} has left: {why}", member.name),
                again,
            );
            if facts.now() >= again {
                // The same turn asks again under a fresh nonce.
                let mut renewed = lock::new(
                    facts,
                    &turn.member,
                    &turn.volume_id,
                    TurnStep::Leave,
                    turn.attempt + 1,
                );
                renewed.since = turn.since.clone();
                draft.steps.push(renew(valid, member, &renewed));
                draft.steps.push(lock::claim(
                    facts,
                    Some(&renewed),
                    None,
                    format!("ask again whether member {} has left", member.name),
                    None,
                ));
            }
        }
    }
}
