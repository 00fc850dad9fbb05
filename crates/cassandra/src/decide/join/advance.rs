//! Joins, one at a time: from the turn to the permit, and what becomes of a
//! try.

use super::next::{candidate, grace_ends};
use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Purpose, Unproven, records, unnoticed};
use crate::decide::maintenance::debts;
use crate::decide::restart::versions;
use crate::decide::turn::failed_start::{self, TRIES, failure_reason, failure_words};
use crate::decide::turn::lock::{self, Since};
use crate::decide::turn::permit::{self, Course};
use crate::decide::turn::stopping;
use crate::facts::words::{pod_words, server_words};
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use jiff::SignedDuration;
use palladion_api::cluster::{Initialization, Turn, TurnStep};
use palladion_api::member::DataBeforeStart;
use palladion_api::reasons::Reason;

/// Cassandra keeps a failed joiner in gossip for up to two ring delays of 30 s
/// and a quarantine as long again; an earlier try meets its own ghost.
const JOIN_RETRY: SignedDuration = SignedDuration::from_secs(120);
/// A founder has no ring that remembers it.
const INITIALIZE_RETRY: SignedDuration = SignedDuration::from_secs(10);

/// Go on with a Found or Join turn.
pub fn advance(facts: &Facts<'_>, valid: &Valid, turn: &Turn, draft: &mut Draft) {
    let Some(member) = facts.members.get(&turn.member) else {
        return release(facts, turn, "the member is gone", draft);
    };
    match permit::course(turn, member) {
        Course::NotGiven => before_permit(facts, valid, turn, member, draft),
        Course::PodEnded => {
            // It may have joined before its pod ended: it has ranges of the others then.
            if member.recorded_host_id().is_some() {
                debts::after_join(facts, &member.name, draft);
            }
            release(facts, turn, "the pod that it was for has ended", draft);
        }
        Course::Open => {
            let reason = match turn.step == TurnStep::Initialize {
                true => Reason::Initializing,
                false => Reason::Joining,
            };
            draft.wait(reason, format!("member {}: {}", member.name, server_words(member)));
        }
        Course::Done => finish(facts, valid, turn, member, draft),
        Course::Failed => retry(facts, turn, member, draft),
        Course::Refused(why) => {
            release(facts, turn, &format!("the agent refused: {why}"), draft);
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
    if turn.step == TurnStep::Initialize {
        return match records::is_first(facts, turn, member) {
            Some(proof) => permit::give(facts, valid, turn, member, &proof, draft),
            None => release(facts, turn, "the ring is founded on another volume", draft),
        };
    }
    if let Some(proof) = unnoticed::is_full_member(facts, turn, member) {
        let data = DataBeforeStart::Keep;
        return permit::give_with(facts, valid, turn, member, data, &proof, draft);
    }
    match evidence::prove(facts, turn, member, &Purpose::Join, draft) {
        Ok(proof) => permit::give(facts, valid, turn, member, &proof, draft),
        Err(Unproven::Waiting) => {}
        Err(Unproven::AskAgain(why)) => release(facts, turn, &why.to_string(), draft),
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
    let founding = (turn.step == TurnStep::Initialize).then(|| Initialization {
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
    debts::after_join(facts, &member.name, draft);
    let step = match &next {
        Some(next) => {
            let doing =
                format!("pass the turn from member {} to member {}", turn.member, next.member);
            lock::pass(facts, next, doing, None)
        }
        None => lock::finish(facts, turn, None),
    };
    draft.steps.push(match &founding {
        Some(founding) => lock::record_initialization(step, founding),
        None => step,
    });
}

fn retry(facts: &Facts<'_>, turn: &Turn, member: &MemberFact, draft: &mut Draft) {
    if turn.attempt >= TRIES {
        return release(facts, turn, &failure_words(member), draft);
    }
    let delay = if turn.step == TurnStep::Initialize { INITIALIZE_RETRY } else { JOIN_RETRY };
    let again = failed_start::last_end(turn, member) + delay;
    draft.trouble(failure_reason(member), failure_words(member));
    if facts.now() < again {
        draft.wait_until(
            Reason::Joining,
            format!("member {} tries again at {again}", member.name),
            again,
        );
        return;
    }
    let next = lock::again(facts, turn, Since::Now);
    draft.steps.push(lock::renew(facts, &next, format!("let member {} try again", turn.member)));
}

fn release(facts: &Facts<'_>, turn: &Turn, why: &str, draft: &mut Draft) {
    draft.steps.push(lock::end(facts, turn, why, None));
}
