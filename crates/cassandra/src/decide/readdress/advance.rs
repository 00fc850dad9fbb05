//! From the turn to the permit, and to the member that is back.

use super::{given_up, moved};
use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Purpose, Unproven, marks};
use crate::decide::replace::quarantine;
use crate::decide::restart::steps::delete_pod;
use crate::decide::turn::lock;
use crate::decide::turn::permit::{self, Course};
use crate::facts::words::{pod_words, server_words};
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::readdress::{Ended, Happened, Waiting};
use crate::words::turn;
use jiff::SignedDuration;
use palladion_api::cluster::{Replaced, Turn};
use palladion_api::member::ServerState;
use palladion_plan::Event;
use palladion_plan::words::Sentence;

/// A server that has not come up after this long is no reason to hold up the ring: it
/// is tried again by its agent, as any other.
const PATIENCE: SignedDuration = SignedDuration::from_mins(10);

/// Go on with a Readdress turn.
pub fn advance(facts: &Facts<'_>, valid: &Valid, turn: &Turn, draft: &mut Draft) {
    let (member, replaced) = (facts.members.get(&turn.member), turn.replaces.as_ref());
    let Some((member, replaced)) = member.zip(replaced) else {
        return end(facts, turn, turn::Ended::MemberGone, draft);
    };
    if marks::of(member).is_some() {
        return end(facts, turn, Ended::Marked, draft);
    }
    match permit::course(turn, member) {
        Course::NotGiven => before_permit(facts, valid, (turn, replaced), member, draft),
        Course::PodEnded => end(facts, turn, turn::Ended::PodGone, draft),
        Course::Refused(why) => end(facts, turn, Ended::Refused { why }, draft),
        Course::Failed => end(facts, turn, Ended::ByItself, draft),
        Course::Open => {
            // Until its ledger names the new one, the address is its own.
            if moved::of(member).is_none() {
                hold(facts, valid, member, replaced, draft);
            }
            wait_for_server(facts, turn, member, draft);
        }
        Course::Done => {
            hold(facts, valid, member, replaced, draft);
            let now = member.spec.as_ref().and_then(|s| s.address.clone()).unwrap_or_default();
            let (name, before) = (member.name.clone(), replaced.address.clone());
            let event = Happened::Readdressed { member: name, before, now };
            draft.steps.extend(given_up::use_up(facts, &replaced.address));
            draft.steps.push(lock::finish(facts, turn, Some(Event::normal(event))));
        }
    }
}

/// Nobody else gets the address that the others have known. Where a user has given it
/// up, somebody else has it.
fn hold(
    facts: &Facts<'_>,
    valid: &Valid,
    member: &MemberFact,
    replaced: &Replaced,
    draft: &mut Draft,
) {
    if !facts.is_given_up(&replaced.address) {
        draft.steps.extend(quarantine::hold(facts, valid, member, replaced));
    }
}

/// Once its ledger names the new address it is a member as any other, whose server
/// starts by itself: only one that is on its way is waited for.
fn wait_for_server(facts: &Facts<'_>, turn: &Turn, member: &MemberFact, draft: &mut Draft) {
    let has_failed = member.reported_server().is_some_and(|s| s.state == ServerState::Failed);
    let until = turn.since.0 + PATIENCE;
    if moved::of(member).is_none() && has_failed || facts.now() >= until {
        return end(facts, turn, Ended::ByItself, draft);
    }
    let address = member.spec.as_ref().and_then(|s| s.address.clone()).unwrap_or_default();
    let (name, server) = (member.name.clone(), server_words(member));
    let waiting = Waiting::Starts { member: name, address, server };
    draft.wait_for(waiting).about(member.subject()).until(until);
}

fn before_permit(
    facts: &Facts<'_>,
    valid: &Valid,
    (turn, replaced): (&Turn, &Replaced),
    member: &MemberFact,
    draft: &mut Draft,
) {
    match permit::keeps_volume(turn, member) {
        Some(true) => {}
        Some(false) => return end(facts, turn, Ended::OtherVolume, draft),
        None if facts.now() >= turn.since.0 + PATIENCE => {
            return end(facts, turn, Ended::NoPod, draft);
        }
        None => {
            let waiting = Waiting::ForPod { member: member.name.clone(), pod: pod_words(member) };
            draft.wait_for(waiting).about(member.subject());
            return;
        }
    }
    let starts = member.may_run() && !member.is_normal();
    let Some(moved) = moved::of(member).filter(|_| !starts) else {
        // Its ledger may name the new one by an earlier permit.
        if member.status.address.as_ref().is_some_and(|now| *now != replaced.address) {
            hold(facts, valid, member, replaced, draft);
        }
        return end(facts, turn, Ended::NotMoved, draft);
    };
    // The pod would take the claim, and the data, with it (safety rule 4.7).
    if moved::loses_claim(member) {
        return end(facts, turn, Ended::ClaimGoes, draft);
    }
    // The address may have changed again since the turn was given.
    if let Some(other) = moved::also_of(facts, &moved) {
        return end(facts, turn, Ended::InUse { other: other.name.clone() }, draft);
    }
    if evidence::others(facts, &member.name).is_empty() {
        return match evidence::is_given_up(facts, member, moved.before) {
            Some(proof) => permit::give(facts, valid, turn, member, &proof, draft),
            None => end(facts, turn, Ended::NobodyUp, draft),
        };
    }
    let purpose = match member.may_run() {
        // Nobody reaches it where it is: it ends, and comes back where it is reached.
        true => Purpose::Restart { except: vec![moved.host_id] },
        false => Purpose::Readdress { host_id: moved.host_id, address: moved.now },
    };
    match evidence::prove(facts, turn, member, &purpose, draft) {
        Ok(proof) if member.may_run() => {
            let fence = Some(facts.fence(turn));
            let pod = member.pod.iter();
            draft
                .steps
                .extend(pod.map(|pod| delete_pod(valid, member, pod, &proof, fence.clone())));
        }
        Ok(proof) => permit::give(facts, valid, turn, member, &proof, draft),
        Err(Unproven::Waiting) => {}
        Err(Unproven::AskAgain(why)) => end(facts, turn, Ended::Forbidden { why }, draft),
    }
}

/// First goes the permit that was not used, so that it never stands without its turn.
fn end(facts: &Facts<'_>, turn: &Turn, why: impl Sentence, draft: &mut Draft) {
    let member = facts.members.get(&turn.member);
    draft.steps.extend(member.and_then(|m| permit::withdraw_unused(facts, m)));
    draft.steps.push(lock::end(facts, turn, why, None));
}
