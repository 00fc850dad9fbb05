//! Who may connect to the pods of a ring. Nobody is named twice: what no rule lets in stays out,
//! so each port that a pod opens is in one of them.

use super::common::{cluster_labels, metadata, of_datacenter};
use crate::validate::{Valid, ValidNetwork};
use k8s_openapi::api::networking::v1::NetworkPolicyPeer;
use palladion_api::labels::{self, ports};
use serde_json::{Value, json};

/// The NetworkPolicy of the ring. It says nothing of what its pods may connect to.
pub fn network_policy(valid: &Valid, network: &ValidNetwork) -> Value {
    let pods = json!({ "matchLabels": {
        labels::CLUSTER: valid.name,
        labels::DATACENTER: valid.datacenter,
    } });
    // The exporter is the only one that listens there.
    let exports = valid.racks.iter().any(|rack| rack.jmx_exporter.is_some());
    let metrics: Vec<i32> =
        [ports::AGENT].into_iter().chain(exports.then_some(ports::PROMETHEUS)).collect();
    let own = json!({ "podSelector": pods });
    let members: Vec<Value> =
        std::iter::once(own).chain(network.members.iter().map(|peer| json!(peer))).collect();
    json!({
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": metadata(valid, &of_datacenter(valid), &cluster_labels(valid)),
        "spec": {
            "podSelector": pods,
            "policyTypes": ["Ingress"],
            "ingress": [
                { "ports": numbers(&[ports::INTERNODE]), "from": members },
                open(&[ports::CQL], &network.clients),
                open(&metrics, &network.metrics),
            ],
        },
    })
}

/// A rule without `from` lets in everybody; an empty list of peers means the same there.
fn open(to: &[i32], from: &[NetworkPolicyPeer]) -> Value {
    let mut rule = json!({ "ports": numbers(to) });
    if !from.is_empty() {
        rule["from"] = json!(from);
    }
    rule
}

fn numbers(all: &[i32]) -> Value {
    all.iter().map(|port| json!({ "port": port, "protocol": "TCP" })).collect()
}
