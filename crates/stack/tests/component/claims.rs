//! A claim that somebody deletes stays as long as its pod runs, and its data with it: no
//! pod of such a claim is ended by the operator.

use crate::world::{World, a_spec, recreated, with};
use palladion_api::Reason;
use palladion_stack::resources as kinds;
use serde_json::{Value, json};

const IMAGE: &str = "/template/spec/containers/0/image";

fn with_claims(spec: Value) -> Value {
    let claims = json!([{ "metadata": { "name": "data" }, "spec": { "storageClassName": "" } }]);
    with(spec, "/volumeClaimTemplates", claims)
}

fn uid_of_claim(world: &World, name: &str) -> Value {
    world.get(kinds::CLAIM, name).unwrap()["metadata"]["uid"].clone()
}

#[test]
fn a_pod_whose_claim_is_being_deleted_is_not_restarted() {
    let mut world = World::settled(with_claims(a_spec()));
    let (uids, data) = (world.uids(), uid_of_claim(&world, "data-web-1"));
    world.end(kinds::CLAIM, "data-web-1");
    assert_eq!(world.says("Degraded"), format!("True {}", Reason::ClaimTerminating));
    let message = world.condition("Degraded")["message"].to_string();
    assert!(message.contains("data-web-1") && message.contains("copy the data"), "{message}");
    world.ring(4, 4);
    world.set_spec(with(with_claims(a_spec()), IMAGE, json!("good:2")));
    world.pass(60);
    assert_eq!(world.uids()["web-1"], uids["web-1"]);
    assert_ne!(world.uids()["web-0"], uids["web-0"], "the other pod is not held up");
    assert_eq!(world.says("Progressing"), format!("True {}", Reason::ClaimTerminating));
    assert_eq!(uid_of_claim(&world, "data-web-1"), data);
    let writes = world.writes();
    world.pass(600);
    assert_eq!(world.writes(), writes, "at rest nothing is written");
    // A person lets go of the data.
    world.end_pod("web-1");
    world.pass(60);
    assert!(world.is_at_rest(), "{}", world.status());
    assert_ne!(uid_of_claim(&world, "data-web-1"), data);
    assert_eq!(world.says("Degraded"), "False UpToDate");
}

#[test]
fn a_pod_that_is_not_ready_keeps_its_claim_too() {
    let mut world = World::settled(with_claims(a_spec()));
    world.end(kinds::CLAIM, "data-web-1");
    world.kubelet.sick.insert("web-1".into());
    let uids = world.uids();
    world.set_spec(with(with_claims(a_spec()), IMAGE, json!("good:2")));
    world.pass(60);
    assert_eq!(world.uids()["web-1"], uids["web-1"]);
}

#[test]
fn nobody_is_recreated_while_one_claim_is_being_deleted() {
    let mut world = World::settled(with_claims(recreated(a_spec())));
    let uids = world.uids();
    world.end(kinds::CLAIM, "data-web-0");
    world.ring(4, 4);
    world.pass(60);
    assert_eq!(world.uids(), uids);
    assert_eq!(world.set()["spec"]["replicas"], 2);
    assert_eq!(world.says("Progressing"), format!("True {}", Reason::ClaimTerminating));
}

#[test]
fn a_pod_whose_claim_is_being_deleted_is_not_scaled_away() {
    let fewer = || with(with_claims(a_spec()), "/replicas", json!(1));
    let mut world = World::settled(with_claims(a_spec()));
    let uids = world.uids();
    world.end(kinds::CLAIM, "data-web-1");
    world.set_spec(fewer());
    world.pass(60);
    assert_eq!(world.uids()["web-1"], uids["web-1"]);
    assert!(world.shows(Reason::ClaimTerminating), "{}", world.status());
    world.end_pod("web-1");
    world.pass(60);
    assert_eq!(world.uids().keys().collect::<Vec<_>>(), ["web-0"]);
    assert!(world.is_at_rest(), "{}", world.status());
    // The claim of a pod that stays is none of this.
    let mut world = World::settled(with_claims(a_spec()));
    world.end(kinds::CLAIM, "data-web-0");
    world.set_spec(fewer());
    world.pass(60);
    assert_eq!(world.uids().keys().collect::<Vec<_>>(), ["web-0"]);
}

#[test]
fn a_claim_that_all_pods_share_is_looked_at_by_its_name() {
    let volume = json!([{ "name": "all", "persistentVolumeClaim": { "claimName": "shared" } }]);
    let spec = with(a_spec(), "/template/spec/volumes", volume);
    let mut world = World::new(spec);
    let key = palladion_plan::ObjectKey::new(kinds::CLAIM, "shop", "shared");
    world.store.create(&key, &json!({ "metadata": { "name": "shared" } })).unwrap();
    world.ring(3, 3);
    world.pass(20);
    let uids = world.uids();
    world.end(kinds::CLAIM, "shared");
    world.ring(4, 4);
    world.pass(60);
    assert_eq!(world.uids(), uids);
    assert!(world.shows(Reason::ClaimTerminating), "{}", world.status());
}
