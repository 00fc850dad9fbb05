//! Joins, one at a time: who is next, what must be so before, and what becomes
//! of a try.

use super::evidence::{self, Verdict};
use super::{Draft, debts, given_up, grant, replicas, returning, stopping, turn, versions};
use crate::facts::{Facts, MemberFact};
use crate::status::{pod_words, server_words};
use crate::validate::Valid;
use jiff::{SignedDuration, Timestamp};
use palladion_api::cluster::{Founding, Replaced, Turn, TurnStep};
use palladion_api::member::{DataBeforeStart, PermitKind, PermitState, VolumeState};
use palladion_api::reasons::Reason;

/// Tries per pod before the turn is released for others.
const TRIES: u32 = 3;
/// Cassandra keeps a failed joiner in gossip for up to two ring delays of 30 s
/// and a quarantine as long again; an earlier try meets its own ghost.
const JOIN_RETRY: SignedDuration = SignedDuration::from_secs(120);
/// A founder has no ring that remembers it.
const FOUND_RETRY: SignedDuration = SignedDuration::from_secs(10);
/// Gossip settles within seconds; then the question is put again.
const ASK_AGAIN: SignedDuration = SignedDuration::from_secs(5);

/// The next member that should join, if the ring allows it. True = something
/// is being done or waited for that the rest must not overtake.
pub fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> bool {
    let Some(member) = candidate(facts, valid, draft) else {
        return false;
    };
    if let Err(why) = evidence::ring_is_quiet(facts) {
        draft.wait(
            Reason::WaitingForRing,
            format!("member {} waits to join: {why}", member.name),
        );
        return true;
    }
    let earliest = grace_ends(facts, valid);
    if let Some(earliest) = earliest.filter(|t| *t > facts.now()) {
        draft.wait_until(
            Reason::WaitingForGrace,
            format!("member {} waits to join until {earliest}", member.name),
            earliest,
        );
        return true;
    }
    let Some(volume) = member.volume() else {
        return false;
    };
    let turn = turn::new(facts, &member.name, &volume.volume_id, TurnStep::Join, 1);
    draft.steps.push(turn::claim(
        facts,
        Some(&turn),
        None,
        format!("give member {} the turn to join", member.name),
        None,
    ));
    true
}

fn grace_ends(facts: &Facts<'_>, valid: &Valid) -> Option<Timestamp> {
    let last = facts.status.last_start_time.as_ref()?.0;
    Some(last + SignedDuration::from_secs(i64::from(valid.bootstrap_grace_seconds)))
}

/// First in order with an agent that speaks and a volume that has not joined.
fn candidate<'a>(facts: &'a Facts<'_>, valid: &Valid, draft: &mut Draft) -> Option<&'a MemberFact> {
    for (_, name) in replicas::in_order(facts, valid) {
        let Some(member) = facts.members.get(&name) else {
            continue;
        };
        let has_a_past = member.recorded_host_id().is_some() || given_up::of(member).is_some();
        if member.is_gone() || has_a_past || !is_wanted(valid, member) {
            continue;
        }
        let Some(volume) = member.volume() else {
            draft.wait(
                Reason::WaitingForPod,
                format!("member {name} waits to join: {}", pod_words(member)),
            );
            continue;
        };
        if !matches!(
            volume.state,
            VolumeState::Empty | VolumeState::Incomplete | VolumeState::Left
        ) {
            continue; // Reported by status with its own reason.
        }
        if has_failed_for_good(member) {
            draft.trouble(Reason::JoinFailed, failure_words(member));
            continue;
        }
        return Some(member);
    }
    None
}

/// Is the member within its rack's target?
pub fn is_wanted(valid: &Valid, member: &MemberFact) -> bool {
    valid
        .racks
        .iter()
        .any(|r| r.name == member.rack && member.ordinal < r.members)
}

/// A permit that is in use although no turn is on record (the status was
/// lost): the turn is taken up again under the same nonce.
pub fn adopt_permit(facts: &Facts<'_>, draft: &mut Draft) -> bool {
    for member in facts.members.values() {
        let Some(start) = member.spec.as_ref().and_then(|s| s.start.as_ref()) else {
            continue;
        };
        let for_this_pod = member.pod.as_ref().is_some_and(|p| p.uid == start.pod_uid);
        let state = member
            .status
            .permit
            .as_ref()
            .filter(|p| p.nonce == start.nonce)
            .map(|p| p.state);
        let open = matches!(state, None | Some(PermitState::Used | PermitState::Done));
        if !for_this_pod || !open {
            continue;
        }
        let step = match start.kind {
            PermitKind::Found => TurnStep::Found,
            PermitKind::Join => TurnStep::Join,
            PermitKind::Replace => TurnStep::Replace,
            PermitKind::ResumeLeave => continue,
        };
        let mut turn = turn::new(facts, &member.name, &start.volume_id, step, start.attempt);
        turn.nonce.clone_from(&start.nonce);
        let replaced = start.host_id.clone().zip(start.replace_address.clone());
        turn.replaces = replaced.map(|(host_id, address)| Replaced { host_id, address });
        let founding = (step == TurnStep::Found).then(|| Founding {
            member: member.name.clone(),
            volume_id: start.volume_id.clone(),
            nonce: start.nonce.clone(),
            host_id: None,
        });
        draft.steps.push(turn::claim(
            facts,
            Some(&turn),
            founding.as_ref(),
            format!("take up the turn of member {} again", member.name),
            None,
        ));
        return true;
    }
    false
}

