//! The turn of a member whose data is lost: proven dead by the others, on a new
//! volume and under a new address, so that writes reach it while it streams.

use crate::decide::draft::{Draft, synced};
use crate::decide::evidence::absence::{self, Gone};
use crate::decide::evidence::{self, Verdict, marks};
use crate::decide::replace::{lost, new_address, quarantine, room};
use crate::decide::turn::{failed_start, lock, permit};
use crate::facts::words::{pod_words, server_words};
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use jiff::{SignedDuration, Timestamp};
use palladion_api::cluster::{Turn, TurnStep};
use palladion_api::member::PermitState;
use palladion_api::reasons::Reason;
use serde_json::json;

/// Gossip settles within seconds; then the question is put again.
const ASK_AGAIN: SignedDuration = SignedDuration::from_secs(5);
/// A failed replacement is remembered by gossip; the next try waits for that to pass.
const REPLACE_RETRY: SignedDuration = SignedDuration::from_secs(120);
/// Tries before a person is asked.
const TRIES: u32 = 3;

/// Go on with a Replace turn.
pub fn advance(facts: &Facts<'_>, valid: &Valid, turn: &Turn, draft: &mut Draft) {
    let (Some(member), Some(replaced)) = (facts.members.get(&turn.member), &turn.replaces) else {
        return end(facts, turn, "the member is gone", draft);
    };
    let permit = member.status.permit.as_ref().filter(|p| p.nonce == turn.nonce);
    if permit.is_some_and(|p| p.state == PermitState::Done) {
        let recorded = member.spec.as_ref().and_then(|s| s.host_id.as_ref());
        if recorded.is_some_and(|id| *id != replaced.host_id) {
            if marks::of(member).is_some() {
                draft.steps.extend(marks::withdraw(valid, member, "it was replaced", None));
            }
            return end(facts, turn, "it was replaced", draft);
        }
        return draft.wait(
            Reason::MemberReplacing,
            format!("member {} was replaced; its host ID is being recorded", member.name),
        );
    }
    let granted =
        member.spec.as_ref().and_then(|s| s.start.as_ref()).filter(|s| s.nonce == turn.nonce);
    let Some(start) = granted else {
        return before_permit(facts, valid, turn, member, replaced, draft);
    };
    if member.pod.as_ref().is_none_or(|p| p.uid != start.pod_uid) {
        return end(facts, turn, "the pod that it was for has ended", draft);
    }
    match permit.map(|p| p.state) {
        None | Some(PermitState::Used | PermitState::Done) => {
            draft.wait(
                Reason::MemberReplacing,
                format!(
                    "member {} streams the data of {}: {}",
                    member.name,
                    replaced.address,
                    server_words(member)
                ),
            );
        }
        Some(PermitState::Failed) => retry(facts, turn, member, draft),
        Some(PermitState::Refused | PermitState::Withdrawn) => {
            let why = permit.and_then(|p| p.message.clone()).unwrap_or_default();
            end(facts, turn, &format!("the agent refused: {why}"), draft);
        }
    }
}

