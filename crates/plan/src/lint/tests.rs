//! Each rule is seen to fail, beside a step that keeps all of them.

use super::*;
use crate::hazard::{About, Act};
use crate::object::{Meta, Object, ObjectKey, Resource};
use crate::plan::{Propagation, Subresource};
use crate::proof::{Identity, MakesProofs, ProofKind};
use crate::snapshot::Observed;
use serde_json::{Value, json};
use std::sync::Arc;

const POD: Resource = Resource::namespaced("", "v1", "Pod", "pods");
const SET: Resource = Resource::namespaced("apps", "v1", "StatefulSet", "statefulsets");
const CLAIM: Resource =
    Resource::namespaced("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims");
/// No hazard is declared for it.
const OTHER: Resource = Resource::namespaced("", "v1", "Service", "services");
const HAZARDS: [Hazard; 6] = [
    Hazard {
        resource: POD,
        act: Act::Deleted,
        about: About::Object,
        kinds: &[ProofKind::AllWell, ProofKind::Gone],
    },
    Hazard {
        resource: SET,
        act: Act::Lowered("/spec/replicas"),
        about: About::Object,
        kinds: &[ProofKind::Vacant],
    },
    Hazard {
        resource: SET,
        act: Act::SetTo("/spec/intent/kind", "Leave"),
        about: About::Field("/spec/intent/id"),
        kinds: &[ProofKind::AllWell],
    },
    Hazard {
        resource: SET,
        act: Act::Changed("/spec/token"),
        about: About::Object,
        kinds: &[ProofKind::Idle],
    },
    Hazard {
        resource: SET,
        act: Act::Changed("/spec/template"),
        about: About::Object,
        kinds: &[ProofKind::Idle],
    },
    Hazard {
        resource: SET,
        act: Act::DeletedWithDependents,
        about: About::Object,
        kinds: &[ProofKind::Vacant],
    },
];

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_000_000 + seconds).expect("is a time")
}

/// Nothing but an owner.
pub(crate) fn empty_snapshot() -> Snapshot {
    Snapshot { objects: Default::default(), ..snapshot() }
}

/// A pod that exists.
pub(crate) fn a_pod() -> Object {
    let meta = Meta { name: "x".into(), namespace: "n".into(), ..Meta::default() };
    Object { meta, body: json!({}) }
}

fn snapshot() -> Snapshot {
    let stored = |name: &str, body| {
        let meta = Meta { name: name.into(), namespace: "n".into(), ..Meta::default() };
        Arc::new(Object { meta, body })
    };
    let set = stored(
        "s",
        json!({ "spec": {
        "replicas": 3, "token": "1", "template": { "image": "1", "added by the server": true },
    } }),
    );
    let tried = json!({ "spec": { "intent": { "kind": "Leave", "id": "i", "nonce": "1" } } });
    let sets = Observed::Known { value: vec![set, stored("tried", tried)], as_of: at(0) };
    Snapshot {
        now: at(0),
        epoch: 1,
        nonce: "n1".into(),
        owner: stored("o", json!({})),
        objects: [(SET, sets)].into(),
        references: Default::default(),
        probes: Default::default(),
        exchanges: Default::default(),
        lock: Default::default(),
        failure: None,
        settings: Default::default(),
    }
}

fn proof(kind: ProofKind, about: &str, as_of: Timestamp) -> Proof {
    Proof::new(
        Tests,
        kind,
        vec![Identity::Object(about.to_string())],
        as_of,
        "a and b say so".to_string(),
    )
}

/// What these tests make proofs by.
struct Tests;

impl MakesProofs for Tests {}

fn seen() -> Precondition {
    Precondition::Version { uid: "1".into(), resource_version: "7".into() }
}

fn delete(name: &str, loss: Loss, proof: Option<Proof>) -> Step {
    Step::Delete {
        key: ObjectKey::new(POD, "n", name),
        precondition: seen(),
        loss,
        propagation: Propagation::Background,
        fences: Vec::new(),
        proof,
        doing: "d".to_string(),
        event: None,
    }
}

/// Of this kind, without a proof.
fn delete_of(resource: Resource, loss: Loss, leaving: Propagation) -> Step {
    let mut step = delete("x", loss, None);
    if let Step::Delete { key, propagation, .. } = &mut step {
        (key.resource, *propagation) = (resource, leaving);
    }
    step
}

