//! Bringing members to the newest revision, and restarting those that a person
//! wants restarted: one that serves only in its turn, while all others are up.

use crate::decide::draft::Draft;
use crate::decide::evidence::{self, Proof, Purpose, Unproven};
use crate::decide::maintenance::access;
use crate::decide::objects::restart_tokens;
use crate::decide::restart::steps::{delete_pod, give_token, prepare};
use crate::decide::restart::{going_without, standstill};
use crate::decide::turn::lock;
use crate::decide::wanted;
use crate::facts::words::{pod_words, server_words};
use crate::facts::{Facts, MemberFact, PodFact};
use crate::resources as kinds;
use crate::validate::{Valid, ValidRack};
use crate::words::restart::{Doing, Ended, Happened, Waiting};
use palladion_api::cluster::Turn;
use palladion_plan::{Event, FailureClass, Subject};

/// What a member's restart turn has still to do.
enum Task<'a> {
    /// Its pod is of an older revision.
    NewPod(&'a str),
    /// Its server is to be restarted in its pod.
    Token(String),
    /// It only has to come back.
    ComeBack,
}

/// Go on with a Restart turn.
pub fn advance(facts: &Facts<'_>, valid: &Valid, turn: &Turn, draft: &mut Draft) {
    let rack_of = |m: &MemberFact| valid.racks.iter().find(|r| r.name == m.rack);
    let Some((member, rack)) =
        facts.members.get(&turn.member).and_then(|m| rack_of(m).map(|r| (m, r)))
    else {
        draft.steps.push(lock::end(facts, turn, Ended::NoMember, None));
        return;
    };
    // Its volume is gone for good: it comes back in a replacement, and in no other turn.
    if evidence::lost(member).is_some() && !member.is_normal() {
        draft.steps.push(lock::end(facts, turn, Ended::Lost, None));
        return;
    }
    // What a person wants of it waits for the ring, and is told behind what is under way.
    let mut wish = Draft::default();
    match wanted::instead_of_restart(facts, member, &mut wish) {
        Some((other, doing)) => draft.steps.push(lock::pass(facts, &other, doing, None)),
        None => bring_back(facts, valid, turn, (member, rack), draft),
    }
    draft.take(wish);
}

/// Until it serves again.
fn bring_back(
    facts: &Facts<'_>,
    valid: &Valid,
    turn: &Turn,
    (member, rack): (&MemberFact, &ValidRack),
    draft: &mut Draft,
) {
    let Some(newest) = facts.newest_revision(&rack.set) else {
        let waiting = Waiting::ForSet { rack: rack.name.clone() };
        draft.wait_for(waiting).about(Subject::new(kinds::STATEFUL_SET, &rack.set));
        return;
    };
    let Some(pod) = member.pod.as_ref().filter(|p| !p.terminating) else {
        let waiting = Waiting::ForPod { member: member.name.clone(), pod: pod_words(member) };
        draft.wait_for(waiting).about(member.subject());
        return;
    };
    let task = match restart_tokens::due(valid, member) {
        _ if pod.revision != newest => Task::NewPod(newest),
        Some(token) => Task::Token(token),
        None => Task::ComeBack,
    };
    if matches!(task, Task::ComeBack) {
        return proven(facts, turn, member, pod, draft);
    }
    // A canary that does not come up is what the next pod repairs.
    let own = member.recorded_host_id().filter(|_| !member.is_normal());
    let except = own.into_iter().chain(going_without::host_ids(facts)).collect();
    let proof = match evidence::prove(facts, turn, member, &Purpose::Restart { except }, draft) {
        Ok(proof) => proof,
        Err(Unproven::Waiting) => return,
        Err(Unproven::AskAgain(why)) => {
            draft.steps.push(match own {
                // Its own turn goes on under a fresh nonce: nobody else may restart before it is back.
                Some(_) => {
                    let doing = Doing::AskAgain { member: member.name.clone(), why };
                    lock::renew(facts, &lock::again(facts, turn), doing)
                }
                None => lock::end(facts, turn, Ended::Forbidden { why }, None),
            });
            return;
        }
    };
    match task {
        Task::NewPod(newest) => {
            let stop = Stop { turn, member, pod, newest, proof: &proof };
            replace_pod(facts, valid, &stop, draft);
        }
        Task::Token(token) => {
            let fence = Some(facts.fence(turn));
            draft.steps.extend(give_token(member, &token, &proof, fence));
        }
        Task::ComeBack => {}
    }
}

fn proven(facts: &Facts<'_>, turn: &Turn, member: &MemberFact, pod: &PodFact, draft: &mut Draft) {
    let name = || member.name.clone();
    if member.is_normal() && restart_tokens::is_done(member) {
        // Whether it lets its agent in is known within a minute; then `next` looks at it.
        if access::is_pending(member) {
            let waiting = Waiting::ForLogIn { member: name() };
            draft.wait_for(waiting).about(member.subject());
            return;
        }
        let event = Happened::Restarted { member: name(), revision: pod.revision.clone() };
        draft.steps.push(lock::finish(facts, turn, Some(Event::normal(event))));
        return;
    }
    if let Some(problem) = standstill::of_member(member, pod) {
        draft.report(problem);
    }
    let waiting = Waiting::ForServer { member: name(), server: server_words(member) };
    draft.wait_for(waiting).about(member.subject());
}

/// A pod that is to end for one of the newest revision.
struct Stop<'a> {
    turn: &'a Turn,
    member: &'a MemberFact,
    pod: &'a PodFact,
    newest: &'a str,
    proof: &'a Proof,
}

/// Does the budget count what clients count (safety rule 7.10)? It also counts
/// the pods of members that wait to join, which may wait for this very upgrade,
/// and of those that a rollout goes on without: for these it would say no for ever.
fn budget_counts_right(facts: &Facts<'_>) -> bool {
    let serves = |m: &MemberFact| m.pod.as_ref().is_some_and(|p| p.ready_since.is_some());
    // A claim alone is nobody: somebody scaled a StatefulSet by hand.
    let exists = |m: &MemberFact| !m.is_gone() && (m.pod.is_some() || m.object.is_some());
    let is_new = |m: &MemberFact| exists(m) && m.recorded_host_id().is_none();
    let mut new = facts.members.values().filter(|m| is_new(m));
    new.all(serves) && going_without::of(facts).is_empty()
}

fn replace_pod(facts: &Facts<'_>, valid: &Valid, stop: &Stop<'_>, draft: &mut Draft) {
    let Stop { turn, member, pod, newest, proof } = *stop;
    let Some(object) = &member.object else { return };
    if member.claim.as_ref().is_some_and(|c| c.terminating) {
        let waiting = Waiting::ClaimTerminating { member: member.name.clone() };
        draft.wait_for(waiting).about(member.subject());
        return;
    }
    let fence = facts.fence(turn);
    draft.steps.extend(prepare(valid, member, object, newest, proof, fence.clone()));
    let step = delete_pod(valid, member, pod, proof, Some(fence));
    let evicted = pod.ready_since.is_some() && budget_counts_right(facts);
    draft.steps.push(if evicted { step.evicting() } else { step });
    let failure = facts.snapshot.failure.as_ref();
    if let Some(held) = failure.filter(|f| evicted && f.class == FailureClass::Held) {
        let (name, answer) = (member.name.clone(), held.message.clone());
        draft.wait_for(Waiting::ForBudget { member: name, answer }).about(member.subject());
    }
}
