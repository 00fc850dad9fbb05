//! `scylla.yaml` and Scylla's arguments, those of Rook's Cassandra operator.

use super::{Entry, Identity, Local, addresses, override_with, yaml};
use palladion_api::ids::StaticAddress;
use palladion_api::server_config::ServerConfig;
use serde_json::{Map, json};
use std::net::SocketAddr;
use std::path::Path;

/// What the agent, the operating system and the sidecars of the image need; Rook's figure.
const NOT_FOR_SCYLLA_MIB: u64 = 700;

/// The file.
pub fn render(
    config: &ServerConfig,
    local: &Local,
    identity: &Identity,
    api: SocketAddr,
) -> String {
    let mut settings = Map::new();
    let below = |name: &str| json!(local.data_root.join(name));
    settings.insert("cluster_name".into(), json!(config.ring));
    settings.insert("num_tokens".into(), json!(config.num_tokens));
    settings.insert("partitioner".into(), json!("org.apache.cassandra.dht.Murmur3Partitioner"));
    settings.insert("endpoint_snitch".into(), json!("GossipingPropertyFileSnitch"));
    settings.insert("data_file_directories".into(), json!([below("data")]));
    settings.insert("commitlog_directory".into(), below("commitlog"));
    settings.insert("hints_directory".into(), below("hints"));
    settings.insert("view_hints_directory".into(), below("view_hints"));
    settings.insert("saved_caches_directory".into(), below("saved_caches"));
    settings.insert("commitlog_sync".into(), json!("periodic"));
    settings.insert("commitlog_sync_period_in_ms".into(), json!(10000));
    // The API has no authentication: loopback only.
    settings.insert("api_address".into(), json!(api.ip().to_string()));
    settings.insert("api_port".into(), json!(api.port()));
    addresses(local, identity, &mut settings);
    match &identity.entry {
        // Nobody starts it with tokens of a backup: that is refused before (`launch::fits`).
        Entry::Plain | Entry::Join | Entry::ResumeLeave | Entry::Restore { .. } => {}
        Entry::Replace { address, host_id } => match host_id {
            Some(host_id) => {
                settings.insert("replace_node_first_boot".into(), json!(host_id)).map_or((), drop)
            }
            // Deprecated, and the only way for a member whose host ID nobody recorded.
            None => settings
                .insert("replace_address_first_boot".into(), json!(address))
                .map_or((), drop),
        },
    }
    override_with(config, &mut settings);
    yaml(&settings)
}

/// The command line.
pub fn arguments(
    config: &ServerConfig,
    local: &Local,
    identity: &Identity,
    conf: &Path,
) -> Vec<String> {
    // Below twice the reserve a half is all that can be had.
    let memory = local.memory_mib.saturating_sub(NOT_FOR_SCYLLA_MIB).max(local.memory_mib / 2);
    let mut all = vec![
        format!("--options-file={}", conf.join("scylla.yaml").display()),
        format!("--listen-address={}", local.pod_ip),
        format!("--broadcast-address={}", identity.address),
        format!("--broadcast-rpc-address={}", identity.address),
        format!("--seed-provider-parameters=seeds={}", StaticAddress::list(&identity.seeds)),
        format!("--smp={}", local.cpus),
        format!("--memory={memory}M"),
        "--log-to-stdout=1".into(),
        "--default-log-level=info".into(),
    ];
    if config.developer_mode {
        all.push("--developer-mode=1".into());
        all.push("--overprovisioned".into());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::testing::{a_config, a_local};
    use crate::render::{Clients, Door};
    use palladion_api::cluster::Mode;

    fn identity(entry: Entry) -> Identity {
        Identity {
            address: "10.96.0.11".into(),
            clients: Clients::AsMembers,
            seeds: vec!["10.96.0.12".into()],
            entry,
            door: Door::Open,
        }
    }

    fn config() -> ServerConfig {
        ServerConfig { mode: Mode::Scylla, developer_mode: true, ..a_config("6.2.0") }
    }

    fn local() -> Local {
        Local { data_root: "/var/lib/scylla".into(), memory_mib: 4096, ..a_local() }
    }

    #[test]
    fn file_and_arguments() {
        let api = "127.0.0.1:10000".parse().unwrap();
        let identity = identity(Entry::Join);
        insta::assert_snapshot!("scylla_yaml", render(&config(), &local(), &identity, api));
        let arguments = arguments(&config(), &local(), &identity, Path::new("/run/palladion/conf"));
        insta::assert_snapshot!("scylla_arguments", arguments.join("\n"));
    }

    #[test]
    fn a_replacement_goes_by_host_id() {
        let replace = Entry::Replace { address: "10.96.0.13".into(), host_id: Some("h3".into()) };
        let file =
            render(&config(), &local(), &identity(replace), "127.0.0.1:10000".parse().unwrap());
        assert!(file.contains("replace_node_first_boot: h3"));
        assert!(!file.contains("replace_address"));
    }
}
