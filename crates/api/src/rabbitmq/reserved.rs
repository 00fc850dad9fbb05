//! Settings of RabbitMQ that are the operator's or the agent's own, and what a
//! person sets instead.

use crate::reserved::Reserved;

const MEMBERSHIP: &str = "the operator controls which nodes are in the cluster; a node that finds its peers by itself may come back without its data and vote";
const PARTITIONS: &str = "set `partitionHandling` instead";
const USERS: &str = "the user comes from the Secret of `secretName`";
const PORTS: &str = "set `ports` instead";
const TLS: &str = "TLS is not supported yet";
const DEFINITIONS: &str = "set `definitionsSecretName` instead";
const TABLES: &str = "a node waits for the tables of the others for as long as it takes; with another limit it would give up and start over";
const DIRECTORIES: &str = "all directories are on the node's only volume";
const LOG: &str = "the server logs to the container's output";
const ACCESS: &str = "the agent logs in with a password of its own, on the loopback interface";
const SAMPLES: &str =
    "the agent reads alarms and partitions from the samples that a node takes every five seconds";

const fn reserved(name: &'static str, instead: &'static str) -> Reserved {
    Reserved { name, instead }
}

/// Keys of `config`. One that ends with `*` is the beginning of a key. Case does not count.
pub const CONFIG: &[Reserved] = &[
    reserved("cluster_formation.*", MEMBERSHIP),
    reserved("cluster_partition_handling*", PARTITIONS),
    reserved("default_*", USERS),
    reserved("listeners.tcp*", PORTS),
    reserved("listeners.ssl*", TLS),
    reserved("ssl_*", TLS),
    reserved("distribution.*", PORTS),
    reserved("management.*", PORTS),
    reserved("load_definitions", DEFINITIONS),
    reserved("definitions.*", DEFINITIONS),
    reserved("mnesia_table_loading*", TABLES),
    reserved("raft.data_dir", DIRECTORIES),
    reserved("log.dir", LOG),
    reserved("log.file*", LOG),
    reserved("loopback_users*", ACCESS),
    reserved("auth_backends*", ACCESS),
    reserved("management_agent.*", SAMPLES),
    reserved("collect_statistics*", SAMPLES),
    reserved("deprecated_features.permit.management_metrics_collection", SAMPLES),
];

const PEERS: &str = "the operator controls which nodes are in the cluster";

/// Plugins. One that ends with `*` is the beginning of a name.
pub const PLUGINS: &[Reserved] =
    &[reserved("rabbitmq_peer_discovery_*", PEERS), reserved("autocluster*", PEERS)];

/// Beginnings of environment variables that the pod template, the agent or Kubernetes
/// sets, and of those by which RabbitMQ and Erlang are told what the spec says.
pub const ENV_PREFIXES: &[&str] =
    &["POD_", "PALLADION_", "KUBERNETES_", "RABBITMQ_", "ERL_", "ERLANG_"];

/// Environment variables of the pod template, and those that RabbitMQ and its start scripts
/// read without their prefix where none is set with it.
const ENV: &[&str] = &[
    "NODE_NAME",
    "CPU_LIMIT",
    "MEMORY_LIMIT",
    "HOME",
    "HOSTNAME",
    "NODENAME",
    "CONFIG_FILE",
    "LOG_BASE",
    "MNESIA_BASE",
    "CONF_ENV_FILE",
    "ENABLED_PLUGINS_FILE",
    "PLUGINS_DIR",
    "ADVANCED_CONFIG_FILE",
    "CONFIG_FILES",
    "CTL_ERL_ARGS",
    "DEFAULT_PASS",
    "DEFAULT_USER",
    "DEFAULT_VHOST",
    "DEFINITIONS_FILE",
    "DIST_PORT",
    "ENABLED_PLUGINS",
    "FEATURE_FLAGS",
    "FEATURE_FLAGS_FILE",
    "MNESIA_DIR",
    "NODE_IP_ADDRESS",
    "NODE_ONLY",
    "NODE_PORT",
    "PLUGINS_EXPAND_DIR",
    "QUORUM_DIR",
    "SERVER_ADDITIONAL_ERL_ARGS",
    "SERVER_ERL_ARGS",
    "STREAM_DIR",
    "USE_LONGNAME",
];

