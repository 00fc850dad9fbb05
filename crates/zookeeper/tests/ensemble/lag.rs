//! What an operator learns late or never: watches that lag, changes that nobody saw, and
//! clusters of the same name one after the other.

use super::model::Ensemble;
use super::world::{NAMESPACE, World, cluster_key};
use jiff::Timestamp;
use palladion_plan::sim::Feed;
use palladion_plan::{ObjectKey, Resource, Subresource};
use palladion_zookeeper::resources as kinds;
use serde_json::{Value, json};

impl World {
    /// How the watch of a kind follows, of every operator process that there is.
    pub fn set_feed(&mut self, resource: Resource, feed: Feed) {
        self.tell(&format!("the watch of {} is {feed:?}", resource.plural));
        for operator in &mut self.operators {
            operator.cache.set_feed(resource, feed);
            operator.resync();
        }
    }

    /// The operator is away while this happens.
    pub fn unobserved(&mut self, happens: impl FnOnce(&mut World)) {
        self.operators.clear();
        self.restart_at = Some(Timestamp::MAX);
        happens(self);
        self.restart_at = None;
        self.start_operator();
        self.settle();
    }

    /// A person deletes the cluster.
    pub fn delete_cluster(&mut self) {
        self.delete(kinds::CLUSTER, &cluster_key().name);
    }

    /// The cluster is there no more, and nothing of it runs.
    pub fn is_deleted(&self) -> bool {
        self.store.get(&cluster_key()).is_none() && self.store.list(kinds::POD).next().is_none()
    }

    /// What the last cluster acknowledged went with its volumes, as its user wanted.
    pub fn let_go_of_the_data(&mut self) {
        assert!(
            self.is_deleted() && self.store.names(kinds::CLAIM).is_empty(),
            "{}",
            self.last_words()
        );
        self.ensemble = Ensemble::default();
    }

    /// The spec of an object.
    pub fn spec(&self, resource: Resource, name: &str) -> Value {
        let key = ObjectKey::new(resource, NAMESPACE, name);
        self.store.get(&key).map(|o| o["spec"].clone()).unwrap_or_default()
    }

    /// Somebody edits an object of the operator.
    pub fn edit(&mut self, resource: Resource, name: &str, spec: Value) {
        self.tell(&format!("somebody edits {} {name}: {spec}", resource.kind));
        let key = ObjectKey::new(resource, NAMESPACE, name);
        self.store.merge(&key, &json!({ "spec": spec }), Subresource::None).unwrap();
    }
}
