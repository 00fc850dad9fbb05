//! The ring's one turn: who holds it, and who gets it next. Every start, stop,
//! join and restart goes through here, one at a time.

use super::{
    Draft, broken, debts, epoch, founding, grant, joining, leaving, lost, next_join, next_leave,
    removing, replacing, resuming, returning, rollout, seeds, stopping, system_keyspaces, versions,
};
use crate::facts::Facts;
use crate::validate::Valid;
use palladion_api::cluster::{Founding, Turn, TurnStep};
use palladion_plan::{Event, Fence, ObjectKey, Step};
use serde_json::{Value, json};

/// Go on with the turn that is under way, or give the next one.
pub fn decide(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    if epoch::is_behind(facts) {
        return;
    }
    grant::record_identities(facts, valid, draft);
    if stopping::hold(facts, draft) || broken::replace_broken_pod(facts, valid, draft) {
        return;
    }
    match facts.turn() {
        Some(turn) => match turn.step {
            TurnStep::Found | TurnStep::Join => joining::advance(facts, valid, turn, draft),
            TurnStep::Restart => rollout::advance(facts, valid, turn, draft),
            TurnStep::Leave => leaving::advance(facts, valid, turn, draft),
            TurnStep::Replace => replacing::advance(facts, valid, turn, draft),
            TurnStep::ResumeLeave => resuming::advance(facts, valid, turn, draft),
            TurnStep::Remove => removing::advance(facts, valid, turn, draft),
        },
        None if stopping::is_wanted(facts) => {}
        None => next(facts, valid, draft),
    }
}

/// Nobody has the turn: who needs it most?
fn next(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) {
    if next_join::adopt_permit(facts, draft)
        || next_leave::adopt_intent(facts, draft)
        || founding::next(facts, valid, draft)
    {
        return;
    }
    if !facts.ring_exists() {
        return;
    }
    seeds::rescue(facts, valid, draft);
    let busy = resuming::next(facts, draft)
        || returning::next(facts, draft)
        || shape(facts, valid, draft)
        || rollout::next(facts, valid, draft)
        || versions::mixed(facts, valid).is_none() && debts::pay(facts, valid, draft);
    if busy {
        return;
    }
    if versions::mixed(facts, valid).is_none() {
        system_keyspaces::decide(facts, valid, draft);
    }
    seeds::refresh(facts, valid, draft);
}

/// Changes of the ring's shape. While versions are mixed the upgrade goes first.
fn shape(facts: &Facts<'_>, valid: &Valid, draft: &mut Draft) -> bool {
    let mut found = Draft::default();
    let busy = lost::next(facts, valid, &mut found)
        || next_join::next(facts, valid, &mut found)
        || next_leave::next(facts, valid, &mut found);
    if busy && versions::forbid(facts, valid, "the ring is changed", draft) {
        return false;
    }
    draft.take(found);
    busy
}

/// A new turn, as of this decision.
pub fn new(facts: &Facts<'_>, member: &str, volume_id: &str, step: TurnStep, attempt: u32) -> Turn {
    Turn {
        member: member.to_string(),
        volume_id: volume_id.to_string(),
        step,
        nonce: facts.snapshot.nonce.clone(),
        epoch: facts.snapshot.epoch,
        since: k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(facts.now()),
        attempt,
        replaces: None,
    }
}

/// Take the turn, pass it on or end it, conditional on what was seen of it.
pub fn claim(
    facts: &Facts<'_>,
    turn: Option<&Turn>,
    founding: Option<&Founding>,
    doing: String,
    event: Option<Event>,
) -> Step {
    let mut status = json!({ "turn": turn, "epoch": facts.snapshot.epoch });
    if let Some(turn) = turn.filter(|t| t.replaces.is_none()) {
        // A merge patch would keep what the last turn had.
        status["turn"] = json!(turn);
        status["turn"]["replaces"] = Value::Null;
    }
    if let Some(founding) = founding {
        status["founding"] = json!(founding);
    }
    if turn.is_some_and(|t| matches!(t.step, TurnStep::Found | TurnStep::Join)) {
        status["lastStartTime"] = json!(facts.now());
    }
    let seen = |pointer: &str| {
        let value = facts.snapshot.owner.at(pointer).cloned().unwrap_or(Value::Null);
        (pointer.to_string(), value)
    };
    Step::Claim {
        status,
        seen: vec![seen("/status/turn"), seen("/status/epoch"), seen("/status/founding")],
        doing,
        event,
    }
}

/// The fence of every write that belongs to the turn.
pub fn fence(facts: &Facts<'_>, turn: &Turn) -> Fence {
    held_as(facts, Some(turn))
}

/// The fence of a write that belongs to no turn, and during which nobody else
/// may take it: the turn is held as it was seen, or by nobody.
pub fn as_seen(facts: &Facts<'_>) -> Fence {
    held_as(facts, facts.turn())
}

fn held_as(facts: &Facts<'_>, turn: Option<&Turn>) -> Fence {
    let owner = &facts.snapshot.owner.meta;
    Fence {
        object: ObjectKey::new(crate::resources::CLUSTER, &owner.namespace, &owner.name),
        pointer: "/status/turn/nonce".to_string(),
        expected: turn.map_or(Value::Null, |t| Value::from(t.nonce.as_str())),
    }
}
