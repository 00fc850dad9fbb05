//! A cluster that is deleted and created again, over the volumes that were kept.

use super::acts::node;
use super::world::{CLUSTER, NAMESPACE, World, cluster_key};
use palladion_plan::ObjectKey;
use palladion_rabbitmq::resources as kinds;
use serde_json::{Value, json};

impl World {
    /// A person deletes the cluster and creates it again when its pods are gone.
    fn recreate(&mut self) {
        self.recreate_with(&json!({}));
    }

    /// The same, with these fields in the new manifest.
    fn recreate_with(&mut self, changed: &Value) {
        let object = self.store.get(&cluster_key()).unwrap().clone();
        self.store.remove(&cluster_key());
        self.pass(60);
        assert!(self.kube.pods(&self.store).is_empty(), "{}", self.last_words());
        let mut new = json!({
            "apiVersion": object["apiVersion"], "kind": object["kind"], "spec": object["spec"],
        });
        new["metadata"] = json!({ "name": CLUSTER, "namespace": NAMESPACE });
        for (field, value) in changed.as_object().into_iter().flatten() {
            new["spec"][field] = value.clone();
        }
        self.store.create(&cluster_key(), &new).unwrap();
    }
}

/// The volumes keep their cookie: with another one no node that is new would reach them.
#[test]
fn no_second_secret_is_made_for_volumes_that_have_a_cookie() {
    let mut world = World::settled(3);
    let key = ObjectKey::new(kinds::SECRET, NAMESPACE, "demo-rmq");
    let kept = world.store.get(&key).unwrap().clone();
    world.store.remove(&key);
    world.recreate();
    world.settle();
    assert!(!world.exists(kinds::SECRET, "demo-rmq"), "{}", world.last_words());
    world.store.create(&key, &kept).unwrap();
    world.patch_spec(&json!({ "nodes": 5 }));
    world.settle();
    world.expect(5);
    assert_eq!(world.status()["credentials"]["secretName"], json!("demo-rmq"));
}

/// The volumes that were kept have the cookie of the right one, and the joiners have none.
#[test]
fn a_secret_that_was_named_by_mistake_over_kept_volumes_is_corrected_in_the_manifest() {
    let mut world = World::new();
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": { "name": "of-a-user", "namespace": NAMESPACE },
        "stringData": { "erlang-cookie": "chosen by a user" },
    });
    let key = ObjectKey::new(kinds::SECRET, NAMESPACE, "of-a-user");
    world.store.create(&key, &secret).unwrap();
    world.create(&json!({ "nodes": 3, "version": "3.10.8", "secretName": "of-a-user" }));
    world.settle();
    world.expect(3);
    world.recreate_with(&json!({ "nodes": 5, "secretName": "of-a-usr" }));
    world.settle();
    assert!(world.condition("Degraded").contains("of-a-usr"), "{}", world.condition("Degraded"));
    world.patch_spec(&json!({ "secretName": "of-a-user" }));
    world.settle();
    assert_eq!(world.status()["credentials"]["secretName"], json!("of-a-user"));
    world.expect(5);
}

/// The first joiner has its cookie, and no permit any more that says so.
#[test]
fn a_secret_is_settled_when_the_first_joiner_has_its_cookie() {
    let mut world = World::new();
    for name in ["first", "second"] {
        let secret = json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": { "name": name, "namespace": NAMESPACE },
            "stringData": { "erlang-cookie": name },
        });
        let key = ObjectKey::new(kinds::SECRET, NAMESPACE, name);
        world.store.create(&key, &secret).unwrap();
    }
    world.create(&json!({ "nodes": 3, "version": "3.10.8", "secretName": "first" }));
    world.settle();
    world.expect(3);
    world.recreate_with(&json!({ "nodes": 5, "secretName": "first" }));
    world.until(|w| {
        w.member(3)["status"]["permit"]["state"] == "Done" && w.member(3)["spec"]["start"].is_null()
    });
    world.patch_spec(&json!({ "secretName": "second" }));
    world.settle();
    let said = world.condition("Accepted");
    assert!(said.starts_with("False InvalidSpec") && said.contains("Secret first"), "{said}");
    world.patch_spec(&json!({ "secretName": "first" }));
    world.settle();
    world.expect(5);
}

/// The names of nodes stand on their volumes, and a joiner could reach nobody under another
/// domain.
#[test]
fn a_cluster_that_is_created_again_with_another_domain_goes_on_under_its_names() {
    let mut world = World::settled(3);
    world.recreate_with(&json!({ "nodes": 5, "clusterDomain": "other.local" }));
    world.settle();
    world.expect(5);
    assert_eq!(world.member(4)["spec"]["nodeName"], json!(node(4)));
}
