//! Settings that are the operator's or the agent's own, and what a person sets
//! instead; names and ports of containers that are theirs. Admission rules, validation and reference are all made from here.

use crate::labels::ports;
use serde_json::{Value, json};

/// What kind of value a setting takes, as far as a schema must know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A number or a text.
    Scalar,
    /// `true` or `false`.
    Flag,
    /// A list of texts.
    Texts,
    /// A list of maps.
    Maps,
}

/// A setting that users may not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reserved {
    /// The setting, or the beginning of it where that is said.
    pub name: &'static str,
    /// What to do instead, as the end of a sentence.
    pub instead: &'static str,
}

const ADDRESSES: &str = "addresses come from the member's pod and Service";
const DIRECTORIES: &str = "all directories are on the member's only volume";
const PORTS: &str = "the member's Service defines the ports";
const JOINING: &str = "the operator controls when members join, leave and are replaced";
const REST: &str = "the REST API listens on the loopback interface, for the agent only";
const RACK: &str = "racks and datacenter come from `datacenter`";
const ONE_AT_A_TIME: &str = "members join one at a time";
const DURABLE: &str =
    "what was acknowledged must outlive a crash; replace a member whose commit log is damaged";
const LINEARIZABLE: &str =
    "lightweight transactions need this repair whenever members join, leave or are replaced";
const ABSENCES: &str = "repairs after absences are planned by `max_hint_window` in `config`";
const FORGETTING: &str = "addresses of members that left are reserved for as long as Cassandra remembers them by default";
const JMX: &str = "JMX and Jolokia listen on the loopback interface, for the agent only";

const fn reserved(name: &'static str, instead: &'static str) -> Reserved {
    Reserved { name, instead }
}

/// Settings of `cassandra.yaml` and `scylla.yaml`.
pub const CONFIG: &[(Reserved, Shape)] = &[
    (reserved("cluster_name", "set `ringName` instead"), Shape::Scalar),
    (reserved("num_tokens", "set `numTokens` instead"), Shape::Scalar),
    (reserved("initial_token", "tokens are allocated automatically"), Shape::Scalar),
    (reserved("partitioner", "all rings use Murmur3Partitioner"), Shape::Scalar),
    (reserved("seed_provider", "set `seedsPerRack` instead"), Shape::Maps),
    (reserved("endpoint_snitch", RACK), Shape::Scalar),
    (reserved("listen_address", ADDRESSES), Shape::Scalar),
    (reserved("listen_interface", ADDRESSES), Shape::Scalar),
    (reserved("listen_on_broadcast_address", ADDRESSES), Shape::Flag),
    (reserved("broadcast_address", ADDRESSES), Shape::Scalar),
    (reserved("rpc_address", ADDRESSES), Shape::Scalar),
    (reserved("rpc_interface", ADDRESSES), Shape::Scalar),
    (reserved("broadcast_rpc_address", ADDRESSES), Shape::Scalar),
    (reserved("api_address", REST), Shape::Scalar),
    (reserved("api_port", REST), Shape::Scalar),
    (reserved("prometheus_address", "the operator sets the metrics address"), Shape::Scalar),
    (reserved("prometheus_port", PORTS), Shape::Scalar),
    (reserved("storage_port", PORTS), Shape::Scalar),
    (reserved("ssl_storage_port", PORTS), Shape::Scalar),
    (reserved("native_transport_port", PORTS), Shape::Scalar),
    (reserved("native_transport_port_ssl", PORTS), Shape::Scalar),
    (reserved("start_native_transport", "the agent starts the native transport"), Shape::Flag),
    (reserved("auto_bootstrap", JOINING), Shape::Flag),
    (reserved("join_ring", JOINING), Shape::Flag),
    (reserved("override_decommission", JOINING), Shape::Flag),
    (reserved("replace_address", JOINING), Shape::Scalar),
    (reserved("replace_address_first_boot", JOINING), Shape::Scalar),
    (reserved("replace_node_first_boot", JOINING), Shape::Scalar),
    (reserved("workdir", DIRECTORIES), Shape::Scalar),
    (reserved("data_file_directories", DIRECTORIES), Shape::Texts),
    (reserved("local_system_data_file_directory", DIRECTORIES), Shape::Scalar),
    (reserved("commitlog_directory", DIRECTORIES), Shape::Scalar),
    (reserved("hints_directory", DIRECTORIES), Shape::Scalar),
    (reserved("view_hints_directory", DIRECTORIES), Shape::Scalar),
    (reserved("saved_caches_directory", DIRECTORIES), Shape::Scalar),
    (reserved("cdc_raw_directory", DIRECTORIES), Shape::Scalar),
];

