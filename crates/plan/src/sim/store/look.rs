//! What tests look at of all objects of a kind.

use super::Store;
use crate::object::Resource;
use serde_json::Value;

impl Store {
    /// Names of objects of a kind, in all namespaces.
    pub fn names(&self, resource: Resource) -> Vec<String> {
        self.list(resource).map(|(key, _)| key.name.clone()).collect()
    }

    /// Names of objects of a kind with their uids, to see who was recreated.
    pub fn uids(&self, resource: Resource) -> Vec<(String, Value)> {
        let named = self.list(resource);
        named.map(|(key, object)| (key.name.clone(), object["metadata"]["uid"].clone())).collect()
    }
}