fn before_permit(
    facts: &Facts<'_>,
    valid: &Valid,
    turn: &Turn,
    member: &MemberFact,
    replaced: &palladion_api::cluster::Replaced,
    draft: &mut Draft,
) {
    let nonce = &turn.nonce;
    // Whoever gave the volume up may have taken that back since.
    if lost::lost(member).is_none() {
        let why = "nothing says any more that its data is lost";
        return not_yet(facts, turn, member, why, turn.since.0, draft);
    }
    let others = evidence::others(facts, &member.name);
    let proof =
        match absence::is_dead(facts, &others, nonce, &replaced.host_id, absence::voters(member)) {
            Gone::Proven(proof) => proof,
            Gone::Waiting(names) => {
                evidence::ask(facts, &others, nonce, &facts.fence(turn), draft);
                return draft.wait_until(
                    Reason::WaitingForEvidence,
                    format!(
                        "member {} waits to be replaced: {} should confirm that it is dead",
                        member.name,
                        names.join(", ")
                    ),
                    evidence::void_from(turn),
                );
            }
            Gone::NotYet { why, read_at } => {
                return not_yet(facts, turn, member, &why, read_at, draft);
            }
        };
    // The dead one is all that this step repairs; any other absence forbids it.
    let rest = evidence::verdict(facts, &others, nonce, &marks::excused(facts, &replaced.host_id));
    if let Verdict::Bad { why, read_at } = rest {
        return not_yet(facts, turn, member, &why, read_at, draft);
    }
    let fence = facts.fence(turn);
    if room::make_room(facts, valid, member, &proof, &fence, draft) {
        return;
    }
    let address = member.spec.as_ref().and_then(|s| s.address.as_deref());
    match (address, &member.service) {
        (Some(address), _) if *address == replaced.address => {
            new_address::forget(facts, valid, turn, member, draft)
        }
        (None, Some(service)) if service.address.as_deref() == Some(replaced.address.as_str()) => {
            draft.steps.push(new_address::free(facts, valid, turn, member, &service.uid));
        }
        (None, Some(service)) => {
            if let Some(new) = service.address.clone() {
                draft.steps.push(new_address::patch(
                    facts,
                    valid,
                    turn,
                    member,
                    json!({ "address": new }),
                    "record the new address of",
                ));
                draft.steps.extend(quarantine::hold(facts, valid, member, replaced));
            }
        }
        (Some(_), _) => {
            draft.steps.extend(quarantine::hold(facts, valid, member, replaced));
            let volume = member.volume();
            if volume.is_some_and(|v| v.volume_id == turn.volume_id) {
                permit::give(facts, valid, turn, member, &proof, draft);
            } else if let Some(fresh) =
                volume.filter(|v| marks::of(member).is_some() && lost::is_fresh(member, v))
            {
                let mut on_it = turn.clone();
                on_it.volume_id.clone_from(&fresh.volume_id);
                let doing = format!("give the turn of member {} its new volume", member.name);
                draft.steps.push(lock::claim(facts, Some(&on_it), None, doing, None));
            } else {
                draft.wait(
                    Reason::MemberReplacing,
                    format!("member {} has the turn: {}", member.name, pod_words(member)),
                );
            }
        }
        (None, None) => draft
            .wait(Reason::MemberReplacing, format!("member {} gets a new address", member.name)),
    }
}

/// The answers forbid it; the question is put again soon.
fn not_yet(
    facts: &Facts<'_>,
    turn: &Turn,
    member: &MemberFact,
    why: &str,
    read_at: Timestamp,
    draft: &mut Draft,
) {
    let again = read_at + ASK_AGAIN;
    draft.wait_until(
        Reason::MemberReplacing,
        format!("member {} waits to be replaced: {why}", member.name),
        again,
    );
    if facts.now() >= again {
        end(facts, turn, why, draft);
    }
}

fn retry(facts: &Facts<'_>, turn: &Turn, member: &MemberFact, draft: &mut Draft) {
    let words = failed_start::failure_words(member);
    draft.trouble(failed_start::failure_reason(member), words);
    if turn.attempt >= TRIES {
        // Gossip remembers the failed tries; no later one gets through. The
        // way out is to remove the host ID and to join as new.
        let mut removal = lock::new(facts, &turn.member, &turn.volume_id, TurnStep::Remove, 1);
        removal.replaces.clone_from(&turn.replaces);
        let event = synced(format!(
            "Member {} could not be replaced in {TRIES} tries; the others remove it, and it joins as new",
            member.name
        ));
        let doing = format!("let the others remove member {}", turn.member);
        draft.steps.push(lock::claim(facts, Some(&removal), None, doing, event));
        return;
    }
    let ended = member
        .status
        .start_history
        .first()
        .and_then(|s| s.ended_at.as_ref())
        .map_or(turn.since.0, |t| t.0);
    let again = ended + REPLACE_RETRY;
    if facts.now() < again {
        return draft.wait_until(
            Reason::MemberReplacing,
            format!("member {} tries again at {again}", member.name),
            again,
        );
    }
    let mut next =
        lock::new(facts, &turn.member, &turn.volume_id, TurnStep::Replace, turn.attempt + 1);
    next.replaces.clone_from(&turn.replaces);
    draft.steps.push(lock::claim(
        facts,
        Some(&next),
        None,
        format!("let member {} try again", turn.member),
        None,
    ));
}

fn end(facts: &Facts<'_>, turn: &Turn, why: &str, draft: &mut Draft) {
    let event = synced(format!("Replacement of member {} ended: {why}", turn.member));
    draft.steps.push(lock::claim(
        facts,
        None,
        None,
        format!("end the turn of member {}: {why}", turn.member),
        event,
    ));
}