/// JVM options, by their beginning. Those of Cassandra are system properties
/// ([`CassandraRelevantProperties`](https://github.com/apache/cassandra/blob/cassandra-5.0/src/java/org/apache/cassandra/config/CassandraRelevantProperties.java)),
/// some of which overrule `cassandra.yaml`: with `auto_bootstrap` off a member joins and streams nothing.
pub const JVM_OPTIONS: &[Reserved] = &[
    reserved("-Xmx", "set `heapSize` instead"),
    reserved("-Xms", "set `heapSize` instead"),
    reserved("-Dcassandra.config", "set `config` instead"),
    reserved("-Dcassandra.settings.", "set `config` instead"),
    reserved("-Dcassandra-rackdc", RACK),
    reserved("-Dcassandra.ignore_dc", RACK),
    reserved("-Dcassandra.ignore_rack", RACK),
    reserved("-Dcassandra.storagedir", DIRECTORIES),
    reserved("-Dcassandra.partitioner", "all rings use Murmur3Partitioner"),
    reserved("-Dcassandra.initial_token", "tokens are allocated automatically"),
    reserved("-Dcassandra.num_tokens", "set `numTokens` instead"),
    reserved("-Dcassandra.auto_bootstrap", JOINING),
    reserved("-Dcassandra.write_survey", JOINING),
    reserved("-Dcassandra.start_gossip", JOINING),
    reserved("-Dcassandra.load_ring_state", JOINING),
    reserved("-Dcassandra.skip_schema_check", JOINING),
    reserved("-Dcassandra.replace_", JOINING),
    reserved("-Dcassandra.allow_empty_replace_address", JOINING),
    reserved("-Dcassandra.allow_unsafe_", JOINING),
    reserved("-Dcassandra.join_ring", JOINING),
    reserved("-Dcassandra.override_decommission", JOINING),
    reserved("-Dcassandra.reset_bootstrap_progress", JOINING),
    reserved("-Dcassandra.consistent.rangemovement", ONE_AT_A_TIME),
    reserved("-Dcassandra.consistent.simultaneousmoves", ONE_AT_A_TIME),
    reserved("-Dcassandra.skip_sync", DURABLE),
    reserved("-Dcassandra.unsafesystem", DURABLE),
    reserved("-Dcassandra.replayList", DURABLE),
    reserved("-Dcassandra.commitlog.ignorereplayerrors", DURABLE),
    reserved("-Dcassandra.commitlog.allow_ignore_sync_crc", DURABLE),
    reserved("-Dcassandra.skip_paxos_", LINEARIZABLE),
    reserved("-Dcassandra.paxos_repair_allow_multiple_pending_unsafe", LINEARIZABLE),
    reserved("-Dcassandra.maxHintTTL", ABSENCES),
    reserved("-Dcassandra.very_long_time_ms", FORGETTING),
    reserved("-Dcassandra.gossip.disable_endpoint_removal", FORGETTING),
    reserved("-Dcassandra.jmx", JMX),
    reserved("-Dcassandra.start_native_transport", "the agent starts the native transport"),
    reserved("-Dcassandra.native_transport_port", PORTS),
    reserved("-Dcassandra.storage_port", PORTS),
    reserved("-Dcassandra.ssl_storage_port", PORTS),
    reserved("-Dcom.sun.management.jmxremote", JMX),
];

/// A word that makes a `-javaagent:` option the agent's own.
pub const JAVA_AGENT: Reserved = reserved("jolokia", JMX);

