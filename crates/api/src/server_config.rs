//! What the operator tells the agent about the server, through the immutable
//! ConfigMap that the pod template mounts: all that is the same for a rack.
//! The agent adds only what is local to its pod (addresses, CPU, memory).

use crate::cluster::Mode;
use crate::ids::RackName;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// File name (and ConfigMap key) of the serialised [`ServerConfig`].
pub const SERVER_CONFIG_FILE: &str = "server.json";
/// File name (and ConfigMap key) of the JMX exporter's configuration, if the exporter is on.
pub const JMX_EXPORTER_FILE: &str = "jmx_exporter_config.yaml";
/// Where the pod template mounts the ConfigMap.
pub const CONFIG_DIR: &str = "/etc/palladion";
/// Where the init container puts the agent and its jars, as in Rook's Cassandra operator.
pub const SHARED_DIR: &str = "/mnt/shared";

/// Configuration of a rack's servers.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ServerConfig {
    /// Cassandra or Scylla.
    pub mode: Mode,
    /// Version as the spec has it; the agent picks the capability table by it.
    pub version: String,
    /// Name of the ring.
    pub ring: String,
    /// Datacenter.
    pub datacenter: String,
    /// Rack.
    pub rack: RackName,
    /// Tokens per member.
    pub num_tokens: u32,
    /// Heap in MiB, where the person set one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heap_mib: Option<u64>,
    /// Overrides for `cassandra.yaml` or `scylla.yaml`: cluster's, then rack's.
    #[serde(default)]
    pub config: BTreeMap<String, serde_json::Value>,
    /// Further JVM options, in order.
    #[serde(default)]
    pub jvm_options: Vec<String>,
    /// Scylla in developer mode.
    #[serde(default)]
    pub developer_mode: bool,
    /// Run the JMX exporter with the file [`JMX_EXPORTER_FILE`].
    #[serde(default)]
    pub jmx_exporter: bool,
}
