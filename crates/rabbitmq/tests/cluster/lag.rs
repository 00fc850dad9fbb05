//! What an operator learns late or never: watches that lag, changes that nobody saw, an
//! API server that is away, and clusters of the same name one after the other.

use super::model::Rabbit;
use super::world::{NAMESPACE, World, cluster_key};
use jiff::Timestamp;
use palladion_plan::sim::kubernetes::Machine;
use palladion_plan::sim::{Feed, Operator};
use palladion_plan::{ObjectKey, Resource};
use palladion_rabbitmq::resources as kinds;
use serde_json::Value;

/// Can anybody reach the API server?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Api {
    #[default]
    Reachable,
    Away,
}

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

    /// The API server is away for so long. Afterwards Nodes are late, as their kubelets
    /// could not renew their leases, and all pods on them count as not ready.
    pub fn without_api(&mut self, seconds: i64) {
        self.tell("the API server is away");
        self.api = Api::Away;
        self.operators.iter_mut().for_each(Operator::abandon);
        self.pass(seconds);
        let nodes = ["n1", "n2", "n3"];
        for node in nodes {
            self.kube.set_machine(&mut self.store, node, Machine::CutFromApi);
        }
        self.tell("the API server is back");
        self.api = Api::Reachable;
        self.pass(5);
        for node in nodes {
            self.kube.set_machine(&mut self.store, node, Machine::Up);
        }
    }

    /// A person deletes the cluster.
    pub fn delete_cluster(&mut self) {
        self.delete(kinds::CLUSTER, &cluster_key().name);
    }

    /// The cluster is there no more, and nothing of it runs.
    pub fn is_deleted(&self) -> bool {
        self.store.get(&cluster_key()).is_none() && self.store.list(kinds::POD).next().is_none()
    }

    /// What the last cluster confirmed went with its volumes, as its user wanted.
    pub fn let_go_of_the_data(&mut self) {
        assert!(
            self.is_deleted() && self.store.names(kinds::CLAIM).is_empty(),
            "{}",
            self.last_words()
        );
        self.rabbit = Rabbit::default();
    }

    /// The spec of an object.
    pub fn spec(&self, resource: Resource, name: &str) -> Value {
        let key = ObjectKey::new(resource, NAMESPACE, name);
        self.store.get(&key).map(|o| o["spec"].clone()).unwrap_or_default()
    }
}
