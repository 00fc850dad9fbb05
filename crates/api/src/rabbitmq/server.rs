//! What the operator tells the agent about a node of a cluster, through the
//! immutable ConfigMap that the pod template mounts: all that is the same for every
//! node. The agent adds what is local to its pod: the node's name, cookie, listeners.
//!
//! Nothing secret is in it. The Secret of `secretName` is mounted at
//! [`CREDENTIALS_DIR`] and the Secret of `definitionsSecretName` at
//! [`DEFINITIONS_DIR`], both optional, so that a pod whose Secret is missing says so
//! instead of being stuck.

use super::{PartitionHandling, RabbitmqPorts};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// File name (and ConfigMap key) of the serialised [`RabbitmqServerConfig`].
pub const RABBITMQ_CONFIG_FILE: &str = "rabbitmq.json";
/// Where the node keeps its data, on the volume: `RABBITMQ_MNESIA_BASE`.
pub const RABBITMQ_DATA_DIR: &str = "/var/lib/rabbitmq";
/// Where the Secret with the credentials is mounted, one file per key.
pub const CREDENTIALS_DIR: &str = "/etc/palladion-secrets/credentials";
/// Where the Secret with the definitions is mounted.
pub const DEFINITIONS_DIR: &str = "/etc/palladion-secrets/definitions";

/// Key of the credentials: the Erlang cookie. A volume keeps the one that it began
/// with; another one in the Secret changes nothing, and is reported (`CookieDiffers`). It
/// begins with each start for which nothing on the volume counts.
pub const COOKIE_KEY: &str = "erlang-cookie";
/// Key of the credentials: the password of [`AGENT_USER`].
pub const AGENT_PASSWORD_KEY: &str = "agent-password";
/// Key of the credentials: name of the user that is made when the cluster is initialized.
pub const USERNAME_KEY: &str = "username";
/// Key of the credentials: the password of that user.
pub const PASSWORD_KEY: &str = "password";
/// Key of the definitions.
pub const DEFINITIONS_KEY: &str = "definitions.json";

/// The user as whom agents read the management API, with the tag `monitoring`.
pub const AGENT_USER: &str = "palladion";
/// The plugin that is always enabled.
pub const MANAGEMENT_PLUGIN: &str = "rabbitmq_management";

/// A node waits for the tables of the others as long as it takes. RabbitMQ counts
/// attempts of 30 s each, nine by default, and gives up after them.
const TABLE_ATTEMPTS: &str = "1000000";

/// Configuration of the nodes of a cluster.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RabbitmqServerConfig {
    /// Version as the spec has it.
    pub version: String,
    /// Name of the cluster, in its namespace.
    pub cluster: String,
    /// Ports of every node.
    pub ports: RabbitmqPorts,
    /// Settings of `rabbitmq.conf` for a node that is a member, by name. For a start before
    /// the node is one, the agent writes [`closed`] of them.
    pub settings: BTreeMap<String, String>,
    /// All plugins that are enabled, sorted, [`MANAGEMENT_PLUGIN`] among them. A node that
    /// is no member yet starts with that one alone.
    pub plugins: Vec<String>,
    /// The virtual host that is created when the cluster is initialized, and by a node that
    /// starts without it.
    pub vhost: String,
    /// Seconds that the preStop hook may wait until the queues of the node have their
    /// other replicas online and in step, before it drains.
    pub hand_over_seconds: u32,
}

/// The settings of `rabbitmq.conf` for what a user has set: defaults, then the user's,
/// then those that are never otherwise.
pub fn rabbitmq_settings(
    of_user: &BTreeMap<String, String>,
    ports: RabbitmqPorts,
    partitions: PartitionHandling,
) -> BTreeMap<String, String> {
    let defaults = [("log.console.level", "info".to_string())];
    let fixed = [
        ("listeners.tcp.default", ports.amqp.to_string()),
        ("management.tcp.port", ports.management.to_string()),
        ("cluster_partition_handling", partitions.as_str().to_string()),
        ("mnesia_table_loading_retry_limit", TABLE_ATTEMPTS.to_string()),
        ("log.console", "true".to_string()),
        ("log.file", "false".to_string()),
    ];
    let own = |pairs: &[(&str, String)]| -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| (name.to_string(), value.clone())).collect()
    };
    let mut all = own(&defaults);
    all.extend(of_user.clone());
    all.extend(own(&fixed));
    all
}

/// The settings for a start of a node that is no member yet: no client gets in, as it
/// would speak with a cluster of its own.
pub fn closed(settings: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let is_listener = |name: &str| name.starts_with("listeners.");
    let open = settings.iter().filter(|(name, _)| !is_listener(name));
    let mut closed: BTreeMap<String, String> =
        open.map(|(name, value)| (name.clone(), value.clone())).collect();
    closed.insert("listeners.tcp".to_string(), "none".to_string());
    closed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, &str)], partitions: PartitionHandling) -> BTreeMap<String, String> {
        let pairs = pairs.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
        rabbitmq_settings(&pairs, RabbitmqPorts::default(), partitions)
    }

    #[test]
    fn what_keeps_the_data_is_never_otherwise_whatever_a_user_sets() {
        let users = [
            ("cluster_partition_handling", "ignore"),
            ("mnesia_table_loading_retry_limit", "1"),
            ("listeners.tcp.default", "1"),
            ("log.console.level", "debug"),
        ];
        let settings = of(&users, PartitionHandling::PauseMinority);
        assert_eq!(settings["cluster_partition_handling"], "pause_minority");
        assert_eq!(settings["mnesia_table_loading_retry_limit"], TABLE_ATTEMPTS);
        assert_eq!(settings["listeners.tcp.default"], "5672");
        assert_eq!(settings["log.console.level"], "debug");
        let settings = of(&[], PartitionHandling::Autoheal);
        assert_eq!(settings["cluster_partition_handling"], "autoheal");
        assert!(!settings.keys().any(|name| name.starts_with("cluster_formation")));
    }

    #[test]
    fn no_client_gets_into_a_node_that_is_no_member_yet() {
        let closed = closed(&of(&[("net_ticktime", "30")], PartitionHandling::PauseMinority));
        let listeners: Vec<(&str, &str)> = closed
            .iter()
            .filter(|(name, _)| name.starts_with("listeners."))
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        assert_eq!(listeners, [("listeners.tcp", "none")]);
        assert_eq!(closed["net_ticktime"], "30");
        assert_eq!(closed["management.tcp.port"], "15672", "the agent reads there");
    }
}
