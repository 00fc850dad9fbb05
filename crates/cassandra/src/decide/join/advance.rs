//! Joins, one at a time: from the turn to the permit, and what becomes of a
//! try.

use super::next::{candidate, grace_ends};
use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Verdict};
use crate::decide::join::returning;
use crate::decide::maintenance::debts;
use crate::decide::restart::versions;
use crate::decide::turn::failed_start::{TRIES, failure_reason, failure_words};
use crate::decide::turn::{lock, permit, stopping};
use crate::facts::words::{pod_words, server_words};
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use jiff::SignedDuration;
use palladion_api::cluster::{Founding, Turn, TurnStep};
use palladion_api::member::{DataBeforeStart, PermitState};
use palladion_api::reasons::Reason;

/// Cassandra keeps a failed joiner in gossip for up to two ring delays of 30 s
/// and a quarantine as long again; an earlier try meets its own ghost.
const JOIN_RETRY: SignedDuration = SignedDuration::from_secs(120);
/// A founder has no ring that remembers it.
const FOUND_RETRY: SignedDuration = SignedDuration::from_secs(10);
/// Gossip settles within seconds; then the question is put again.
const ASK_AGAIN: SignedDuration = SignedDuration::from_secs(5);

/// Go on with a Found or Join turn.
pub fn advance(facts: &Facts<'_>, valid: &Valid, turn: &Turn, draft: &mut Draft) {
    let Some(member) = facts.members.get(&turn.member) else {
        return release(facts, turn, "the member is gone", draft);
    };
    let granted =
        member.spec.as_ref().and_then(|s| s.start.as_ref()).filter(|s| s.nonce == turn.nonce);
    let answer = member.status.permit.as_ref().filter(|p| p.nonce == turn.nonce);
    if answer.is_some_and(|p| p.state == PermitState::Done) {
        return finish(facts, valid, turn, member, draft);
    }
    match granted {
        None => before_permit(facts, valid, turn, member, draft),
        Some(start) => {
            // The pod list is known (facts would not be): its end is confirmed.
            if member.pod.as_ref().is_none_or(|p| p.uid != start.pod_uid) {
                return release(facts, turn, "the pod that it was for has ended", draft);
            }
            match answer.map(|p| p.state) {
                None | Some(PermitState::Used | PermitState::Done) => {
                    let reason = if turn.step == TurnStep::Found {
                        Reason::Founding
                    } else {
                        Reason::Joining
                    };
                    draft.wait(reason, format!("member {}: {}", member.name, server_words(member)));
                }
                Some(PermitState::Failed) => retry(facts, turn, member, draft),
                Some(PermitState::Refused | PermitState::Withdrawn) => {
                    let why = answer.and_then(|p| p.message.clone()).unwrap_or_default();
                    release(facts, turn, &format!("the agent refused: {why}"), draft);
                }
            }
        }
    }
}

fn before_permit(
    facts: &Facts<'_>,
    valid: &Valid,
    turn: &Turn,
    member: &MemberFact,
    draft: &mut Draft,
) {
    let Some(volume) = member.volume() else {
        draft.wait(
            Reason::WaitingForPod,
            format!("member {} has the turn: {}", member.name, pod_words(member)),
        );
        return;
    };
    if volume.volume_id != turn.volume_id {
        return release(facts, turn, "its volume is another one now", draft);
    }
    if turn.step == TurnStep::Found {
        return permit::give(
            facts,
            valid,
            turn,
            member,
            "first member of a new ring; every volume was reported empty",
            draft,
        );
    }
    let witnesses = evidence::witnesses(facts, &member.name);
    if witnesses.is_empty() {
        draft.wait(
            Reason::WaitingForRing,
            format!("member {} waits to join: no member of the ring is up", member.name),
        );
        return;
    }
    if let Some(proof) = returning::proof(facts, &witnesses, &turn.nonce, member) {
        let data = DataBeforeStart::Keep;
        return permit::give_with(facts, valid, turn, member, data, &proof, draft);
    }
    match evidence::verdict(facts, &witnesses, &turn.nonce, &[]) {
        Verdict::Good(proof) => permit::give(facts, valid, turn, member, &proof, draft),
        Verdict::Waiting(names) => {
            evidence::ask(facts, &witnesses, &turn.nonce, &facts.fence(turn), draft);
            draft.wait_until(
                Reason::WaitingForEvidence,
                format!(
                    "member {} waits to join: {} should tell how they see the ring",
                    member.name,
                    names.join(", ")
                ),
                evidence::void_from(turn),
            );
        }
        Verdict::Bad { why, read_at } => {
            let again = read_at + ASK_AGAIN;
            if facts.now() < again {
                draft.wait_until(
                    Reason::WaitingForRing,
                    format!("member {} waits to join: {why}", member.name),
                    again,
                );
            } else {
                release(facts, turn, &why, draft);
            }
        }
    }
}

