//! The one turn of a clustered service, as a lock in its owner's status: taken,
//! renewed and ended by writes that are conditional on what was seen of it, and
//! the fence of every write that belongs to it. For owners whose status has
//! `turn`, `epoch`, `initialized` and `highestServerID` ([`ServiceTurn`]).

use crate::object::{Object, ObjectKey, Resource};
use crate::plan::{Fence, Step};
use crate::proof::FRESH;
use crate::snapshot::Snapshot;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::ids::{MemberName, VolumeId};
use palladion_api::service::{Question, ServiceStep, ServiceTurn};
use serde_json::{Value, json};
use std::fmt::Display;

/// What every write of the turn has seen. A turn, an initialization or a server ID
/// that somebody else has put on record meanwhile forbids it.
const SEEN: [&str; 4] =
    ["/status/turn", "/status/epoch", "/status/initialized", "/status/highestServerID"];

/// Fields of a turn that not every turn has. A merge patch would keep what the last one had.
const OPTIONAL: [&str; 5] = ["question", "serverID", "replaces", "allowed", "failing"];

/// The same of its question.
const UNANSWERED: &str = "unansweredSince";

/// A new turn, as of this decision, with its first question.
pub fn new(
    snapshot: &Snapshot,
    member: &MemberName,
    volume_id: &VolumeId,
    step: ServiceStep,
) -> ServiceTurn {
    ServiceTurn {
        member: member.clone(),
        volume_id: volume_id.clone(),
        step,
        nonce: snapshot.nonce.clone(),
        epoch: snapshot.epoch,
        since: Time(snapshot.now),
        attempt: 1,
        question: Some(question(snapshot)),
        server_id: None,
        replaces: None,
        allowed: None,
        failing: None,
    }
}

/// The same turn once more under a fresh nonce: its permit was used in vain.
pub fn again(snapshot: &Snapshot, turn: &ServiceTurn) -> ServiceTurn {
    ServiceTurn {
        nonce: snapshot.nonce.clone(),
        epoch: snapshot.epoch,
        since: Time(snapshot.now),
        attempt: turn.attempt + 1,
        question: Some(question(snapshot)),
        ..turn.clone()
    }
}

/// The same turn with another question: what was answered before counts no more.
pub fn asking(snapshot: &Snapshot, turn: &ServiceTurn) -> ServiceTurn {
    ServiceTurn { question: Some(question(snapshot)), epoch: snapshot.epoch, ..turn.clone() }
}

/// The same, where since this time no question had a whole answer.
pub fn asking_since(
    snapshot: &Snapshot,
    turn: &ServiceTurn,
    unanswered_since: Option<Timestamp>,
) -> ServiceTurn {
    let unanswered_since = unanswered_since.map(Time);
    let question = Question { unanswered_since, ..question(snapshot) };
    ServiceTurn { question: Some(question), ..asking(snapshot, turn) }
}

fn question(snapshot: &Snapshot) -> Question {
    let (nonce, since) = (snapshot.nonce.clone(), Time(snapshot.now));
    Question { nonce, since, unanswered_since: None }
}

/// Is a question of this time void? What was seen then may be so no more; and of
/// one from the future, put by a leader whose clock was ahead, nobody can say how
/// old it is.
pub fn is_void(question: &Question, now: Timestamp) -> bool {
    now >= question.since.0 + FRESH || now + FRESH < question.since.0
}

/// Write the turn as it should stand now; `None` ends it. `more` is what goes on
/// record with it.
pub fn write(
    snapshot: &Snapshot,
    turn: Option<&ServiceTurn>,
    more: &[(&str, Value)],
    doing: impl Display,
) -> Step {
    let mut status = json!({ "turn": turn, "epoch": snapshot.epoch });
    if let Some(turn) = status["turn"].as_object_mut() {
        for field in OPTIONAL {
            turn.entry(field).or_insert(Value::Null);
        }
        if let Some(question) = turn["question"].as_object_mut() {
            question.entry(UNANSWERED).or_insert(Value::Null);
        }
    }
    for (field, value) in more {
        status[*field] = value.clone();
    }
    Step::compare_and_set(status, SEEN.map(|p| seen(&snapshot.owner, p)).into(), doing)
}

/// What is on record at a place of the owner, for a write that must fail when it
/// has changed.
pub fn seen(owner: &Object, pointer: &str) -> (String, Value) {
    (pointer.to_string(), owner.at(pointer).cloned().unwrap_or(Value::Null))
}

