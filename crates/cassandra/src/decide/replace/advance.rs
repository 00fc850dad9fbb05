//! The turn of a member whose data is lost: proven dead by the others, on a new
//! volume and under a new address, so that writes reach it while it streams.

use crate::decide::draft::{Draft, synced};
use crate::decide::evidence::{self, Purpose, Unproven, marks};
use crate::decide::replace::{lost, new_address, room};
use crate::decide::turn::failed_start;
use crate::decide::turn::lock::{self, Since};
use crate::decide::turn::permit::{self, Course};
use crate::facts::words::{pod_words, server_words};
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::evidence::{Objection, Unmarked};
use jiff::SignedDuration;
use palladion_api::cluster::{Replaced, Turn, TurnStep};
use palladion_api::member::VolumeStatus;
use palladion_api::reasons::Reason;

/// A failed replacement is remembered by gossip; the next try waits for that to pass.
const REPLACE_RETRY: SignedDuration = SignedDuration::from_secs(120);
/// Tries before a person is asked.
const TRIES: u32 = 3;

/// Go on with a Replace turn.
pub fn advance(facts: &Facts<'_>, valid: &Valid, turn: &Turn, draft: &mut Draft) {
    let (Some(member), Some(replaced)) = (facts.members.get(&turn.member), &turn.replaces) else {
        return end(facts, turn, "the member is gone", draft);
    };
    match permit::course(turn, member) {
        Course::NotGiven => before_permit(facts, valid, turn, member, replaced, draft),
        Course::PodEnded => end(facts, turn, "the pod that it was for has ended", draft),
        Course::Open => draft.wait(
            Reason::MemberReplacing,
            format!(
                "member {} streams the data of {}: {}",
                member.name,
                replaced.address,
                server_words(member)
            ),
        ),
        Course::Done => confirm(facts, turn, member, replaced, draft),
        Course::Failed => retry(facts, turn, member, draft),
        Course::Refused(why) => end(facts, turn, &format!("the agent refused: {why}"), draft),
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
    let proof = match lost::lost(member) {
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
        Err(Unproven::AskAgain(why)) => return end(facts, turn, &why.to_string(), draft),
    };
    if room::make_room(facts, valid, member, &proof, &facts.fence(turn), draft)
        || new_address::change(facts, valid, turn, member, replaced, draft)
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
            let doing = format!("give the turn of member {} its new volume", member.name);
            draft.steps.push(lock::renew(facts, &on_it, doing));
        }
        None => draft.wait(
            Reason::MemberReplacing,
            format!("member {} has the turn: {}", member.name, pod_words(member)),
        ),
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
        return draft.wait(
            Reason::MemberReplacing,
            format!("member {} was replaced; its host ID is being recorded", member.name),
        );
    }
    if marks::of(member).is_some() {
        draft.steps.extend(marks::withdraw(member, Unmarked::Replaced, None));
    }
    end(facts, turn, "it was replaced", draft);
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
        draft.steps.push(lock::pass(facts, &removal, doing, event));
        return;
    }
    let again = failed_start::last_end(turn, member) + REPLACE_RETRY;
    if facts.now() < again {
        return draft.wait_until(
            Reason::MemberReplacing,
            format!("member {} tries again at {again}", member.name),
            again,
        );
    }
    let next = lock::again(facts, turn, Since::Now);
    draft.steps.push(lock::renew(facts, &next, format!("let member {} try again", turn.member)));
}

fn end(facts: &Facts<'_>, turn: &Turn, why: &str, draft: &mut Draft) {
    let event = synced(format!("Replacement of member {} ended: {why}", turn.member));
    draft.steps.push(lock::end(facts, turn, why, event));
}
