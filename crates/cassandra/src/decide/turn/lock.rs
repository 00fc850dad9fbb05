//! The lock that the ring's one turn is: taken, passed on, renewed and ended by
//! a write that is conditional on what was seen of it.

use crate::facts::{Facts, JOB_NONCE};
use crate::words::turn::Doing;
use palladion_api::cluster::{Initialization, SecurityStatus, Turn, TurnStep};
use palladion_api::ids::{MemberName, VolumeId};
use palladion_plan::{Event, Step};
use serde_json::{Value, json};
use std::fmt::Display;

/// A new turn, as of this decision.
pub fn new(
    facts: &Facts<'_>,
    member: &MemberName,
    volume_id: &VolumeId,
    step: TurnStep,
    attempt: u32,
) -> Turn {
    Turn {
        member: member.clone(),
        volume_id: volume_id.clone(),
        step,
        nonce: facts.snapshot.nonce.clone(),
        epoch: facts.snapshot.epoch,
        since: k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(facts.now()),
        attempt,
        replaces: None,
        lock_token: facts.held_token().cloned(),
    }
}

/// The same turn once more, under a fresh nonce and as of now: what was asked
/// before counts no more.
pub fn again(facts: &Facts<'_>, turn: &Turn) -> Turn {
    let mut next = new(facts, &turn.member, &turn.volume_id, turn.step, turn.attempt + 1);
    next.replaces.clone_from(&turn.replaces);
    next
}

/// Take the turn that nobody has. With the turn to initialize goes, in the same
/// write, the record that the ring is initialized on this volume.
pub fn take(facts: &Facts<'_>, turn: &Turn, doing: impl Display, event: Option<Event>) -> Step {
    let step = write(facts, Some(turn), doing, event);
    match turn.step {
        TurnStep::Initialize => record_initialization(
            step,
            &Initialization {
                member: turn.member.clone(),
                volume_id: turn.volume_id.clone(),
                nonce: turn.nonce.clone(),
                host_id: None,
            },
        ),
        TurnStep::Join
        | TurnStep::Restart
        | TurnStep::Leave
        | TurnStep::Replace
        | TurnStep::ResumeLeave
        | TurnStep::Remove
        | TurnStep::Stop
        | TurnStep::Start
        | TurnStep::Readdress => step,
    }
}

/// Pass the turn on: to another member, or to another step of the same one.
pub fn pass(facts: &Facts<'_>, to: &Turn, doing: impl Display, event: Option<Event>) -> Step {
    write(facts, Some(to), doing, event)
}

/// Go on with a turn that is held, as it now stands.
pub fn renew(facts: &Facts<'_>, turn: &Turn, doing: impl Display) -> Step {
    write(facts, Some(turn), doing, None)
}

/// End the turn before its work is done, saying why.
pub fn end(facts: &Facts<'_>, turn: &Turn, why: impl Display, event: Option<Event>) -> Step {
    let (member, work, why) = (turn.member.clone(), turn.step.into(), why.to_string());
    write(facts, None, Doing::End { member, work, why }, event)
}

/// End the turn; its work is done.
pub fn finish(facts: &Facts<'_>, turn: &Turn, event: Option<Event>) -> Step {
    let (member, work) = (turn.member.clone(), turn.step.into());
    write(facts, None, Doing::Finish { member, work }, event)
}

/// Record in the same write what came of the initialization.
pub fn record_initialization(mut step: Step, initialization: &Initialization) -> Step {
    if let Step::CompareAndSet { status, .. } = &mut step {
        status["initialization"] = json!(initialization);
    }
    step
}

/// Record what is settled of authentication and TLS, as the turn stands.
pub fn record_security(facts: &Facts<'_>, security: &SecurityStatus, doing: impl Display) -> Step {
    let mut step = write(facts, facts.status.turn.as_ref(), doing, None);
    if let Step::CompareAndSet { status, .. } = &mut step {
        status["security"] = json!(security);
    }
    step
}

fn write(
    facts: &Facts<'_>,
    turn: Option<&Turn>,
    doing: impl Display,
    event: Option<Event>,
) -> Step {
    let mut status = json!({ "turn": turn, "epoch": facts.snapshot.epoch });
    if let Some(turn) = turn.filter(|t| t.replaces.is_none()) {
        // A merge patch would keep what the last turn had.
        status["turn"] = json!(turn);
        status["turn"]["replaces"] = Value::Null;
    }
    if turn.is_some() && (facts.is_locked() || facts.turn().is_some_and(|t| t.lock_token.is_some()))
    {
        // The token of now, whichever the turn was taken under; none where the ring has no lock.
        status["turn"]["lockToken"] = json!(facts.held_token());
    }
    let starts =
        |t: &Turn| matches!(t.step, TurnStep::Initialize | TurnStep::Join | TurnStep::Start);
    if turn.is_some_and(starts) {
        status["lastStartTime"] = json!(facts.now());
    }
    // A job that was taken up meanwhile forbids it: turns and jobs are never both.
    let pointers =
        ["/status/turn", "/status/epoch", "/status/initialization", "/status/founding", JOB_NONCE];
    let step = Step::compare_and_set(status, pointers.map(|p| seen(facts, p)).into(), doing);
    let step = step.under_lock(facts.lock_fence().filter(|_| turn.is_some()));
    match event {
        Some(event) => step.announced(event),
        None => step,
    }
}

/// What is on record at a place of the cluster, for a write that must fail when
/// it has changed.
pub fn seen(facts: &Facts<'_>, pointer: &str) -> (String, Value) {
    let value = facts.snapshot.owner.at(pointer).cloned().unwrap_or(Value::Null);
    (pointer.to_string(), value)
}
