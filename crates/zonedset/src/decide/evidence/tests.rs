//! What is proven, and what is not: sets of three replicas in two zones.

use super::*;
use crate::facts::{Facts, SetFact};
use crate::validate::{Valid, validate};
use jiff::Timestamp;
use palladion_api::ZonedStatefulSetSpec;
use palladion_api::labels::SPEC_HASH;
use palladion_api::zoned_stateful_set::{Rollout, RolloutState};
use palladion_plan::workload::pod::PodFact;
use palladion_plan::{Meta, Object, Proof, ProofKind, Snapshot};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const NEWEST: &str = "newest";

fn object(name: &str, hash: &str, body: Value) -> Object {
    let annotations = [(SPEC_HASH.to_string(), hash.to_string())].into();
    Object { meta: Meta { name: name.into(), annotations, ..Meta::default() }, body }
}

/// A set with a pod for each of these: does it run the newest template, is it ready?
fn set(name: &str, (zone_index, version): (usize, i64), pods: &[(bool, bool)]) -> SetFact {
    let pod = |(ordinal, (newest, ready)): (usize, &(bool, bool))| {
        let hash = if *newest { NEWEST } else { "old" };
        let since = ready.then_some("2026-01-01T00:00:00Z");
        PodFact::read(&object(&format!("{name}-{ordinal}"), hash, json!({ "readySince": since })))
    };
    SetFact {
        object: Arc::new(object(name, NEWEST, Value::Null)),
        name: name.to_string(),
        zone_index,
        zone: String::new(),
        version,
        hash: NEWEST.to_string(),
        template: String::new(),
        config: None,
        state: RolloutState::Rollout,
        started: None,
        replicas: 3,
        partition: 2,
        seen: true,
        current_revision: String::new(),
        pods: pods.iter().enumerate().map(pod).collect(),
    }
}

fn valid(rollout: Rollout) -> Valid {
    let spec = json!({ "zones": ["a", "b"], "template": { "spec": { "replicas": 3, "template": {
        "metadata": { "labels": { "app": "web" } },
        "spec": { "containers": [{ "name": "c", "image": "good:1" }] },
    } } } });
    let mut spec: ZonedStatefulSetSpec = serde_json::from_value(spec).expect("is a spec");
    spec.rollout = rollout;
    let meta = Meta { name: "web".into(), ..Meta::default() };
    validate(&meta, &spec).expect("is a valid spec")
}

fn snapshot() -> Snapshot {
    Snapshot {
        now: "2026-01-01T01:00:00Z".parse::<Timestamp>().expect("is a time"),
        epoch: 1,
        nonce: "n".into(),
        owner: Arc::new(object("web", NEWEST, Value::Null)),
        objects: BTreeMap::new(),
        references: BTreeMap::new(),
        probes: BTreeMap::new(),
        exchanges: BTreeMap::new(),
        lock: palladion_plan::LockFact::Unasked,
        failure: None,
        settings: Default::default(),
    }
}

fn facts<'a>(snapshot: &'a Snapshot, sets: &[SetFact]) -> Facts<'a> {
    Facts {
        snapshot,
        spec: Err("is not looked at".into()),
        status: Default::default(),
        operator_config: None,
        sets: sets.iter().map(|s| (s.name.clone(), s.clone())).collect(),
    }
}

fn kind(proof: Option<Proof>) -> Option<ProofKind> {
    proof.map(|p| p.kind())
}

fn written(set: &SetFact, hash: &str, replicas: i32, partition: i32) -> Option<ProofKind> {
    let (snapshot, valid) = (snapshot(), valid(Rollout::Partitioned));
    let facts = facts(&snapshot, std::slice::from_ref(set));
    kind(may_be_written(&facts, &valid, set, Written { hash, replicas, partition }))
}

const NEW: (bool, bool) = (true, true);
const OLD: (bool, bool) = (false, true);
const NOT_READY: (bool, bool) = (true, false);

#[test]
fn one_more_pod_is_updated_where_those_before_it_are_available() {
    let tried = set("web-z0", (0, 1), &[OLD, OLD, NEW]);
    assert_eq!(written(&tried, NEWEST, 3, 1), Some(ProofKind::Tried));
    assert_eq!(written(&tried, NEWEST, 3, 0), None, "two at once");
    assert_eq!(written(&tried, "another", 3, 1), None, "another template was not tried");
    let failing = set("web-z0", (0, 1), &[OLD, OLD, NOT_READY]);
    assert_eq!(written(&failing, NEWEST, 3, 1), None);
    assert_eq!(written(&failing, NEWEST, 3, 2), Some(ProofKind::Wanted), "the canary itself");
    let dead = set("web-z0", (0, 1), &[NOT_READY, NOT_READY, NOT_READY]);
    assert_eq!(written(&dead, "another", 3, 0), Some(ProofKind::Idle));
}

