//! A claim that somebody deletes stays as long as its pod runs, and its data with it: no
//! pod of such a claim is ended by the operator.

use crate::world::{NAMESPACE, World, a_spec, recreated, with};
use palladion_api::Reason;
use palladion_plan::ObjectKey;
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

/// It is not restarted for its new template, and its data cannot be copied while it is down.
#[test]
fn a_pod_that_keeps_its_claim_starts_again_with_its_old_template() {
    let mut world = World::settled(with_claims(a_spec()));
    let uids = world.uids();
    world.end(kinds::CLAIM, "data-web-0");
    world.set_spec(with(with_claims(a_spec()), IMAGE, json!("good:2")));
    world.pass(60);
    for spec in [None, Some(json!("{{ dependencies.ring.attributes.datacenters }}"))] {
        if let Some(text) = spec {
            let newer = with(with_claims(a_spec()), IMAGE, json!("good:2"));
            world.set_spec(with(newer, "/config/files/0/template", text));
            world.pass(30);
        }
        world.restart_sandbox("web-0");
        world.pass(60);
        assert_eq!(world.uids()["web-0"], uids["web-0"]);
        assert!(world.is_ready("web-0"), "{}", world.status());
    }
}

/// The newest template may mount texts where the pod has none, or none where it has some.
#[test]
fn a_pod_that_keeps_its_claim_starts_again_with_what_it_mounts() {
    let mut without = with_claims(a_spec());
    without.as_object_mut().unwrap().remove("config");
    for (before, after) in
        [(with_claims(a_spec()), without.clone()), (without, with_claims(a_spec()))]
    {
        let mut world = World::settled(before);
        let uids = world.uids();
        world.end(kinds::CLAIM, "data-web-0");
        world.set_spec(after);
        world.pass(60);
        world.restart_sandbox("web-0");
        world.pass(60);
        assert_eq!(world.uids()["web-0"], uids["web-0"]);
        assert!(world.is_ready("web-0"), "{}", world.status());
    }
}

/// The others wait for it to be recreated, and start meanwhile as they are.
#[test]
fn a_recreation_that_waits_for_a_claim_keeps_nobody_down() {
    let mut world = World::settled(with_claims(recreated(a_spec())));
    world.end(kinds::CLAIM, "data-web-1");
    world.set_spec(with(with_claims(recreated(a_spec())), IMAGE, json!("good:2")));
    world.pass(60);
    world.restart_sandbox("web-0");
    world.pass(60);
    assert!(world.is_ready("web-0"), "{}", world.status());
    assert!(world.is_ready("web-1"), "{}", world.status());
}

#[test]
fn a_claim_that_is_gone_is_said_to_be_gone_or_unlabelled() {
    let mut world = World::settled(with_claims(a_spec()));
    let key = ObjectKey::new(kinds::CLAIM, NAMESPACE, "data-web-0");
    world.store.remove(&key);
    world.operator.resync();
    world.settle();
    world.set_spec(with(with_claims(a_spec()), IMAGE, json!("good:2")));
    world.pass(60);
    let message = world.condition("Progressing")["message"].to_string();
    assert!(message.contains("if it does not exist, delete the pod"), "{message}");
    assert!(message.contains("kubectl label pvc data-web-0 -n "), "{message}");
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

#[test]
fn a_pod_that_is_kept_for_its_claim_is_not_recreated_with_the_others() {
    let of = |pods: i32| with(with_claims(recreated(a_spec())), "/replicas", json!(pods));
    let mut world = World::settled(of(3));
    let (uids, data) = (world.uids(), uid_of_claim(&world, "data-web-2"));
    world.end(kinds::CLAIM, "data-web-2");
    // The others have a peer less.
    world.set_spec(of(2));
    world.pass(60);
    assert_eq!(world.uids()["web-2"], uids["web-2"]);
    assert_eq!(uid_of_claim(&world, "data-web-2"), data);
    assert_eq!(world.says("Progressing"), format!("True {}", Reason::ClaimTerminating));
    // A person lets go of the data.
    world.end_pod("web-2");
    world.pass(60);
    assert!(world.is_at_rest(), "{}", world.status());
    assert_eq!(world.uids().len(), 2);
}

/// A claim by the name that the set has for it is used as it is, and gets no label.
#[test]
fn a_claim_that_was_there_before_is_not_taken_for_none() {
    let mut world = World::new(with_claims(a_spec()));
    let key = palladion_plan::ObjectKey::new(kinds::CLAIM, "shop", "data-web-0");
    let claim = json!({ "metadata": { "name": "data-web-0", "namespace": "shop" } });
    world.store.create(&key, &claim).unwrap();
    world.ring(3, 3);
    world.pass(20);
    assert!(world.is_at_rest(), "{}", world.status());
    let (uids, data) = (world.uids(), uid_of_claim(&world, "data-web-0"));
    world.end(kinds::CLAIM, "data-web-0");
    world.ring(4, 4);
    world.pass(60);
    assert_eq!(world.uids()["web-0"], uids["web-0"]);
    assert_eq!(uid_of_claim(&world, "data-web-0"), data);
    assert_ne!(world.uids()["web-1"], uids["web-1"], "the other pod is not held up");
    assert_eq!(world.says("Progressing"), format!("True {}", Reason::FactUnknown));
    let message = world.condition("Progressing")["message"].to_string();
    for word in ["data-web-0", "palladion.dev/component=web", "kubectl label"] {
        assert!(message.contains(word), "{word}: {message}");
    }
    let labelled = json!({ "metadata": { "labels": { "palladion.dev/component": "web" } } });
    world.store.merge(&key, &labelled, palladion_plan::Subresource::None).unwrap();
    world.pass(60);
    assert_eq!(world.uids()["web-0"], uids["web-0"]);
    assert_eq!(world.says("Degraded"), format!("True {}", Reason::ClaimTerminating));
}
