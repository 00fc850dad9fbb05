//! Safety rule 3.7: in a ring that regions share, no step of a turn without the token by which
//! the region holds the lock.

use super::Violation;
use crate::hazard::Hazard;
use crate::lock::{LockFact, LockFence};
use crate::plan::{Fence, Plan, Step};
use crate::snapshot::Snapshot;
use serde_json::Value;

/// Where the turn of an owner has its nonce.
const TURN: &str = "/status/turn/nonce";

/// Every step of the plan that would act for a turn without the lock.
pub fn violations(plan: &Plan, snapshot: &Snapshot, hazards: &[Hazard]) -> Vec<Violation> {
    let without = |step: &&Step| match step {
        Step::CompareAndSet { status, lock, .. } => {
            gives_turn(status) && !(holds(lock.as_ref(), &snapshot.lock) && names(status, lock))
        }
        Step::Apply { .. }
        | Step::Create { .. }
        | Step::Patch { .. }
        | Step::Issue { .. }
        | Step::Delete { .. } => {
            let hurts = hazards.iter().any(|hazard| hazard.is_in(step, snapshot));
            let mut of_turn = step.fences().iter().filter(|fence| is_of_turn(fence));
            hurts && of_turn.any(|fence| !holds(fence.lock.as_ref(), &snapshot.lock))
        }
    };
    let doing = |step: &Step| step.doing().to_string();
    let steps = plan.steps.iter().filter(without);
    steps.map(|step| Violation::WithoutLock { doing: doing(step) }).collect()
}

/// Is the turn given, passed on or renewed? A new leader's epoch alone changes nobody's turn.
fn gives_turn(status: &Value) -> bool {
    status.pointer("/turn/member").is_some_and(|member| !member.is_null())
}

/// Is the token on record with the turn?
fn names(status: &Value, lock: &Option<LockFence>) -> bool {
    let named = status.pointer("/turn/lockToken").and_then(Value::as_str);
    named.is_some() && named == lock.as_ref().map(|lock| lock.token.as_str())
}

fn is_of_turn(fence: &Fence) -> bool {
    fence.pointer == TURN && !fence.expected.is_null()
}

fn holds(fence: Option<&LockFence>, fact: &LockFact) -> bool {
    fence.is_some_and(|fence| Some(&fence.token) == fact.token())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hazard::{About, Act};
    use crate::lint::tests::{a_pod, empty_snapshot};
    use crate::object::ObjectKey;
    use crate::plan::Loss;
    use crate::proof::ProofKind;
    use jiff::SignedDuration;
    use serde_json::json;

    const HAZARDS: [Hazard; 1] = [Hazard {
        resource: crate::kinds::POD,
        act: Act::Deleted,
        about: About::Object,
        kinds: &[ProofKind::AllWell],
    }];

    fn held(token: &'static str) -> Snapshot {
        let lease_left = SignedDuration::from_secs(60);
        let lock = LockFact::Held { token: token.into(), lease_left, initialized_by: None };
        Snapshot { lock, ..empty_snapshot() }
    }

    fn taking(named: Option<&str>, fence: Option<&'static str>) -> Step {
        let turn = json!({ "member": "a-0", "nonce": "n", "lockToken": named });
        Step::compare_and_set(json!({ "turn": turn }), Vec::new(), "take the turn")
            .under_lock(fence.map(|token| LockFence::of(token.into())))
    }

    fn deleting(token: Option<&'static str>) -> Step {
        let fence = Fence {
            object: ObjectKey::new(crate::kinds::POD, "n", "owner"),
            pointer: TURN.into(),
            expected: json!("n"),
            lock: token.map(|token| LockFence::of(token.into())),
        };
        let pod = a_pod();
        Step::delete_as_seen(crate::kinds::POD, &pod.meta, Loss::Process, "end").fenced(fence)
    }

    fn found(step: Step, snapshot: &Snapshot) -> usize {
        violations(&Plan { steps: vec![step], ..Plan::default() }, snapshot, &HAZARDS).len()
    }

    #[test]
    fn a_turn_is_given_under_the_token_that_is_held_and_on_record_with_it() {
        assert_eq!(found(taking(Some("7-a"), Some("7-a")), &held("7-a")), 0);
        assert_eq!(found(taking(None, None), &held("7-a")), 1, "no token at all");
        assert_eq!(found(taking(None, Some("7-a")), &held("7-a")), 1, "not on record");
        assert_eq!(found(taking(Some("6-a"), Some("6-a")), &held("7-a")), 1, "an old one");
        assert_eq!(found(taking(Some("7-a"), Some("7-a")), &empty_snapshot()), 1, "not held");
    }

    #[test]
    fn a_step_of_a_turn_that_could_hurt_carries_the_token() {
        assert_eq!(found(deleting(Some("7-a")), &held("7-a")), 0);
        assert_eq!(found(deleting(None), &held("7-a")), 1);
        assert_eq!(found(deleting(Some("7-a")), &held("8-b")), 1);
    }

    #[test]
    fn an_epoch_is_raised_and_a_turn_is_ended_without_the_lock() {
        for turn in [json!({ "epoch": 3 }), Value::Null] {
            let step = Step::compare_and_set(json!({ "turn": turn }), Vec::new(), "write");
            assert_eq!(found(step, &empty_snapshot()), 0);
        }
    }
}
