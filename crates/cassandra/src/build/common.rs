//! What every object has: labels and the owner.

use crate::validate::{Valid, ValidRack};
use palladion_api::cluster::Mode;
use palladion_api::{labels, names};
use serde_json::{Map, Value, json};

/// Labels of everything that belongs to the cluster.
pub fn cluster_labels(valid: &Valid) -> Map<String, Value> {
    let name = match valid.mode {
        Mode::Cassandra => "cassandra",
        Mode::Scylla => "scylla",
    };
    [
        ("app", name),
        (labels::APP_NAME, name),
        (labels::MANAGED_BY, labels::PALLADION),
        (labels::CLUSTER, &valid.name),
        (labels::DATACENTER, &valid.datacenter),
    ]
    .into_iter()
    .map(|(key, value)| (key.to_string(), Value::from(value)))
    .collect()
}

/// The name of what there is one of in a datacenter.
pub fn of_datacenter(valid: &Valid) -> String {
    format!("{}-{}", valid.name, names::dns(&valid.datacenter))
}

/// Labels of everything that belongs to a rack.
pub fn rack_labels(valid: &Valid, rack: &ValidRack) -> Map<String, Value> {
    let mut all = cluster_labels(valid);
    all.insert(labels::RACK.into(), Value::from(rack.name.as_str()));
    all
}

/// What a rack's set and Services select by: it can never change.
pub fn rack_selector(valid: &Valid, rack: &ValidRack) -> Value {
    json!({
        labels::CLUSTER: valid.name,
        labels::DATACENTER: valid.datacenter,
        labels::RACK: rack.name,
    })
}

/// Metadata of an object that the cluster owns.
pub fn metadata(valid: &Valid, name: &str, labels: &Map<String, Value>) -> Value {
    json!({
        "name": name,
        "namespace": valid.namespace,
        "labels": labels,
        "ownerReferences": [{
            "apiVersion": format!("{}/{}", palladion_api::GROUP, palladion_api::VERSION),
            "kind": "CassandraCluster",
            "name": valid.name,
            "uid": valid.uid,
            "controller": true,
            "blockOwnerDeletion": true,
        }],
    })
}
