//! The lock that the ring's one turn is: taken, passed on and ended by a write
//! that is conditional on what was seen of it.

use crate::facts::Facts;
use palladion_api::cluster::{Founding, Turn, TurnStep};
use palladion_api::ids::VolumeId;
use palladion_plan::{Event, Step};
use serde_json::{Value, json};

/// A new turn, as of this decision.
pub fn new(
    facts: &Facts<'_>,
    member: &str,
    volume_id: &VolumeId,
    step: TurnStep,
    attempt: u32,
) -> Turn {
    Turn {
        member: member.to_string(),
        volume_id: volume_id.clone(),
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