/// The fence of a write: the turn is held as it was seen, or by nobody.
pub fn fence(snapshot: &Snapshot, owner: Resource, turn: Option<&ServiceTurn>) -> Fence {
    let meta = &snapshot.owner.meta;
    Fence {
        object: ObjectKey::new(owner, &meta.namespace, &meta.name),
        pointer: "/status/turn/nonce".to_string(),
        expected: turn.map_or(Value::Null, |t| Value::from(t.nonce.as_str())),
        lock: None,
    }
}

/// A new leader's first write, so that those of a leader that was frozen and woke
/// up again fail: it raises the epoch, and puts the question of the turn anew.
/// `None` where this leader's epoch is on record, or nobody's was.
pub fn take_over(
    snapshot: &Snapshot,
    epoch: Option<i64>,
    turn: Option<&ServiceTurn>,
    doing: impl Display,
) -> Option<Step> {
    let behind = epoch.is_some_and(|seen| seen < snapshot.epoch);
    behind.then(|| write(snapshot, turn.map(|t| asking(snapshot, t)).as_ref(), &[], doing))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Meta;
    use palladion_api::ids::Nonce;
    use std::collections::BTreeMap;
    use std::sync::Arc;

    fn snapshot(status: Value, epoch: i64) -> Snapshot {
        let meta = Meta { name: "c".into(), namespace: "n".into(), ..Meta::default() };
        Snapshot {
            now: Timestamp::UNIX_EPOCH,
            epoch,
            nonce: Nonce::from("fresh"),
            owner: Arc::new(Object { meta, body: json!({ "status": status }) }),
            objects: BTreeMap::new(),
            references: BTreeMap::new(),
            probes: BTreeMap::new(),
            exchanges: BTreeMap::new(),
            lock: crate::LockFact::Unasked,
            failure: None,
            settings: Arc::default(),
        }
    }

    fn a_turn(snapshot: &Snapshot) -> ServiceTurn {
        new(snapshot, &"a-0".into(), &"v".into(), ServiceStep::Join)
    }

    fn parts(step: Step) -> (Value, Vec<(String, Value)>) {
        match step {
            Step::CompareAndSet { status, seen, .. } => (status, seen),
            other => panic!("a turn is a lock: {other:?}"),
        }
    }

    #[test]
    fn a_turn_leaves_nothing_of_the_last_one_behind_and_fails_if_another_was_taken() {
        let known = snapshot(json!({ "epoch": 1, "highestServerID": 3 }), 1);
        let (status, seen) = parts(write(&known, Some(&a_turn(&known)), &[], "take"));
        assert!(status["turn"].as_object().is_some_and(|t| t.contains_key("replaces")));
        assert_eq!(status["turn"]["replaces"], Value::Null);
        assert_eq!(seen[0], ("/status/turn".to_string(), Value::Null));
        assert_eq!(seen[3], ("/status/highestServerID".to_string(), json!(3)));
    }

    #[test]
    fn a_new_leader_puts_the_question_anew_and_keeps_the_nonce_that_permits_carry() {
        let first = snapshot(json!({ "epoch": 1 }), 1);
        let mut turn = a_turn(&first);
        turn.nonce = "permit".into();
        turn.question =
            Some(Question { nonce: "old".into(), since: Time(first.now), unanswered_since: None });
        assert!(take_over(&first, Some(1), Some(&turn), "raise").is_none());
        assert!(take_over(&first, None, None, "raise").is_none(), "nobody led before");
        let second = snapshot(json!({ "epoch": 1 }), 2);
        let step = take_over(&second, Some(1), Some(&turn), "raise").expect("it is behind");
        let (status, _) = parts(step);
        assert_eq!(status["epoch"], json!(2));
        assert_eq!(status["turn"]["nonce"], json!("permit"));
        assert_eq!(status["turn"]["question"]["nonce"], json!("fresh"));
    }

    #[test]
    fn a_question_is_void_after_its_time_and_when_it_comes_from_the_future() {
        let at = |second| Timestamp::from_second(second).expect("a time");
        let question = Question { nonce: "q".into(), since: Time(at(100)), unanswered_since: None };
        assert!(!is_void(&question, at(100)) && !is_void(&question, at(129)));
        assert!(is_void(&question, at(130)));
        assert!(is_void(&question, at(60)));
    }
}
