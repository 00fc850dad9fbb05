//! The objects that a testbed's cluster has from its first moment: roles, name
//! servers, the storage class and its volumes.

use serde_json::{Value, json};

use crate::config::Node;
use crate::images;
use crate::site::Site;

/// The storage class of the nodes' local volumes, the default one.
pub const STORAGE_CLASS: &str = "local";

const SYSTEM: &str = include_str!("manifests/system.yaml");

/// All objects, as a YAML stream.
pub fn manifests(site: &Site) -> String {
    let mut stream = SYSTEM
        .replace("$COREDNS", images::COREDNS)
        .replace("$DNS", &site.plan.dns_service().to_string());
    for node in site.config.node_list() {
        for number in 1..=site.config.volumes_per_node {
            stream.push_str("---\n");
            stream.push_str(&volume(site, node, number).to_string());
            stream.push('\n');
        }
    }
    stream
}

/// The name of a node's volume; `number` counts from 1.
pub fn volume_name(node: Node, number: u8) -> String {
    format!("local-{}-v{number}", node.name())
}

fn volume(site: &Site, node: Node, number: u8) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": volume_name(node, number)},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": format!("{}Gi", site.config.volume_size_gib)},
            "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": STORAGE_CLASS,
            "local": {"path": site.volume_dir(node, number)},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [{
                "key": "kubernetes.io/hostname", "operator": "In", "values": [node.name()],
            }]}]}},
        },
    })
}