/// Go on with a Found or Join turn.
pub fn advance(facts: &Facts<'_>, valid: &Valid, turn: &Turn, draft: &mut Draft) {
    let Some(member) = facts.members.get(&turn.member) else {
        return release(facts, turn, "the member is gone", draft);
    };
    let granted = member
        .spec
        .as_ref()
        .and_then(|s| s.start.as_ref())
        .filter(|s| s.nonce == turn.nonce);
    let answer = member
        .status
        .permit
        .as_ref()
        .filter(|p| p.nonce == turn.nonce);
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
                    draft.wait(
                        reason,
                        format!("member {}: {}", member.name, server_words(member)),
                    );
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
        return grant::permit(
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
            format!(
                "member {} waits to join: no member of the ring is up",
                member.name
            ),
        );
        return;
    }
    if let Some(proof) = returning::proof(facts, &witnesses, &turn.nonce, member) {
        let data = DataBeforeStart::Keep;
        return grant::permit_with(facts, valid, turn, member, data, &proof, draft);
    }
    match evidence::verdict(facts, &witnesses, &turn.nonce, &[]) {
        Verdict::Good(proof) => grant::permit(facts, valid, turn, member, &proof, draft),
        Verdict::Waiting(names) => {
            evidence::ask(
                facts,
                &witnesses,
                &turn.nonce,
                &turn::fence(facts, turn),
                draft,
            );
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
            format!(
                "member {} is a full member; its host ID is being recorded",
                member.name
            ),
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
            next.volume()
                .map(|v| turn::new(facts, &next.name, &v.volume_id, TurnStep::Join, 1))
        });
    debts::after_join(facts, valid, &member.name, draft);
    let doing = match &next {
        Some(next) => format!(
            "pass the turn from member {} to member {}",
            turn.member, next.member
        ),
        None => format!("end the turn of member {}", turn.member),
    };
    draft.steps.push(turn::claim(
        facts,
        next.as_ref(),
        founding.as_ref(),
        doing,
        None,
    ));
}

fn retry(facts: &Facts<'_>, turn: &Turn, member: &MemberFact, draft: &mut Draft) {
    if turn.attempt >= TRIES {
        return release(facts, turn, &failure_words(member), draft);
    }
    let delay = if turn.step == TurnStep::Found {
        FOUND_RETRY
    } else {
        JOIN_RETRY
    };
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
    let next = turn::new(
        facts,
        &turn.member,
        &turn.volume_id,
        turn.step,
        turn.attempt + 1,
    );
    let founding = facts
        .status
        .founding
        .clone()
        .filter(|_| turn.step == TurnStep::Found);
    draft.steps.push(turn::claim(
        facts,
        Some(&next),
        founding.as_ref(),
        format!("let member {} try again", turn.member),
        None,
    ));
}

fn release(facts: &Facts<'_>, turn: &Turn, why: &str, draft: &mut Draft) {
    draft.steps.push(turn::claim(
        facts,
        None,
        None,
        format!("end the turn of member {}: {why}", turn.member),
        None,
    ));
}

/// Has this pod used up its tries, or has its agent refused? A new pod (or a
/// new spec) tries again.
pub fn has_failed_for_good(member: &MemberFact) -> bool {
    let Some(start) = member.spec.as_ref().and_then(|s| s.start.as_ref()) else {
        return false;
    };
    let of_this_pod = member.pod.as_ref().is_some_and(|p| p.uid == start.pod_uid);
    let answer = member
        .status
        .permit
        .as_ref()
        .filter(|p| p.nonce == start.nonce);
    of_this_pod
        && match answer.map(|p| p.state) {
            Some(PermitState::Failed) => start.attempt >= TRIES,
            Some(PermitState::Refused) => true,
            None | Some(PermitState::Used | PermitState::Done | PermitState::Withdrawn) => false,
        }
}

/// What kind of failure the agent says it was.
pub fn failure_reason(member: &MemberFact) -> Reason {
    let reported = member
        .status
        .server
        .as_ref()
        .and_then(|s| s.reason.as_deref());
    let told = [Reason::ConfigurationRefused, Reason::NotEnoughMemory];
    told.into_iter()
        .find(|reason| Some(reason.as_str()) == reported)
        .unwrap_or(Reason::ServerFailed)
}

/// The last failure of a member, in the server's own words.
pub fn failure_words(member: &MemberFact) -> String {
    let record = member.status.start_history.first();
    let words = member
        .status
        .server
        .as_ref()
        .and_then(|s| s.message.clone())
        .or_else(|| record.and_then(|r| r.message.clone()))
        .unwrap_or_else(|| "no last words".into());
    let code = record
        .and_then(|r| r.exit_code)
        .map(|c| format!(" (exit code {c})"))
        .unwrap_or_default();
    format!("member {} could not start{code}: {words}", member.name)
}