fn patch(patch: Value, proof: Option<Proof>) -> Step {
    Step::Patch {
        key: ObjectKey::new(SET, "n", "s"),
        patch,
        subresource: Subresource::None,
        precondition: seen(),
        fences: Vec::new(),
        proof,
        doing: "d".to_string(),
        event: None,
        counted: None,
    }
}

fn patch_tried(changes: Value) -> Step {
    let mut step = patch(changes, None);
    if let Step::Patch { key, .. } = &mut step {
        key.name = "tried".to_string();
    }
    step
}

fn found(steps: Vec<Step>) -> Vec<Violation> {
    violations(&Plan { steps, ..Plan::default() }, &snapshot(), &HAZARDS)
}

fn doing() -> String {
    "d".to_string()
}

#[test]
fn a_step_that_keeps_all_rules_is_not_refused() {
    let well = |as_of| Some(proof(ProofKind::AllWell, "p", as_of));
    assert_eq!(found(vec![delete("p", Loss::Process, well(at(-30)))]), []);
    let gone = Some(proof(ProofKind::Gone, "p", at(-9000)));
    assert_eq!(found(vec![delete("p", Loss::Process, gone)]), [], "who is gone stays gone");
    assert_eq!(found(vec![patch(json!({ "spec": { "replicas": 4 } }), None)]), []);
}

#[test]
fn a_deletion_names_its_object_and_what_it_loses() {
    let well = || Some(proof(ProofKind::AllWell, "p", at(0)));
    let mut nobody = delete("p", Loss::Process, well());
    if let Step::Delete { precondition, .. } = &mut nobody {
        *precondition = Precondition::Absent;
    }
    assert_eq!(found(vec![nobody]), [Violation::DeletionWithoutUid { doing: doing() }]);
    let silent = delete("p", Loss::Nothing, well());
    assert_eq!(found(vec![silent]), [Violation::LossNotStated { kind: "Pod", doing: doing() }]);
}

#[test]
fn a_claim_is_not_deleted_as_if_it_held_nothing() {
    let found = found(vec![delete_of(CLAIM, Loss::Nothing, Propagation::Background)]);
    let kind = "PersistentVolumeClaim";
    assert_eq!(found, [Violation::LossNotStated { kind, doing: doing() }]);
}

#[test]
fn what_ends_a_process_or_data_is_proven_and_alone_also_where_no_hazard_is_declared() {
    let of = |loss| delete_of(OTHER, loss, Propagation::Background);
    for loss in [Loss::Process, Loss::Remains, Loss::Data] {
        assert_eq!(found(vec![of(loss)]), [Violation::ProofMissing { doing: doing() }], "{loss:?}");
        let beside = found(vec![of(loss), delete("p", Loss::Process, None)]);
        let two = |v: &Violation| matches!(v, Violation::TwoDisruptions { .. });
        assert!(beside.iter().any(two), "{loss:?}: {beside:?}");
    }
    assert_eq!(found(vec![of(Loss::Nothing)]), []);
}

#[test]
fn only_a_set_may_go_from_around_its_dependents() {
    let orphaning = |resource| found(vec![delete_of(resource, Loss::Nothing, Propagation::Orphan)]);
    assert_eq!(orphaning(SET), []);
    assert!(orphaning(POD).contains(&Violation::ProofMissing { doing: doing() }));
    let with_pods = delete_of(SET, Loss::Nothing, Propagation::Background);
    assert_eq!(found(vec![with_pods]), [Violation::ProofMissing { doing: doing() }]);
}

#[test]
fn one_disruption_at_a_time() {
    let well = |name| Some(proof(ProofKind::AllWell, name, at(0)));
    let two = ["p", "q"].map(|name| delete(name, Loss::Process, well(name))).to_vec();
    let (first, second) = (doing(), doing());
    assert_eq!(found(two), [Violation::TwoDisruptions { first, second }]);
}

#[test]
fn an_order_that_follows_another_of_its_kind_needs_a_proof_too() {
    let order = |nonce: &str| json!({ "spec": { "intent": { "kind": "Leave", "id": "i", "nonce": nonce } } });
    let missing = [Violation::ProofMissing { doing: doing() }];
    assert_eq!(found(vec![patch_tried(order("2"))]), missing);
    assert_eq!(found(vec![patch_tried(order("1"))]), []);
    let renewed = json!({ "spec": { "intent": { "nonce": "2" } } });
    assert_eq!(found(vec![patch_tried(renewed)]), []);
}

