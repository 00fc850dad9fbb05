//! Protection of claims: one that is being deleted stays while a pod uses it.
//! And a driver that grows a bound volume as soon as its claim asks for more.

use super::claim_names;
use crate::object::ObjectKey;
use crate::plan::Subresource;
use crate::sim::kinds;
use crate::sim::store::Store;
use serde_json::json;

/// Let go of claims that are being deleted and that no pod on a node uses.
pub(super) fn run(store: &mut Store) {
    let free: Vec<ObjectKey> = store
        .list(kinds::CLAIM)
        .filter(|(_, claim)| claim["metadata"]["deletionTimestamp"].is_string())
        .filter(|(key, _)| !is_used(store, key))
        .map(|(key, _)| key.clone())
        .collect();
    for key in free {
        let _ = store.merge(&key, &json!({ "metadata": { "finalizers": [] } }), Subresource::None);
    }
}

/// Give bound claims what they ask for.
pub(super) fn grow(store: &mut Store) {
    let size = "/spec/resources/requests/storage";
    let growing: Vec<(ObjectKey, serde_json::Value)> = store
        .list(kinds::CLAIM)
        .filter(|(_, claim)| claim["status"]["phase"] == "Bound")
        .filter(|(_, claim)| claim.pointer(size) != claim.pointer("/status/capacity/storage"))
        .filter_map(|(key, claim)| Some((key.clone(), claim.pointer(size)?.clone())))
        .collect();
    for (key, size) in growing {
        let status = json!({ "phase": "Bound", "capacity": { "storage": size } });
        let _ = store.put_status(&key, status);
    }
}

fn is_used(store: &Store, claim: &ObjectKey) -> bool {
    store.list(kinds::POD).any(|(key, pod)| {
        key.namespace == claim.namespace
            && pod["spec"]["nodeName"].is_string()
            && claim_names(pod).any(|name| name == claim.name)
    })
}
