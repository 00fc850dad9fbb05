//! A cluster that is deleted and created again, over the volumes that were kept.

use super::world::{CLUSTER, NAMESPACE, World, cluster_key};
use palladion_plan::ObjectKey;
use palladion_rabbitmq::resources as kinds;
use serde_json::json;

impl World {
    /// A person deletes the cluster and creates it again when its pods are gone.
    fn recreate(&mut self) {
        let object = self.store.get(&cluster_key()).unwrap().clone();
        self.store.remove(&cluster_key());
        self.pass(60);
        assert!(self.kube.pods(&self.store).is_empty(), "{}", self.last_words());
        let mut new = json!({
            "apiVersion": object["apiVersion"], "kind": object["kind"], "spec": object["spec"],
        });
        new["metadata"] = json!({ "name": CLUSTER, "namespace": NAMESPACE });
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