/// Environment variables that the pod template sets, and those by which images of
/// Cassandra are told what the spec says: nobody reads them here.
pub const ENV: &[&str] = &[
    "NODE_NAME",
    "CPU_LIMIT",
    "MEMORY_LIMIT",
    "CASSANDRA_SEEDS",
    "CASSANDRA_CLUSTER_NAME",
    "CASSANDRA_NUM_TOKENS",
    "CASSANDRA_DC",
    "CASSANDRA_RACK",
    "CASSANDRA_ENDPOINT_SNITCH",
    "CASSANDRA_LISTEN_ADDRESS",
    "CASSANDRA_BROADCAST_ADDRESS",
    "CASSANDRA_RPC_ADDRESS",
    "CASSANDRA_BROADCAST_RPC_ADDRESS",
];

/// Environment variables from which a JVM or its start scripts take options: with
/// those a server could join or replace without a permit. The agent keeps them from
/// servers, also where an older operator let a user set them.
pub const JVM_ENV: &[&str] =
    &["JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JVM_OPTS", "JVM_EXTRA_OPTS"];

/// Beginnings of environment variables that are the pod template's, the agent's or Kubernetes'.
pub const ENV_PREFIXES: &[&str] = &["POD_", "PALLADION_", "KUBERNETES_"];

/// Names of the containers of a member's pod.
pub const CONTAINERS: [&str; 3] = ["cassandra", "scylla", "install"];

/// Ports of the server and of its agent, on all addresses of a pod or on the loopback address.
pub const LISTENING: [i32; 9] = [
    ports::INTERNODE,
    ports::INTERNODE_TLS,
    ports::JMX,
    ports::AGENT,
    ports::JOLOKIA,
    ports::CQL,
    ports::CQL_TLS,
    ports::THRIFT,
    ports::PROMETHEUS,
];

/// Least memory limit of a Cassandra member: with a heap of 400 MB a server is
/// about 800 MB resident, and below this it is killed while it starts.
pub const LEAST_MEMORY_MIB: u64 = 768;

/// Most of the memory limit that the heap may take, in percent: off-heap
/// memory, metaspace and threads need the rest.
pub const HEAP_SHARE_PERCENT: u64 = 80;

/// Is this setting of `cassandra.yaml` or `scylla.yaml` reserved?
pub fn config(name: &str) -> Option<Reserved> {
    CONFIG.iter().map(|(reserved, _)| *reserved).find(|r| r.name == name)
}

/// Is this JVM option reserved?
pub fn jvm_option(option: &str) -> Option<Reserved> {
    let by_beginning = JVM_OPTIONS.iter().copied().find(|r| option.starts_with(r.name));
    let agent = option.starts_with("-javaagent:") && option.contains(JAVA_AGENT.name);
    by_beginning.or(agent.then_some(JAVA_AGENT))
}

/// Is this environment variable reserved?
pub fn env(name: &str) -> bool {
    ENV.contains(&name)
        || JVM_ENV.contains(&name)
        || ENV_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Schema of `config`: any setting by its own name, but for the reserved ones,
/// which are declared only so that a rule can see and refuse them.
pub(crate) fn config_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let properties: serde_json::Map<String, Value> = CONFIG
        .iter()
        .map(|(reserved, shape)| {
            let mut schema = match shape {
                Shape::Scalar => json!({ "x-kubernetes-int-or-string": true }),
                Shape::Flag => json!({ "type": "boolean" }),
                Shape::Texts => json!({ "type": "array", "items": { "type": "string" } }),
                Shape::Maps => json!({ "type": "array", "items": { "type": "object", "x-kubernetes-preserve-unknown-fields": true } }),
            };
            schema["description"] = json!(format!("Refused: {}.", reserved.instead));
            (reserved.name.to_string(), schema)
        })
        .collect();
    let rules: Vec<Value> = CONFIG
        .iter()
        .map(|(r, _)| {
            let message = format!("{} cannot be set in `config`: {}", r.name, r.instead);
            json!({ "rule": format!("!has(self.{})", r.name), "message": message, "reason": "FieldValueForbidden", "fieldPath": format!(".{}", r.name) })
        })
        .collect();
    schemars::json_schema!({
        "type": "object",
        "maxProperties": 512,
        "x-kubernetes-preserve-unknown-fields": true,
        "properties": properties,
        "x-kubernetes-validations": rules,
    })
}
