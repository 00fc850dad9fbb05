//! The turn of a member whose data is lost: proven dead by the others, on a new
//! volume and under a new address, so that writes reach it while it streams.

use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Purpose, Unproven, lost, marks};
use crate::decide::replace::{new_address, room};
use crate::decide::turn::failed_start;
use crate::decide::turn::lock;
use crate::decide::turn::permit::{self, Course};
use crate::facts::words::{pod_words, server_words};
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::evidence::{Objection, Unmarked};
use crate::words::replace::{Doing, Ended, Happened, Waiting};
use jiff::SignedDuration;
use palladion_api::cluster::{Replaced, Turn, TurnStep};
use palladion_api::member::VolumeStatus;
use palladion_plan::Event;

/// A failed replacement is remembered by gossip; the next try waits for that to pass.
const REPLACE_RETRY: SignedDuration = SignedDuration::from_secs(120);
/// Tries before a person is asked.
const TRIES: u32 = 3;

/// Go on with a Replace turn.
pub fn advance(facts: &Facts<'_>, valid: &Valid, turn: &Turn, draft: &mut Draft) {
    let (Some(member), Some(replaced)) = (facts.members.get(&turn.member), &turn.replaces) else {
        return end(facts, turn, Ended::NoMember, draft);
    };
    let name = || member.name.clone();
    match permit::course(turn, member) {
        Course::NotGiven => before_permit(facts, valid, turn, member, replaced, draft),
        Course::PodEnded => end(facts, turn, Ended::PodGone, draft),
        Course::Open => {
            let (address, server) = (replaced.address.clone(), server_words(member));
            let waiting = Waiting::Streams { member: name(), address, server };
            draft.wait_for(waiting).about(member.subject());
        }
        Course::Done => confirm(facts, turn, member, replaced, draft),
        Course::Failed => retry(facts, turn, member, draft),
        Course::Refused(why) => end(facts, turn, Ended::Refused { why }, draft),
    }
}

fn before_permit(
    facts: &Facts<'_>,
    valid: &Valid,
    turn: &Turn,
    member: &MemberFact,
    replaced: &Replaced,
    draft: &mut Draft,
) {
    let purpose = Purpose::Replace { host_id: &replaced.host_id };
    let proof = match lost(member) {
        Some(_) => evidence::prove(facts, turn, member, &purpose, draft),
        // Whoever marked the volume may have taken that back since.
        None => {
            let why = Objection::NotLost;
            Err(evidence::refused(facts, member, &purpose, why, turn.since.0, draft))
        }
    };
    let proof = match proof {
        Ok(proof) => proof,
        Err(Unproven::Waiting) => return,
        Err(Unproven::AskAgain(why)) => return end(facts, turn, Ended::Forbidden { why }, draft),
    };
    if room::make_room(facts, valid, member, &proof, &facts.fence(turn), draft).is_busy()
        || new_address::change(facts, valid, turn, member, replaced, draft).is_busy()
    {
        return;
    }
    let volume = member.volume();
    if volume.is_some_and(|v| v.volume_id == turn.volume_id) {
        return permit::give(facts, valid, turn, member, &proof, draft);
    }
    let is_new = |v: &&VolumeStatus| marks::of(member).is_some() && lost::is_fresh(member, v);
    match volume.filter(is_new) {
        Some(fresh) => {
            let mut on_it = turn.clone();
            on_it.volume_id.clone_from(&fresh.volume_id);
            let doing = Doing::OnNewVolume { member: member.name.clone() };
            draft.steps.push(lock::renew(facts, &on_it, doing));
        }
        None => {
            let subject = member.subject();
            let (member, pod) = (member.name.clone(), pod_words(member));
            draft.wait_for(Waiting::ForStart { member, pod }).about(subject);
        }
    }
}

/// It is up under a new identity, which is recorded before the turn ends.
fn confirm(
    facts: &Facts<'_>,
    turn: &Turn,
    member: &MemberFact,
    replaced: &Replaced,
    draft: &mut Draft,
) {
    let recorded = member.spec.as_ref().and_then(|s| s.host_id.as_ref());
    if recorded.is_none_or(|id| *id == replaced.host_id) {
        let waiting = Waiting::Recording { member: member.name.clone() };
        draft.wait_for(waiting).about(member.subject());
        return;
    }
    if marks::of(member).is_some() {
        draft.steps.extend(marks::withdraw(member, Unmarked::Replaced, None));
    }
    let event = Happened::Replaced { member: member.name.clone() };
    draft.steps.push(lock::finish(facts, turn, Some(Event::normal(event))));
}

fn retry(facts: &Facts<'_>, turn: &Turn, member: &MemberFact, draft: &mut Draft) {
    draft.report(failed_start::problem(member));
    if turn.attempt >= TRIES {
        // Gossip remembers the failed tries; no later one gets through. The
        // way out is to remove the host ID and to join as new.
        let mut removal = lock::new(facts, &turn.member, &turn.volume_id, TurnStep::Remove, 1);
        removal.replaces.clone_from(&turn.replaces);
        let event = Happened::TriesUsedUp { member: member.name.clone(), tries: TRIES };
        let doing = Doing::RemoveInstead { member: turn.member.clone() };
        draft.steps.push(lock::pass(facts, &removal, doing, Some(Event::normal(event))));
        return;
    }
    let again = failed_start::again(facts, turn, member, REPLACE_RETRY);
    if facts.now() < again {
        let waiting = Waiting::TriesAgain { member: member.name.clone(), at: again };
        draft.wait_for(waiting).about(member.subject()).until(again);
        return;
    }
    let next = lock::again(facts, turn);
    let doing = Doing::TryAgain { member: turn.member.clone() };
    draft.steps.push(lock::renew(facts, &next, doing));
}

fn end(facts: &Facts<'_>, turn: &Turn, why: Ended, draft: &mut Draft) {
    let event = Happened::Ended { member: turn.member.clone(), why: why.clone() };
    draft.steps.push(lock::end(facts, turn, why, Some(Event::normal(event))));
}
