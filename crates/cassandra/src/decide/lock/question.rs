//! What is asked of the lock. It is wanted where the plan would use it if it were held: that
//! is found by deciding once more, on the supposition that it is.

use super::gate::given;
use crate::decide::tasks::units;
use crate::decide::turn::stopping::{self, Standing};
use crate::facts::Facts;
use crate::facts::region::{SharedLock, Sharing};
use crate::status;
use jiff::SignedDuration;
use palladion_api::cluster::TurnStep;
use palladion_api::labels;
use palladion_plan::lock::{LockQuestion, LockToken, Want};
use palladion_plan::{LockFact, Plan, Snapshot, Step};
use serde_json::json;

/// By which the lock is supposed to be held.
const SUPPOSED: &str = "0-supposed";

/// The question of this ring: `Some(None)` where it needs no lock now, and `None` where nobody can
/// tell, as its settings are gone in the middle of a turn. `decide` is the whole decision.
pub fn question(
    facts: &Facts<'_>,
    decide: impl Fn(&Snapshot) -> Plan,
) -> Option<Option<LockQuestion>> {
    let in_turn = facts.turn().is_some();
    let meta = &facts.snapshot.owner.meta;
    // Of a ring that goes, or stands still, nothing is begun: others do not wait for it.
    if meta.is_terminating() || matches!(stopping::standing(facts), Standing::Stops) {
        return Some(None);
    }
    let Sharing::Shared(SharedLock { store, key, claimant, ttl }) = facts.sharing() else {
        return (!in_turn).then_some(None);
    };
    let breaks = meta.annotations.get(labels::BREAK_REGION_LOCK).map(LockToken::new);
    let asked = |want, initializes| {
        let (store, key, claimant) = (store.clone(), key.clone(), claimant.clone());
        let breaks = breaks.clone();
        Some(LockQuestion { store, key, claimant, ttl, want, initializes, breaks })
    };
    if status::pause(facts).is_some() {
        // None is taken; what was begun under one is not handed to others half-way.
        let is_begun = in_turn || units::may_work_under_lock(facts);
        return Some(is_begun.then(|| asked(Want::Keep, false)).flatten());
    }
    let lock = LockFact::Held {
        token: LockToken::new(SUPPOSED),
        lease_left: SignedDuration::try_from(ttl).unwrap_or(SignedDuration::MAX),
        // As far as nobody knows better, it is this one.
        initialized_by: Some(claimant.clone()),
    };
    let plan = decide(&Snapshot { lock, ..facts.snapshot.clone() });
    let initializes = plan.steps.iter().any(initializes) || is_initializing(facts);
    if in_turn || units::may_work_under_lock(facts) || plan.steps.iter().any(uses_lock) {
        return Some(asked(Want::Take, initializes));
    }
    Some(is_unfinished(facts, &plan).then(|| asked(Want::Keep, false)).flatten())
}

fn is_initializing(facts: &Facts<'_>) -> bool {
    facts.turn().is_some_and(|turn| turn.step == TurnStep::Initialize)
}

fn initializes(step: &Step) -> bool {
    given(step).is_some_and(|turn| turn["step"] == json!(TurnStep::Initialize))
}

fn uses_lock(step: &Step) -> bool {
    match step {
        Step::CompareAndSet { lock, .. } => lock.is_some(),
        Step::Apply { .. }
        | Step::Create { .. }
        | Step::Patch { .. }
        | Step::Issue { .. }
        | Step::Delete { .. } => step.fences().iter().any(|fence| fence.lock.is_some()),
    }
}

/// Is the region in the middle of a change, although nothing can be done now? It keeps the
/// lock: a bad change stays in one region. Who waits for a member of another region has nothing
/// to keep it for; that one may need the lock to be mended.
fn is_unfinished(facts: &Facts<'_>, plan: &Plan) -> bool {
    if another_region_is_unwell(facts) {
        return false;
    }
    let racks = &plan.status["racks"];
    let is_in_change = |name: &str, members: i32| {
        let rack = &racks[name];
        rack.is_object()
            && (rack["members"] != members || rack["updatedMembers"] != rack["members"])
    };
    let mut wanted = facts.spec.datacenter.racks.iter();
    facts.status.system_replication_change.is_some()
        || wanted.any(|rack| is_in_change(rack.name.as_str(), rack.members))
}

/// Does a member of ours see one of another datacenter that is down or moves?
fn another_region_is_unwell(facts: &Facts<'_>) -> bool {
    let own = &facts.spec.datacenter.name;
    let views = facts.joined().filter_map(|member| member.status.ring.as_ref());
    let mut others = views.flat_map(|ring| &ring.datacenters).filter(|d| d.name != *own);
    others.any(|datacenter| datacenter.exceptions > 0)
}
