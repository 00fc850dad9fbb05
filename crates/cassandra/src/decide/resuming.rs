//! A leaver whose server ended in the middle. Killed while it streams it is
//! still a member and may come back to leave again; killed after the others
//! took its leave it would bootstrap itself back into the ring, so it is never
//! started: only the others can tell which (safety rules, section 2).

use super::evidence;
use super::gone::{self, Gone, Voters};
use super::{Draft, given_up, grant, leaving_steps, turn};
use crate::facts::{Facts, MemberFact};
use crate::status::server_words;
use crate::validate::Valid;
use jiff::SignedDuration;
use palladion_api::cluster::{Replaced, Turn, TurnStep};
use palladion_api::member::{IntentState, PermitKind, PermitState, ServerState, VolumeState};
use palladion_api::reasons::Reason;

/// Gossip settles within seconds; then the question is put again.
const ASK_AGAIN: SignedDuration = SignedDuration::from_secs(5);

/// Did the server of this leaver end before it had said that it has left?
pub fn is_interrupted(member: &MemberFact) -> bool {
    let status = &member.status;
    let waits = status.server.as_ref().is_some_and(|s| {
        s.state == ServerState::Waiting && is_waiting_for_permit(s.reason.as_deref())
    });
    (waits || could_not_come_back(member))
        && !member.is_gone()
        && member.volume().is_some_and(|v| v.state == VolumeState::Joined)
        && status.intent.as_ref().is_some_and(|i| i.state == IntentState::Failed)
}

/// Did it fail at its last permit to come back?
fn could_not_come_back(member: &MemberFact) -> bool {
    let start = member.spec.as_ref().and_then(|s| s.start.as_ref());
    let failed = |nonce: &str| {
        let answer = member.status.permit.as_ref();
        answer.is_some_and(|p| p.nonce == nonce && p.state == PermitState::Failed)
    };
    let state = member.status.server.as_ref().map(|s| s.state);
    state == Some(ServerState::Failed)
        && start.is_some_and(|s| s.kind == PermitKind::ResumeLeave && failed(&s.nonce))
}

/// Starts that this pod may fail at; then a new pod or a new spec tries again.
const TRIES: usize = 3;

fn has_failed_for_good(member: &MemberFact) -> bool {
    let start = member.spec.as_ref().and_then(|s| s.start.as_ref());
    let pod = member.pod.as_ref();
    let of_this_pod = pod.is_some_and(|p| start.is_some_and(|s| s.pod_uid == p.uid));
    let failed = member.status.start_history.iter();
    let failed = failed.take_while(|s| s.cause == "ResumeLeave" && s.normal_at.is_none());
    of_this_pod && could_not_come_back(member) && failed.count() >= TRIES
}

fn is_waiting_for_permit(reason: Option<&str>) -> bool {
    reason == Some(Reason::WaitingForPermit.as_str())
}

/// The first leaver that was interrupted gets the turn before anybody else:
/// the ring is not whole while it is away. True = something is being done.
pub fn next(facts: &Facts<'_>, draft: &mut Draft) -> bool {
    let mut members = facts.members.values();
    let waits =
        |m: &&MemberFact| is_interrupted(m) && given_up::of(m).is_none() && !has_failed_for_good(m);
    let Some(member) = members.find(waits) else {
        return false;
    };
    let Some(volume) = member.volume() else {
        return false;
    };
    let turn = turn::new(facts, &member.name, &volume.volume_id, TurnStep::ResumeLeave, 1);
    draft.steps.push(turn::claim(
        facts,
        Some(&turn),
        None,
        format!("find out whether member {} has left", member.name),
        None,
    ));
    true
}