/// Least memory limit of a node: a node takes 130 to 150 MB, each call of its command
/// line 62 MB more (tried with 3.10.8).
pub const LEAST_MEMORY_MIB: u64 = 512;

/// Does a reserved name stand for this one?
fn covers(reserved: &Reserved, name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is = reserved.name.to_ascii_lowercase();
    match is.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == is,
    }
}

/// Is this key of `config` reserved?
pub fn config(name: &str) -> Option<Reserved> {
    CONFIG.iter().copied().find(|r| covers(r, name))
}

/// Is this plugin reserved?
pub fn plugin(name: &str) -> Option<Reserved> {
    PLUGINS.iter().copied().find(|r| covers(r, name))
}

/// Can it be the name of a setting? The grammar of `rabbitmq.conf` takes `\` for the
/// beginning of another character, and ends a name at blanks and `=`.
pub fn is_setting(name: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/');
    name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(inner)
}

/// Can it be the value of a setting: one line, of which nothing is taken for a comment?
pub fn is_value(value: &str) -> bool {
    !value.is_empty() && value.chars().all(|c| !c.is_control() && c != '#')
}

/// Can it be the name of a plugin: an Erlang atom that needs no quotes?
pub fn is_plugin(name: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(inner)
}

/// Names of environment variables that are reserved, besides the beginnings.
pub(crate) fn env_names() -> impl Iterator<Item = &'static str> {
    ENV.iter().copied()
}

/// Is this environment variable reserved?
pub fn env(name: &str) -> bool {
    env_names().any(|reserved| reserved == name)
        || ENV_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_with_which_data_could_be_lost_are_reserved() {
        for name in [
            "cluster_formation.peer_discovery_backend",
            "cluster_formation.classic_config.nodes.1",
            "cluster_partition_handling",
            "cluster_partition_handling.pause_if_all_down.recover",
            "default_user",
            "listeners.tcp.default",
            "listeners.tcp",
            "management.tcp.port",
            "load_definitions",
            "definitions.import_backend",
            "mnesia_table_loading_retry_limit",
            "management_agent.disable_metrics_collector",
            "collect_statistics_interval",
            "deprecated_features.permit.management_metrics_collection",
        ] {
            assert!(config(name).is_some(), "{name}");
            assert!(config(&name.to_uppercase()).is_some(), "another spelling is no way in");
        }
        for name in ["vm_memory_high_watermark.relative", "log.console.level", "net_ticktime"] {
            assert!(config(name).is_none() && is_setting(name), "{name}");
        }
    }

    #[test]
    fn a_name_or_a_value_cannot_bring_in_another_setting() {
        for name in ["", "a b", "a=b", "a\ndefault_user", "\\u0064efault_user", " default_user"] {
            assert!(!is_setting(name), "{name:?}");
        }
        assert!(is_value("0.5") && is_value("amqp://x"));
        for value in ["", "1\ndefault_user = x", "0.5 # half", "a\u{7f}"] {
            assert!(!is_value(value), "{value:?}");
        }
    }

    #[test]
    fn plugins_and_variables_by_which_nodes_find_peers_are_reserved() {
        assert!(plugin("rabbitmq_peer_discovery_k8s").is_some());
        assert!(plugin("rabbitmq_shovel").is_none() && is_plugin("rabbitmq_shovel"));
        for name in ["", "Rabbit", "a]. [", "a,b", "1a"] {
            assert!(!is_plugin(name), "{name:?}");
        }
        assert!(env("RABBITMQ_NODENAME") && env("ERL_FLAGS") && env("RABBITMQ_FEATURE_FLAGS"));
        for name in ["STREAM_DIR", "QUORUM_DIR", "MNESIA_DIR", "FEATURE_FLAGS", "ENABLED_PLUGINS"] {
            assert!(env(name) && env(&format!("RABBITMQ_{name}")), "{name}");
        }
        assert!(!env("TZ"));
    }
}
