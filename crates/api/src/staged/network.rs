//! Addresses and ports of a staged service.

use crate::rules::staged as rules;
use kube_derive::KubeSchema;
use serde::{Deserialize, Serialize};

/// Addresses and ports.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct Network {
    /// By which address others reach a pod. Default `Service`. Immutable.
    #[serde(default)]
    pub addresses: Addresses,
    /// Ports that the service listens on. Dependents find them in `status.service`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    #[x_kube(validation = rules::ports_are_unique())]
    pub ports: Vec<Port>,
}

/// By which address others reach a pod.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum Addresses {
    /// The ClusterIP of a Service of its own, which stays when the pod is recreated.
    #[default]
    Service,
    /// Its own, which changes when the pod is recreated.
    #[serde(rename = "PodIP")]
    PodIp,
    /// That of its node: the pod uses the network of the node.
    HostNetwork,
}

/// A port of the service.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Port {
    /// Its name.
    #[schemars(length(min = 1, max = 15), regex(pattern = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"))]
    pub name: String,
    /// Its number.
    #[schemars(range(min = 1, max = 65535))]
    pub port: i32,
}