/// Go on with a ResumeLeave turn.
pub fn advance(facts: &Facts<'_>, valid: &Valid, turn: &Turn, draft: &mut Draft) {
    let Some(member) = facts.members.get(&turn.member) else {
        return leaving_steps::end(facts, turn, "the member is gone", None, draft);
    };
    if member.is_gone() {
        return leaving_steps::end(facts, turn, "it has left", None, draft);
    }
    if given_up::of(member).is_some() {
        return leaving_steps::end(facts, turn, "its volume is given up", None, draft);
    }
    let granted =
        member.spec.as_ref().and_then(|s| s.start.as_ref()).filter(|s| s.nonce == turn.nonce);
    let answer = member.status.permit.as_ref().filter(|p| p.nonce == turn.nonce);
    match (granted, answer.map(|a| a.state)) {
        (_, Some(PermitState::Done)) => {
            leaving_steps::end(
                facts,
                turn,
                "it came back, and leaves again from there",
                None,
                draft,
            );
        }
        (Some(_), Some(PermitState::Failed | PermitState::Refused | PermitState::Withdrawn)) => {
            let why = answer.and_then(|a| a.message.clone()).unwrap_or_default();
            if let Some(removal) = removal(facts, turn, member, &why) {
                draft.steps.push(removal);
                return;
            }
            leaving_steps::end(facts, turn, &format!("it could not come back: {why}"), None, draft);
        }
        (Some(start), None | Some(PermitState::Used)) => {
            if member.pod.as_ref().is_none_or(|p| p.uid != start.pod_uid) {
                return leaving_steps::end(
                    facts,
                    turn,
                    "the pod that it was for has ended",
                    None,
                    draft,
                );
            }
            draft.wait(
                Reason::MemberLeaving,
                format!(
                    "member {} comes back to leave again: {}",
                    member.name,
                    server_words(member)
                ),
            );
        }
        (None, _) if !is_interrupted(member) => {
            leaving_steps::end(facts, turn, "it does not wait for it any more", None, draft);
        }
        (None, _) => find_out(facts, valid, turn, member, draft),
    }
}

/// What the server says when the ring has its address under another identity:
/// it will say so at every start.
const COLLISION: &str = "already exists";

/// The ring will not take it back to leave again: the others remove it.
fn removal(
    facts: &Facts<'_>,
    turn: &Turn,
    member: &MemberFact,
    why: &str,
) -> Option<palladion_plan::Step> {
    let spec = member.spec.as_ref().filter(|_| why.contains(COLLISION))?;
    let mut removal = turn::new(facts, &turn.member, &turn.volume_id, TurnStep::Remove, 1);
    removal.replaces = Some(Replaced {
        host_id: member.recorded_host_id()?.to_string(),
        address: spec.address.clone()?,
    });
    Some(turn::claim(
        facts,
        Some(&removal),
        None,
        format!("let the others remove member {}: {why}", turn.member),
        super::synced(format!(
            "Member {} cannot come back to leave; the others remove it from the ring",
            turn.member
        )),
    ))
}

fn find_out(facts: &Facts<'_>, valid: &Valid, turn: &Turn, member: &MemberFact, draft: &mut Draft) {
    let Some(host_id) = member.recorded_host_id() else {
        return leaving_steps::end(facts, turn, "its host ID is not recorded", None, draft);
    };
    let others = evidence::others(facts, &member.name);
    match gone::is_gone(facts, &others, &turn.nonce, host_id, Voters::Majority) {
        Gone::Proven(proof) => {
            draft.steps.push(leaving_steps::terminate(facts, valid, member, &proof, Some(turn)));
        }
        Gone::Waiting(names) => {
            evidence::ask(facts, &others, &turn.nonce, &turn::fence(facts, turn), draft);
            draft.wait(
                Reason::WaitingForEvidence,
                format!(
                    "the server of member {} ended while it was leaving; {} should tell whether it has left",
                    member.name,
                    names.join(", ")
                ),
            );
        }
        Gone::NotYet { why, read_at } => match gone::all_see_down(&others, &turn.nonce, host_id) {
            Some(proof) => grant::permit(facts, valid, turn, member, &proof, draft),
            None => ask_again(facts, turn, member, &why, read_at, draft),
        },
    }
}

/// They do not agree, or too few can be asked: the same turn asks again.
fn ask_again(
    facts: &Facts<'_>,
    turn: &Turn,
    member: &MemberFact,
    why: &str,
    read_at: jiff::Timestamp,
    draft: &mut Draft,
) {
    let again = read_at + ASK_AGAIN;
    draft.wait_until(
        Reason::WaitingForEvidence,
        format!("the server of member {} ended while it was leaving: {why}", member.name),
        again,
    );
    if facts.now() < again {
        return;
    }
    let mut renewed = turn::new(facts, &turn.member, &turn.volume_id, turn.step, turn.attempt + 1);
    renewed.since = turn.since.clone();
    draft.steps.push(turn::claim(
        facts,
        Some(&renewed),
        None,
        format!("ask again whether member {} has left", member.name),
        None,
    ));
}
