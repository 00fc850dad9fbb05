//! The configuration of the servers: an immutable ConfigMap whose name carries
//! the hash of its content, so that old pods keep the old one.

use super::common::{cluster_labels, metadata};
use crate::validate::Valid;
use palladion_api::zookeeper::ZOOKEEPER_CONFIG_FILE;
use palladion_plan::hash;
use serde_json::{Value, json};

/// The ConfigMap that the pods mount.
pub fn config_map(valid: &Valid) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata(valid, &name(valid), &cluster_labels(valid)),
        "immutable": true,
        "data": data(valid),
    })
}

/// Its name.
pub fn name(valid: &Valid) -> String {
    format!("{}-{}", valid.set, hash::of(&data(valid)))
}

fn data(valid: &Valid) -> Value {
    json!({ ZOOKEEPER_CONFIG_FILE: json!(valid.server).to_string() })
}
