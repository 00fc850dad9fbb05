//! Joins, one at a time: from the turn to the permit, and what comes of an
//! attempt.

use super::first;
use super::next::{candidate, is_asked_for};
use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Purpose, Unproven, records, unnoticed};
use crate::decide::initialize::restored;
use crate::decide::restart::versions;
use crate::decide::turn::failed_start::{self, TRIES};
use crate::decide::turn::permit::{self, Course};
use crate::decide::turn::stopping;
use crate::decide::turn::{grace, lock};
use crate::facts::words::{pod_words, server_words};
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::join::{Doing, Ended, Waiting};
use crate::words::turn;
use jiff::SignedDuration;
use palladion_api::cluster::{Initialization, RingOrigin, Turn, TurnStep};
use palladion_api::member::DataBeforeStart;
use palladion_plan::words::Sentence;

/// Cassandra keeps a failed joiner in gossip for up to two ring delays of 30 s
/// and a quarantine as long again; an earlier try meets its own ghost.
const JOIN_RETRY: SignedDuration = SignedDuration::from_secs(120);
/// Before there is a ring, nobody remembers a failed start.
const INITIALIZE_RETRY: SignedDuration = SignedDuration::from_secs(10);

/// A pod that is not there after so long has no place; nobody knows when it gets one.
const PATIENCE: SignedDuration = SignedDuration::from_mins(10);

/// Go on with an Initialize or Join turn.
pub fn advance(facts: &Facts<'_>, valid: &Valid, turn: &Turn, draft: &mut Draft) {
    let Some(member) = facts.members.get(&turn.member) else {
        return release(facts, turn, turn::Ended::MemberGone, draft);
    };
    match permit::course(turn, member) {
        Course::NotGiven => before_permit(facts, valid, turn, member, draft),
        Course::PodEnded => release(facts, turn, turn::Ended::PodGone, draft),
        Course::Open => {
            if turn.step == TurnStep::Join {
                evidence::ask_who_has_heard(facts, turn, member, draft);
            }
            let (name, server) = (member.name.clone(), server_words(member));
            let waiting = match turn.step == TurnStep::Initialize {
                true => Waiting::Initializing { member: name, server },
                false => Waiting::Joining { member: name, server },
            };
            draft.wait_for(waiting).about(member.subject());
        }
        Course::Done => finish(facts, valid, turn, member, draft),
        Course::Failed => retry(facts, turn, member, draft),
        Course::Refused(why) => release(facts, turn, Ended::AgentRefused { why }, draft),
    }
}

fn before_permit(
    facts: &Facts<'_>,
    valid: &Valid,
    turn: &Turn,
    member: &MemberFact,
    draft: &mut Draft,
) {
    let is_wanted = turn.step != TurnStep::Join || is_asked_for(facts, valid, member);
    let keeps_volume = permit::keeps_volume(turn, member);
    if keeps_volume.is_none() {
        if !is_wanted {
            return release(facts, turn, Ended::NotWanted, draft);
        }
        let until = turn.since.0 + PATIENCE;
        // Others may go on meanwhile; it has the turn again once its pod is there.
        if facts.now() >= until {
            return release(facts, turn, turn::Ended::PodGone, draft);
        }
        let (name, pod) = (member.name.clone(), pod_words(member));
        draft.wait_for(Waiting::HasTurn { member: name, pod }).about(member.subject()).until(until);
        return;
    }
    if keeps_volume == Some(false) {
        return release(facts, turn, Ended::OtherVolume, draft);
    }
    if let Some(waiting) = restored::first_start_waits(facts, valid, turn, member) {
        return release(facts, turn, Ended::NotRestored { why: waiting.to_string() }, draft);
    }
    if turn.step == TurnStep::Initialize && valid.elsewhere.origin == RingOrigin::Existing {
        return release(facts, turn, Ended::RingIsElsewhere, draft);
    }
    if turn.step == TurnStep::Initialize {
        return match records::is_first(facts, turn, member) {
            Some(proof) => permit::give(facts, valid, turn, member, &proof, draft),
            None => release(facts, turn, Ended::InitializedElsewhere, draft),
        };
    }
    if first::is_first(facts, valid, turn) {
        if let Some(proof) = first::may_join(facts, valid, member, draft) {
            permit::give(facts, valid, turn, member, &proof, draft);
        }
        return;
    }
    if let Some(proof) = unnoticed::is_full_member(facts, turn, member) {
        let data = DataBeforeStart::Keep;
        return permit::give_with(facts, valid, turn, member, data, &proof, draft);
    }
    // What its volume holds of a join that nobody has noted is found out first.
    if !is_wanted && unnoticed::of(member).is_none() {
        return release(facts, turn, Ended::NotWanted, draft);
    }
    match evidence::prove(facts, turn, member, &Purpose::Join, draft) {
        Ok(proof) => permit::give(facts, valid, turn, member, &proof, draft),
        Err(Unproven::Waiting) => {}
        Err(Unproven::AskAgain(why)) => release(facts, turn, turn::Ended::Objection { why }, draft),
    }
}

fn finish(facts: &Facts<'_>, valid: &Valid, turn: &Turn, member: &MemberFact, draft: &mut Draft) {
    let recorded = member.spec.as_ref().and_then(|s| s.host_id.clone());
    let Some(host_id) = recorded else {
        draft.wait_for(Waiting::Recording { member: member.name.clone() }).about(member.subject());
        return;
    };
    let initialization = (turn.step == TurnStep::Initialize).then(|| Initialization {
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
        .filter(|_| grace::ends(facts, valid).is_none_or(|t| t <= facts.now()))
        .and_then(|next| {
            next.volume().map(|v| lock::new(facts, &next.name, &v.volume_id, TurnStep::Join, 1))
        });
    let step = match &next {
        Some(next) => {
            let (from, to) = (turn.member.clone(), next.member.clone());
            lock::pass(facts, next, Doing::PassTurn { from, to }, None)
        }
        None => lock::finish(facts, turn, None),
    };
    draft.steps.push(match &initialization {
        Some(record) => lock::record_initialization(step, record),
        None => step,
    });
}

fn retry(facts: &Facts<'_>, turn: &Turn, member: &MemberFact, draft: &mut Draft) {
    if turn.attempt >= TRIES {
        return release(facts, turn, failed_start::failed(member), draft);
    }
    let delay = if turn.step == TurnStep::Initialize { INITIALIZE_RETRY } else { JOIN_RETRY };
    let again = failed_start::again(facts, turn, member, delay);
    draft.report(failed_start::problem(member));
    if facts.now() < again {
        let retry = Waiting::Retry { member: member.name.clone(), at: again };
        draft.wait_for(retry).about(member.subject()).until(again);
        return;
    }
    let next = lock::again(facts, turn);
    draft.steps.push(lock::renew(facts, &next, Doing::Retry { member: turn.member.clone() }));
}

fn release(facts: &Facts<'_>, turn: &Turn, why: impl Sentence, draft: &mut Draft) {
    draft.steps.push(lock::end(facts, turn, why, None));
}