#[test]
fn another_template_is_given_to_nobody_or_to_one() {
    let all = set("web-z0", (0, 1), &[NEW, NEW, NEW]);
    assert_eq!(written(&all, "another", 3, 3), Some(ProofKind::Vacant));
    assert_eq!(written(&all, "another", 3, 2), Some(ProofKind::Wanted));
    assert_eq!(written(&all, "another", 3, 0), None);
}

#[test]
fn what_was_given_before_may_be_given_again() {
    let mut lame = set("web-z0", (0, 1), &[NEW, NOT_READY, NEW]);
    assert_eq!(written(&lame, NEWEST, 3, 0), None);
    lame.partition = 0;
    assert_eq!(written(&lame, NEWEST, 3, 0), Some(ProofKind::Wanted));
    assert_eq!(written(&lame, "another", 3, 0), None);
}

#[test]
fn there_are_fewer_replicas_as_the_spec_has_them() {
    let mut four = set("web-z0", (0, 1), &[NEW, NEW, NEW, NEW]);
    four.replicas = 4;
    assert_eq!(written(&four, NEWEST, 3, 3), Some(ProofKind::Wanted));
    assert_eq!(written(&four, NEWEST, 2, 2), None);
    assert_eq!(written(&four, "another", 3, 0), None, "and a template that nobody has tried");
}

#[test]
fn only_recreate_stops_the_pods_of_an_older_template() {
    let (snapshot, set) = (snapshot(), set("web-z0", (0, 1), &[OLD]));
    let facts = facts(&snapshot, std::slice::from_ref(&set));
    let stopped = |rollout, hash| kind(may_be_stopped(&facts, &valid(rollout), &set, hash));
    assert_eq!(stopped(Rollout::Recreate, "another"), Some(ProofKind::Wanted));
    assert_eq!(stopped(Rollout::Recreate, NEWEST), None);
    assert_eq!(stopped(Rollout::Partitioned, "another"), None);
}

#[test]
fn a_set_is_superseded_by_what_serves_in_its_zone() {
    let (snapshot, valid) = (snapshot(), valid(Rollout::Versioned));
    let is_superseded = |sets: &[SetFact], wanted: &[&str]| {
        let wanted: BTreeSet<String> = wanted.iter().map(|w| w.to_string()).collect();
        let found = superseded(&facts(&snapshot, sets), &valid, &sets[0], &wanted);
        kind(found.map(|(_, proof)| proof)) == Some(ProofKind::Superseded)
    };
    let old = || set("web-z0-v1", (0, 1), &[OLD]);
    let newer = |pods: &[(bool, bool)]| set("web-z0-v2", (0, 2), pods);
    assert!(is_superseded(&[old(), newer(&[NEW])], &["web-z0-v2"]));
    assert!(!is_superseded(&[old(), newer(&[NOT_READY])], &["web-z0-v2"]));
    assert!(!is_superseded(&[old(), set("web-z1-v2", (1, 2), &[NEW])], &["web-z1-v2"]));
    assert!(!is_superseded(&[old()], &[]), "the last that serves stays");
    assert!(is_superseded(&[set("web-z2-v1", (2, 1), &[OLD])], &[]), "its zone is gone");
    let both = ["web-z0-v1", "web-z0-v2"];
    assert!(!is_superseded(&[old(), newer(&[NEW])], &both), "it is wanted itself");
}

#[test]
fn only_a_pod_that_is_not_ready_is_in_the_way() {
    let (snapshot, set) = (snapshot(), set("web-z0", (0, 1), &[NEW, NOT_READY]));
    let facts = facts(&snapshot, std::slice::from_ref(&set));
    let proof = |pod: &PodFact| {
        let why = crate::words::rollout::Obstacle::OldTemplate { pod: pod.words() };
        kind(not_ready(&facts, pod, &why))
    };
    assert_eq!(proof(&set.pods[0]), None);
    assert_eq!(proof(&set.pods[1]), Some(ProofKind::Idle));
}
