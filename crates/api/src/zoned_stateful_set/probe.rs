//! Probes that tell which pod is active. Not Kubernetes' own probe type: fields
//! that the prober does not act on do not exist here.

use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube_derive::KubeSchema;
use serde::{Deserialize, Serialize};

/// A probe of one container, run by the operator.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[x_kube(crates(kube_core = "::kube_core"))]
#[x_kube(
    validation = Rule::new("(has(self.exec) ? 1 : 0) + (has(self.httpGet) ? 1 : 0) + (has(self.tcpSocket) ? 1 : 0) + (has(self.grpc) ? 1 : 0) == 1")
        .message("a probe must have exactly one of `exec`, `httpGet`, `tcpSocket` and `grpc`")
)]
#[serde(rename_all = "camelCase")]
pub struct ActiveProbe {
    /// Run a command in the container; exit code 0 passes. Needs the chart value `zonedStatefulSet.allowExec`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exec: Option<ExecAction>,
    /// Send an HTTP GET request; a status from 200 to 399 passes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_get: Option<HttpGetAction>,
    /// Open a TCP connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp_socket: Option<TcpSocketAction>,
    /// Call the gRPC health service; SERVING passes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grpc: Option<GrpcAction>,
    /// Seconds between two probes. Default 30.
    #[serde(default = "default_period")]
    #[schemars(range(min = 1, max = 3600))]
    pub period_seconds: u32,
    /// Seconds after which a probe without an answer fails. Default 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 3600))]
    pub timeout_seconds: u32,
    /// Number of consecutive failures after which a passing pod counts as failing. Default 3.
    #[serde(default = "three")]
    #[schemars(range(min = 1, max = 100))]
    pub failure_threshold: u32,
    /// Number of consecutive passes after which a failing pod counts as passing. Default 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 100))]
    pub success_threshold: u32,
}

/// Run a command.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecAction {
    /// The command and its arguments. It does not run in a shell.
    #[schemars(length(min = 1, max = 64))]
    pub command: Vec<String>,
}

/// An HTTP GET request.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct HttpGetAction {
    /// Path. Default `/`.
    #[serde(default = "root")]
    pub path: String,
    /// Port number, or name of a port of the container.
    pub port: IntOrString,
    /// Headers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub http_headers: Vec<HttpHeader>,
}

/// One header.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpHeader {
    /// Name.
    pub name: String,
    /// Value.
    pub value: String,
}

/// Open a TCP connection.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq)]
pub struct TcpSocketAction {
    /// Port number, or name of a port of the container.
    pub port: IntOrString,
}

/// A call of the gRPC health service, without TLS.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
pub struct GrpcAction {
    /// Port number.
    #[schemars(range(min = 1, max = 65535))]
    pub port: u16,
    /// Name of the service to check. Default: the server as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
}

fn root() -> String {
    "/".to_string()
}
fn default_period() -> u32 {
    30
}
fn one() -> u32 {
    1
}
fn three() -> u32 {
    3
}
