//! Who may connect to the pods of a ring, as far as Kubernetes decides it.

use crate::rules::network as rules;
use k8s_openapi::api::networking::v1::NetworkPolicyPeer;
use kube_derive::KubeSchema;
use serde::{Deserialize, Serialize};

/// Most peers of one list. Each is compared by a rule.
pub const MOST_PEERS: usize = 32;
/// Most ranges of clients of the load balancers. Each becomes a rule of a firewall.
pub const MOST_SOURCE_RANGES: usize = 32;

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
    /// Which addresses the members announce. Default: the ClusterIPs of their Services.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broadcast: Option<Broadcast>,
}

/// Which addresses the members announce.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(validation = rules::ranges_need_load_balancers())]
#[serde(rename_all = "camelCase")]
pub struct Broadcast {
    /// The address under which clients find a member (`broadcast_rpc_address`): drivers connect to one member, which names the others by these. A change restarts the members, one after the other. Members find each other by the ClusterIPs of their Services in any case. Default `ServiceClusterIP`.
    #[serde(default)]
    pub clients: ClientAddresses,
    /// Ranges of addresses from which clients may connect to the load balancers (`loadBalancerSourceRanges` of their Services), for example `203.0.113.0/24`. With `clients: LoadBalancer`, which requires them, and only then. Pods connect to the same addresses, so list their network too, if clients run in this Kubernetes cluster. They limit what arrives over the load balancers alone: not the ClusterIPs, and not the node ports that Kubernetes opens for a load balancer. With `policy: Managed`, `clientsFrom` must let these clients in, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(validation = rules::source_ranges_are_blocks())]
    #[schemars(length(min = 1, max = MOST_SOURCE_RANGES), inner(length(max = 43)))]
    pub source_ranges: Vec<String>,
}

/// Under which addresses clients find members.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum ClientAddresses {
    /// The ClusterIP of the member's Service: for clients in the Kubernetes cluster, or where its Service network is routed.
    #[default]
    #[serde(rename = "ServiceClusterIP")]
    ServiceClusterIp,
    /// The address of the member's pod, another one for each pod: for clients in networks to which the pod network is routed. Requires agents of this version.
    #[serde(rename = "PodIP")]
    PodIp,
    /// The address of a load balancer of the member's own, a Service `<member>-lb` with port 9042: for clients outside of the Kubernetes cluster. A member that has no such address yet is not started. Requires agents of this version, and a Kubernetes cluster that gives Services addresses, not names.
    LoadBalancer,
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
