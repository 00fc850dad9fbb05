//! Who may connect to the pods of a ring, as far as Kubernetes decides it.

use crate::rules::network as rules;
use k8s_openapi::api::networking::v1::NetworkPolicyPeer;
use kube_derive::KubeSchema;
use serde::{Deserialize, Serialize};

/// Most peers of one list. Each is compared by a rule.
pub const MOST_PEERS: usize = 32;

/// Who may connect to the members of a ring.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(validation = rules::peers_need_a_policy())]
#[serde(rename_all = "camelCase")]
pub struct Network {
    /// `Managed`: the operator keeps a NetworkPolicy for the pods of the ring. Port 7000 is open to the members of the ring, port 9042 to `clientsFrom`, port 8080 (the agent) and, where a rack has `jmxExporterConfigMapName`, port 9180 to `metricsFrom`, and no other port to anybody. `None`: the operator keeps none, and removes its own. Default `None`. It restarts nobody, and takes effect only where the network of the Kubernetes cluster enforces NetworkPolicies.
    #[serde(default)]
    pub policy: PolicyMode,
    /// Who may connect to port 9042, as in a NetworkPolicy. Default: everybody. Requires `policy: Managed`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(validation = rules::peers_are_of_one_kind())]
    #[schemars(length(min = 1, max = MOST_PEERS))]
    pub clients_from: Vec<NetworkPolicyPeer>,
    /// Who may read metrics, on ports 8080 and 9180, as in a NetworkPolicy. Default: everybody. Requires `policy: Managed`. Probes are not affected: a node always reaches its own pods.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(validation = rules::peers_are_of_one_kind())]
    #[schemars(length(min = 1, max = MOST_PEERS))]
    pub metrics_from: Vec<NetworkPolicyPeer>,
    /// Whether members elsewhere reach the ClusterIPs of this Kubernetes cluster, and its members theirs. Only you can know: Kubernetes does not say. `externalSeeds` requires it. Default false.
    #[serde(default, rename = "clusterIPsAreRouted")]
    pub cluster_ips_are_routed: bool,
}

/// Whether the operator keeps a NetworkPolicy.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum PolicyMode {
    /// It keeps none.
    #[default]
    None,
    /// It keeps one.
    Managed,
}
