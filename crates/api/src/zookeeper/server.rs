//! What the operator tells the agent about a server of an ensemble, through the
//! immutable ConfigMap that the pod template mounts: all that is the same for
//! every server. The agent adds what is local to its pod: address, server ID.

use super::ZookeeperPorts;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// File name (and ConfigMap key) of the serialised [`ZookeeperServerConfig`].
pub const ZOOKEEPER_CONFIG_FILE: &str = "zookeeper.json";
/// Where the server keeps its snapshots, on the volume.
pub const DATA_DIR: &str = "/data";
/// Where the server keeps its transaction logs, on the same volume.
pub const LOG_DIR: &str = "/datalog";

/// Four letter words that the agent needs, whatever a user lists.
const WORDS: [&str; 3] = ["ruok", "srvr", "mntr"];
/// Four letter words that are on besides, if the user lists none.
const DEFAULT_WORDS: &str = "stat,ruok,conf,isro,srvr,mntr";
const WHITELIST: &str = "4lw.commands.whitelist";

/// Configuration of the servers of an ensemble.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ZookeeperServerConfig {
    /// Version as the spec has it.
    pub version: String,
    /// Name of the cluster, in its namespace.
    pub cluster: String,
    /// Ports of every server.
    pub ports: ZookeeperPorts,
    /// Heap in MiB.
    pub heap_mib: u64,
    /// Settings of `zoo.cfg` but for those that are local to a pod, by name.
    pub settings: BTreeMap<String, String>,
    /// Further JVM options, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jvm_options: Vec<String>,
}

/// The settings of `zoo.cfg` for what a user has set: defaults, then the user's,
/// then those that are never otherwise. What stands in the dynamic configuration
/// (servers and the clients' port) is not among them.
pub fn settings(of_user: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let defaults = [
        ("tickTime", "2000"),
        ("initLimit", "5"),
        ("syncLimit", "2"),
        ("maxClientCnxns", "60"),
        // Otherwise ZooKeeper keeps every snapshot and log for ever.
        ("autopurge.snapRetainCount", "3"),
        ("autopurge.purgeInterval", "24"),
        (WHITELIST, DEFAULT_WORDS),
    ];
    let fixed = [
        ("standaloneEnabled", "false"),
        ("reconfigEnabled", "true"),
        // Servers know each other by the addresses of their Services, which are not the pods' own.
        ("quorumListenOnAllIPs", "true"),
        ("admin.enableServer", "false"),
        // A server that finds no data gives no vote, unless it is permitted to begin.
        ("db.autocreate", "false"),
        ("dataDir", DATA_DIR),
        ("dataLogDir", LOG_DIR),
    ];
    let own = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    };
    let mut all: BTreeMap<String, String> = own(&defaults).into_iter().collect();
    all.extend(of_user.clone());
    all.extend(own(&fixed));
    if let Some(words) = all.get_mut(WHITELIST) {
        *words = with_words(words);
    }
    all
}

/// The list with the words that the agent needs.
fn with_words(list: &str) -> String {
    let mut words: Vec<&str> = list.split(',').map(str::trim).filter(|w| !w.is_empty()).collect();
    if !words.contains(&"*") {
        let missing: Vec<&str> = WORDS.into_iter().filter(|w| !words.contains(w)).collect();
        words.extend(missing);
    }
    words.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        settings(&pairs.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect())
    }

    #[test]
    fn a_server_that_finds_no_data_never_begins_by_itself() {
        for users in [&[][..], &[("db.autocreate", "true"), ("standaloneEnabled", "true")][..]] {
            let settings = of(users);
            assert_eq!(settings["db.autocreate"], "false");
            assert_eq!(settings["standaloneEnabled"], "false");
            assert_eq!(settings["reconfigEnabled"], "true");
        }
    }

    #[test]
    fn the_agent_may_ask_what_it_needs_whatever_a_user_lists() {
        assert_eq!(of(&[])[WHITELIST], DEFAULT_WORDS);
        assert_eq!(of(&[(WHITELIST, "stat, srvr")])[WHITELIST], "stat,srvr,ruok,mntr");
        assert_eq!(of(&[(WHITELIST, "*")])[WHITELIST], "*");
        assert_eq!(of(&[("tickTime", "500")])["tickTime"], "500");
    }
}
