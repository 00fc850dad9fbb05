//! When a pod of a staged service is ready.

use serde::{Deserialize, Serialize};

/// When a pod is ready.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Readiness {
    /// A GET from within a container must be answered with 200, and with no other code.
    pub http: HttpReadiness,
}

/// A GET from within a container.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct HttpReadiness {
    /// The container. It must have no readiness probe of its own.
    #[schemars(length(min = 1, max = 63))]
    pub container: String,
    /// The port.
    #[schemars(range(min = 1, max = 65535))]
    pub port: i32,
    /// The path. Default `/`.
    #[serde(default = "root")]
    #[schemars(length(min = 1, max = 255), regex(pattern = r"^/[!-~]*$"))]
    pub path: String,
    /// Which address of the pod is asked. Default `Loopback`.
    #[serde(default)]
    pub host: ProbeHost,
}

fn root() -> String {
    "/".to_string()
}

/// Which address of a pod is asked.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum ProbeHost {
    /// 127.0.0.1: what listens there need not be reachable from outside.
    #[default]
    Loopback,
    /// The address of the pod.
    #[serde(rename = "PodIP")]
    PodIp,
}
