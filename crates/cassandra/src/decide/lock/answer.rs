//! Agents ask back before they begin a permit or an intent that was given under a region lock.
//! The answer is written by a leader that holds the lock then, with enough of its lease left,
//! and as the store says it right before the write: a leader that was frozen answers nobody.

use crate::decide::draft::Draft;
use crate::facts::Facts;
use crate::resources as kinds;
use crate::words::region::Doing;
use jiff::SignedDuration;
use palladion_api::cluster::Turn;
use palladion_api::member::{BeginAnswer, LEASE_LEFT};
use palladion_plan::{Fence, LockFact, LockFence, Step};
use serde_json::json;

/// Answer the member that has the turn, if it asks. A turn that does not go on is not here.
pub fn answer(facts: &Facts<'_>, turn: &Turn, draft: &mut Draft) {
    let Some(member) = facts.members.get(&turn.member) else { return };
    let Some(question) = member.status.begin.as_ref().filter(|q| q.of == turn.nonce) else {
        return;
    };
    let answered = member.spec.as_ref().and_then(|spec| spec.begin.as_ref());
    let Some(object) = member.object.as_ref() else { return };
    if answered.is_some_and(|answer| answer.nonce == question.nonce) || !lasts(facts) {
        return;
    }
    let fence = facts.fence(turn);
    let lock = fence.lock.clone().map(|lock| LockFence { lease_left: LEASE_LEFT, ..lock });
    let answer = BeginAnswer { nonce: question.nonce.clone() };
    let doing = Doing::Answer { member: member.name.clone() };
    let patch = json!({ "spec": { "begin": answer } });
    let step = Step::patch_as_seen(kinds::MEMBER, &object.meta, patch, doing);
    draft.steps.push(step.fenced(Fence { lock, ..fence }));
}

/// Is enough of the lease left? It is renewed within seconds otherwise, and looked at again.
fn lasts(facts: &Facts<'_>) -> bool {
    let left = match &facts.snapshot.lock {
        LockFact::Held { lease_left, .. } => *lease_left,
        LockFact::Unasked
        | LockFact::Asking
        | LockFact::HeldBy(_)
        | LockFact::NotHeld
        | LockFact::Unknown { .. } => SignedDuration::ZERO,
    };
    !facts.is_locked() || left > LEASE_LEFT
}
