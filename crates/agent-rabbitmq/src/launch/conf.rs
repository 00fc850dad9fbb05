//! `rabbitmq.conf` and the file of the plugins.

use crate::decide::Doors;
use crate::words::files::Odd;
use anyhow::{Result, bail};
use palladion_api::rabbitmq::{self, MANAGEMENT_PLUGIN, RabbitmqServerConfig};

/// Name of the file of the settings.
pub const CONF: &str = "rabbitmq.conf";
/// Name of the file of the plugins.
pub const PLUGINS: &str = "enabled_plugins";

/// Settings that are not a user's, of those that the API keeps from users: the operator's
/// configuration has them, and no others of that list.
const OPERATORS: [&str; 7] = [
    "listeners.tcp.default",
    "listeners.tcp",
    "management.tcp.port",
    "cluster_partition_handling",
    "mnesia_table_loading_retry_limit",
    "mnesia_table_loading_retry_timeout",
    "log.file",
];

/// The text of `rabbitmq.conf`. The management API is open also where clients are kept out: a
/// blank node has no user but `guest`, who gets in on the loopback interface only. A file that was edited by hand could have a node found its
/// peers by itself, and come back without its data and vote: what the API keeps from users
/// is refused here, too.
///
/// # Errors
/// A setting cannot stand in it.
pub fn rabbitmq_conf(config: &RabbitmqServerConfig, doors: Doors) -> Result<String> {
    let settings = match doors {
        Doors::Open => config.settings.clone(),
        Doors::Closed => rabbitmq::closed(&config.settings),
    };
    let mut text = String::new();
    for (name, value) in settings {
        if !rabbitmq::is_setting(&name) || !rabbitmq::is_value(&value) {
            bail!(Odd::Setting { name });
        }
        let is_operators = OPERATORS.contains(&name.as_str());
        if let Some(reserved) = rabbitmq::config(&name).filter(|_| !is_operators) {
            bail!(Odd::Reserved { name, instead: reserved.instead.into() });
        }
        text += &format!("{name} = {value}\n");
    }
    Ok(text)
}

/// The text of the file of the plugins: a term of Erlang.
///
/// # Errors
/// One cannot be a plugin.
pub fn enabled_plugins(config: &RabbitmqServerConfig, doors: Doors) -> Result<String> {
    Ok(format!("[{}].\n", plugins(config, doors)?.join(",")))
}

/// The plugins. A node that is no member yet has the one that the agent needs, and no other:
/// others bring listeners, and flags that the cluster may not have.
///
/// # Errors
/// One cannot be a plugin.
pub fn plugins(config: &RabbitmqServerConfig, doors: Doors) -> Result<Vec<&str>> {
    let all: Vec<&str> = match doors {
        Doors::Closed => vec![MANAGEMENT_PLUGIN],
        Doors::Open => config.plugins.iter().map(String::as_str).collect(),
    };
    let is_odd = |name: &&&str| !rabbitmq::is_plugin(name) || rabbitmq::plugin(name).is_some();
    if let Some(odd) = all.iter().find(is_odd) {
        bail!(Odd::Plugin { name: (*odd).to_string() });
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::super::tests::config;
    use super::*;

    #[test]
    fn rabbitmq_conf_of_a_member_and_of_a_joiner() {
        let of = |doors| rabbitmq_conf(&config(), doors).unwrap();
        insta::assert_snapshot!(format!("{}---\n{}", of(Doors::Open), of(Doors::Closed)));
    }

    #[test]
    fn what_finds_peers_or_starts_without_data_is_refused_wherever_it_comes_from() {
        for (name, value) in [
            ("cluster_formation.peer_discovery_backend", "classic_config"),
            ("cluster_formation.classic_config.nodes.1", "rabbit@b"),
            ("load_definitions", "/tmp/x"),
            ("default_user", "x"),
            ("a b", "1"),
            ("vm_memory_high_watermark.relative", "0.5\ndefault_user = x"),
        ] {
            let mut config = config();
            config.settings.insert(name.into(), value.into());
            assert!(rabbitmq_conf(&config, Doors::Open).is_err(), "{name}");
        }
    }

    #[test]
    fn a_joiner_has_the_plugin_that_the_agent_needs_and_no_other() {
        let text = |doors| enabled_plugins(&config(), doors).unwrap();
        assert_eq!(text(Doors::Closed), "[rabbitmq_management].\n");
        assert_eq!(text(Doors::Open), "[rabbitmq_management,rabbitmq_shovel].\n");
        for odd in ["rabbitmq_peer_discovery_k8s", "x]. [", ""] {
            let mut config = config();
            config.plugins.push(odd.into());
            assert!(enabled_plugins(&config, Doors::Open).is_err(), "{odd}");
        }
    }
}
