//! Containers of the user beside a ring's servers.

use super::SidecarCdc;
use crate::rules::sidecar as rules;
use k8s_openapi::api::core::v1::{EnvVar, ResourceRequirements};
use kube_derive::KubeSchema;
use serde::{Deserialize, Serialize};

/// Most sidecars of a ring.
pub const MOST_SIDECARS: usize = 4;

/// A container in every pod of the ring, beside the server. It has the network of the pod, and nothing else of it: no volume but a `/tmp` of its own and what `cdc` says, no token of Kubernetes, another user, and the security context that the server has (`restricted`, a read-only root file system).
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct Sidecar {
    /// Name of the container. Unique, and not `cassandra` or `install`.
    #[x_kube(validation = rules::name_is_free())]
    #[schemars(length(min = 1, max = 48))]
    pub name: String,
    /// Image with tag or digest.
    #[schemars(length(min = 1, max = 512))]
    pub image: String,
    /// What is run in place of the image's entrypoint.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub command: Vec<String>,
    /// Arguments in place of the image's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub args: Vec<String>,
    /// Environment variables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(validation = crate::rules::cluster::env_names_are_unique())]
    #[schemars(length(max = 64))]
    pub env: Vec<EnvVar>,
    /// Resources of the container. They are in addition to those of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourceRequirements>,
    /// Whether it reads what members keep by `cdc.mode`: with `ReadWrite` their directory is at `/cdc`, for it to read segments and to delete those that it has read. Default `Off`.
    #[serde(default, skip_serializing_if = "SidecarCdc::is_off")]
    pub cdc: SidecarCdc,
    /// Ports on which it listens.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8))]
    pub ports: Vec<SidecarPort>,
}

/// A port on which a sidecar listens. With `network.policy: Managed` nobody reaches it, unless a NetworkPolicy of the user opens it.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[serde(rename_all = "camelCase")]
pub struct SidecarPort {
    /// Name of the port, such as `metrics`.
    #[x_kube(validation = rules::port_name_is_one())]
    #[schemars(length(min = 1, max = 15))]
    pub name: String,
    /// Its number.
    #[schemars(range(min = 1, max = 65535))]
    pub port: i32,
}
