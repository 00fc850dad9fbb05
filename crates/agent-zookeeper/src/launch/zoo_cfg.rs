//! The static file, `zoo.cfg`.

use crate::words::files::Odd;
use anyhow::{Result, bail};
use palladion_api::zookeeper::{self, ZookeeperServerConfig};
use std::path::Path;

/// The settings that are never otherwise, whatever the operator's configuration says: a
/// key that ZooKeeper does not know becomes a property of its JVM, so that one line of
/// a file that was edited by hand could have a server vote without its data.
const NEVER_OTHERWISE: [(&str, &str); 5] = [
    ("standaloneEnabled", "false"),
    ("reconfigEnabled", "true"),
    ("quorumListenOnAllIPs", "true"),
    ("admin.enableServer", "false"),
    ("db.autocreate", "false"),
];

/// The text of the file, without the name of the dynamic one.
///
/// # Errors
/// A setting cannot stand in it.
pub fn zoo_cfg(config: &ZookeeperServerConfig, data: &Path, logs: &Path) -> Result<String> {
    let (data, logs) = (data.display().to_string(), logs.display().to_string());
    let mut settings = config.settings.clone();
    settings.retain(|name, _| zookeeper::config(name).is_none());
    settings.extend(NEVER_OTHERWISE.map(|(name, value)| (name.into(), value.into())));
    settings.extend([("dataDir".into(), data), ("dataLogDir".into(), logs)]);
    let mut text = String::new();
    for (name, value) in settings {
        if !zookeeper::is_setting(&name) || !zookeeper::is_value(&value) {
            bail!(Odd::Setting { name });
        }
        text += &format!("{name}={value}\n");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use palladion_api::zookeeper::{DATA_DIR, LOG_DIR, ZookeeperPorts};
    use std::collections::BTreeMap;

    fn config(pairs: &[(&str, &str)]) -> ZookeeperServerConfig {
        let of_user: BTreeMap<String, String> =
            pairs.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
        ZookeeperServerConfig {
            version: "3.9.3".into(),
            cluster: "zk".into(),
            ports: ZookeeperPorts::default(),
            heap_mib: 512,
            settings: zookeeper::settings(&of_user),
            jvm_options: Vec::new(),
        }
    }

    fn text(config: &ZookeeperServerConfig) -> String {
        zoo_cfg(config, Path::new(DATA_DIR), Path::new(LOG_DIR)).unwrap()
    }

    #[test]
    fn zoo_cfg_of_a_server() {
        insta::assert_snapshot!(text(&config(&[("tickTime", "500"), ("snapCount", "1000")])));
    }

    /// As a hand in the ConfigMap might put it there.
    #[test]
    fn what_would_let_a_server_vote_without_its_data_never_comes_in() {
        let mut odd = config(&[]);
        for (name, value) in [
            ("db.autocreate", "true"),
            ("snapshot.trust.empty", "true"),
            ("skipACL", "yes"),
            ("server.1", "10.0.0.1:2888:3888"),
            ("dataDir", "/tmp"),
            ("standaloneEnabled", "true"),
        ] {
            odd.settings.insert(name.into(), value.into());
        }
        assert_eq!(text(&odd), text(&config(&[])));
    }

    #[test]
    fn a_setting_that_would_be_two_is_an_error() {
        let mut odd = config(&[]);
        odd.settings.insert("tickTime".into(), "2000\ndb.autocreate=true".into());
        let text = zoo_cfg(&odd, Path::new(DATA_DIR), Path::new(LOG_DIR));
        assert!(text.unwrap_err().to_string().contains("tickTime"));
    }
}