fn finish(facts: &Facts<'_>, valid: &Valid, turn: &Turn, member: &MemberFact, draft: &mut Draft) {
    let recorded = member.spec.as_ref().and_then(|s| s.host_id.clone());
    let Some(host_id) = recorded else {
        draft.wait(
            Reason::Joining,
            format!("member {} is a full member; its host ID is being recorded", member.name),
        );
        return;
    };
    let founding = (turn.step == TurnStep::Found).then(|| Founding {
        member: member.name.clone(),
        volume_id: turn.volume_id.clone(),
        nonce: turn.nonce.clone(),
        host_id: Some(host_id),
    });
    // Pass the turn on in the same write where the next one may start at once.
    let mut probe = Draft::default();
    let next = candidate(facts, valid, &mut probe)
        .filter(|_| evidence::ring_is_quiet(facts).is_ok())
        .filter(|_| !stopping::is_wanted(facts) && versions::mixed(facts, valid).is_none())
        .filter(|_| grace_ends(facts, valid).is_none_or(|t| t <= facts.now()))
        .and_then(|next| {
            next.volume().map(|v| lock::new(facts, &next.name, &v.volume_id, TurnStep::Join, 1))
        });
    debts::after_join(facts, valid, &member.name, draft);
    let doing = match &next {
        Some(next) => {
            format!("pass the turn from member {} to member {}", turn.member, next.member)
        }
        None => format!("end the turn of member {}", turn.member),
    };
    draft.steps.push(lock::claim(facts, next.as_ref(), founding.as_ref(), doing, None));
}

fn retry(facts: &Facts<'_>, turn: &Turn, member: &MemberFact, draft: &mut Draft) {
    if turn.attempt >= TRIES {
        return release(facts, turn, &failure_words(member), draft);
    }
    let delay = if turn.step == TurnStep::Found { FOUND_RETRY } else { JOIN_RETRY };
    let ended = member
        .status
        .start_history
        .first()
        .and_then(|s| s.ended_at.as_ref())
        .map_or(turn.since.0, |t| t.0);
    let again = ended + delay;
    draft.trouble(failure_reason(member), failure_words(member));
    if facts.now() < again {
        draft.wait_until(
            Reason::Joining,
            format!("member {} tries again at {again}", member.name),
            again,
        );
        return;
    }
    let next = lock::new(facts, &turn.member, &turn.volume_id, turn.step, turn.attempt + 1);
    let founding = facts.status.founding.clone().filter(|_| turn.step == TurnStep::Found);
    draft.steps.push(lock::claim(
        facts,
        Some(&next),
        founding.as_ref(),
        format!("let member {} try again", turn.member),
        None,
    ));
}

fn release(facts: &Facts<'_>, turn: &Turn, why: &str, draft: &mut Draft) {
    draft.steps.push(lock::claim(
        facts,
        None,
        None,
        format!("end the turn of member {}: {why}", turn.member),
        None,
    ));
}