#[test]
fn every_hazard_needs_a_proof() {
    let missing = || [Violation::ProofMissing { doing: doing() }];
    assert_eq!(found(vec![delete("p", Loss::Process, None)]), missing());
    let wordless = Proof::new(
        Tests,
        ProofKind::AllWell,
        vec![Identity::Object("p".into())],
        at(0),
        String::new(),
    );
    assert_eq!(found(vec![delete("p", Loss::Process, Some(wordless))]), missing());
    for hurts in [
        json!({ "spec": { "replicas": 2 } }),
        json!({ "spec": { "intent": { "kind": "Leave", "id": "i" } } }),
        json!({ "spec": { "token": "2" } }),
        json!({ "spec": { "template": { "image": "2" } } }),
    ] {
        assert_eq!(found(vec![patch(hurts.clone(), None)]), missing(), "{hurts}");
    }
    for harmless in [
        json!({ "spec": { "replicas": 3 } }),
        json!({ "spec": { "intent": null } }),
        json!({ "spec": { "token": "1" } }),
        json!({ "spec": { "template": { "image": "1" } } }),
    ] {
        assert_eq!(found(vec![patch(harmless.clone(), None)]), [], "{harmless}");
    }
}

#[test]
fn what_could_hurt_names_the_version_that_was_seen() {
    let whatever_became_of = |mut step: Step| {
        if let Step::Patch { precondition, .. } | Step::Delete { precondition, .. } = &mut step {
            *precondition = Precondition::Uid("1".into());
        }
        found(vec![step])
    };
    let missing = [Violation::VersionMissing { doing: doing() }];
    let well = Some(proof(ProofKind::AllWell, "p", at(0)));
    for loss in [Loss::Process, Loss::Serving, Loss::Remains, Loss::Data] {
        assert_eq!(whatever_became_of(delete("p", loss, well.clone())), missing, "{loss:?}");
    }
    let vacant = proof(ProofKind::Vacant, "s", at(0));
    let fewer =
        |replicas: i32| patch(json!({ "spec": { "replicas": replicas } }), Some(vacant.clone()));
    assert_eq!(whatever_became_of(fewer(2)), missing);
    assert_eq!(whatever_became_of(fewer(4)), [], "it ends nobody");
}

#[test]
fn a_proof_of_another_kind_does_not_do() {
    let idle = proof(ProofKind::Idle, "s", at(0));
    let step = patch(json!({ "spec": { "replicas": 2 } }), Some(idle));
    let kind = ProofKind::Idle.name();
    assert_eq!(found(vec![step]), [Violation::ProofOfAnotherKind { kind, doing: doing() }]);
}

#[test]
fn a_proof_about_somebody_else_does_not_do() {
    let of_another = |name| Some(proof(ProofKind::AllWell, name, at(0)));
    let about =
        |about: &str| [Violation::ProofAboutAnother { about: about.into(), doing: doing() }];
    assert_eq!(found(vec![delete("p", Loss::Process, of_another("q"))]), about("p"));
    let leave = json!({ "spec": { "intent": { "kind": "Leave", "id": "i" } } });
    assert_eq!(found(vec![patch(leave, of_another("s"))]), about("i"));
    let nobody = json!({ "spec": { "intent": { "kind": "Leave" } } });
    assert_eq!(found(vec![patch(nobody, of_another(""))]), about(""));
}

#[test]
fn a_proof_holds_for_its_time_only() {
    let out_of_time = |kind, as_of| {
        let found = found(vec![delete("p", Loss::Process, Some(proof(kind, "p", as_of)))]);
        matches!(found.as_slice(), [Violation::ProofOutOfTime { .. }])
    };
    assert!(out_of_time(ProofKind::AllWell, at(-31)));
    assert!(!out_of_time(ProofKind::AllWell, at(-30)));
    assert!(out_of_time(ProofKind::Gone, at(1)), "no proof comes from the future");
    let vacant = |as_of| {
        let proof = proof(ProofKind::Vacant, "s", as_of);
        found(vec![patch(json!({ "spec": { "replicas": 2 } }), Some(proof))])
    };
    assert_eq!(vacant(at(0)), []);
    assert!(matches!(vacant(at(-1)).as_slice(), [Violation::ProofOutOfTime { .. }]));
}
