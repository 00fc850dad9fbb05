//! Nodes: how they are, and which pods are on them.

use super::{NAMESPACE, World};
use palladion_plan::{Mind, ObjectKey, Subresource};
use palladion_stack::resources as kinds;
use serde_json::json;

impl<M: Mind + Clone + Default> World<M> {
    /// The state of a node, in the word of its condition `Ready`.
    pub fn node(&mut self, name: &str, ready: &str) {
        let key = ObjectKey::new(kinds::NODE, "", name);
        if self.store.get(&key).is_none() {
            self.store.create(&key, &json!({ "metadata": { "name": name } })).unwrap();
        }
        let condition = json!({ "type": "Ready", "status": ready });
        self.store.put_status(&key, json!({ "conditions": [condition] })).unwrap();
        self.settle();
    }

    /// The pod runs on this node.
    pub fn move_to(&mut self, pod: &str, node: &str) {
        let key = ObjectKey::new(kinds::POD, NAMESPACE, pod);
        let bound = json!({ "spec": { "nodeName": node } });
        self.store.merge(&key, &bound, Subresource::None).unwrap();
        self.settle();
    }
}
