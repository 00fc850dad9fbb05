//! `cassandra.yaml`: complete and minimal; what is not in it has the server's
//! own default.

use super::{
    Door, Entry, Identity, Local, addresses, audit, auth, cdc, closed, durability, encryption,
    override_with, seal, yaml,
};
use crate::capabilities::Capabilities;
use palladion_api::server_config::{CDC_DIRECTORY, ServerConfig};
use serde_json::{Map, Value, json};

/// The file.
pub fn render(
    config: &ServerConfig,
    capabilities: Capabilities,
    local: &Local,
    identity: &Identity,
) -> String {
    let mut settings = Map::new();
    settings.insert("cluster_name".into(), json!(config.ring));
    settings.insert("num_tokens".into(), json!(config.num_tokens));
    if config.num_tokens > 1 {
        // Spreads tokens evenly. A larger factor is refused by the server while
        // the datacenter has more than one rack and fewer than that many, which
        // every ring has at some time while it grows ("the number of racks 2 in
        // datacenter dc1 is lower than its replication factor 3").
        settings.insert("allocate_tokens_for_local_replication_factor".into(), json!(1));
    }
    settings.insert("partitioner".into(), json!("org.apache.cassandra.dht.Murmur3Partitioner"));
    settings.insert("endpoint_snitch".into(), json!("GossipingPropertyFileSnitch"));
    directories(local, &mut settings);
    addresses(local, identity, &mut settings);
    durability::settings(config, capabilities.units, &mut settings);
    audit::settings(config, &mut settings);
    cdc::settings(config, (capabilities.line, capabilities.units), &mut settings);
    // A server that lost its disk should end, not linger with closed ports: its
    // end is seen, told in its own words, and tried again ever more slowly.
    settings.insert("disk_failure_policy".into(), json!("die"));
    settings.insert("commit_failure_policy".into(), json!("die"));
    if identity.entry == Entry::ResumeLeave {
        // A leaver writes down that it has to bootstrap a moment before the others
        // hear that it has left. Killed in between it is a member for them, and
        // would stream itself in under new tokens.
        settings.insert("auto_bootstrap".into(), json!(false));
    }
    override_with(config, &mut settings);
    // No setting of a person is weaker than these fields: what the volume notes of how the server
    // keeps others out is read off them.
    auth::settings(config, &mut settings);
    encryption::settings(config, local, &mut settings);
    if let Entry::Restore { tokens } = &identity.entry {
        // The server compares how many they are, and chooses none itself.
        settings.insert("initial_token".into(), json!(tokens.join(",")));
        settings.insert("num_tokens".into(), json!(tokens.len()));
        settings.retain(|name, _| !name.starts_with("allocate_tokens_for"));
    }
    match identity.door {
        Door::Open => {}
        Door::Closed => closed::settings(&mut settings),
        Door::Sealed => seal::settings(capabilities, local, &mut settings),
        Door::AwaitsRebuild => {
            settings.insert("start_native_transport".into(), json!(false));
        }
    }
    yaml(&settings)
}

fn directories(local: &Local, settings: &mut Map<String, Value>) {
    let below = |name: &str| json!(local.data_root.join(name));
    settings.insert("data_file_directories".into(), json!([below("data")]));
    settings.insert("commitlog_directory".into(), below("commitlog"));
    settings.insert("hints_directory".into(), below("hints"));
    settings.insert("saved_caches_directory".into(), below("saved_caches"));
    settings.insert("cdc_raw_directory".into(), below(CDC_DIRECTORY));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capabilities;
    use crate::render::Clients;
    use crate::render::testing::{a_config, a_local};
    use palladion_api::cluster::{AuthMode, ClientTlsMode, InternodeTlsMode};

    fn identity() -> Identity {
        Identity {
            address: "10.96.0.11".into(),
            clients: Clients::AsMembers,
            seeds: vec!["10.96.0.11".into(), "10.96.0.12".into()],
            entry: Entry::Plain,
            door: Door::Open,
        }
    }

    fn render_for(version: &str, change: impl FnOnce(&mut ServerConfig)) -> String {
        let mut config = a_config(version);
        change(&mut config);
        render(&config, capabilities::of(version).unwrap(), &a_local(), &identity())
    }

    #[test]
    fn each_version_has_its_file() {
        for version in ["4.0.18", "4.1.9", "5.0.5"] {
            insta::assert_snapshot!(
                format!("cassandra_yaml_{version}"),
                render_for(version, |_| {})
            );
        }
    }

    #[test]
    fn who_comes_back_to_leave_never_bootstraps() {
        let file = |entry| {
            let identity = Identity { entry, ..identity() };
            let capabilities = capabilities::of("5.0.5").unwrap();
            render(&a_config("5.0.5"), capabilities, &a_local(), &identity)
        };
        assert!(file(Entry::ResumeLeave).contains("auto_bootstrap: false"));
        assert!(!file(Entry::Plain).contains("auto_bootstrap"));
        assert!(!file(Entry::Join).contains("auto_bootstrap"));
    }

    /// A configuration that nobody admitted, as one that was put in the place of ours.
    #[test]
    fn no_setting_of_a_person_opens_what_the_fields_close() {
        let file = render_for("5.0.5", |config| {
            config.auth = Some(AuthMode::Password);
            config.client_tls = Some(ClientTlsMode::Require);
            config.internode_tls = Some(InternodeTlsMode::Require);
            for (name, value) in [
                ("authenticator", json!("AllowAllAuthenticator")),
                ("authorizer", json!("AllowAllAuthorizer")),
                ("native_transport_port_ssl", json!(9142)),
                ("client_encryption_options", json!({"enabled": false})),
                ("server_encryption_options", json!({"internode_encryption": "none"})),
            ] {
                config.config.insert(name.into(), value);
            }
        });
        assert!(!file.contains("AllowAll"), "{file}");
        // With a second port the first one takes clients in plaintext.
        assert!(!file.contains("9142"), "{file}");
        assert!(file.contains("enabled: true") && file.contains("internode_encryption: all"));
    }

    /// Whatever a user has set for the ports of clients.
    #[test]
    fn nobody_but_the_agent_reaches_a_sealed_server() {
        let sealed = |version: &str| {
            let mut config = a_config(version);
            for (name, value) in [
                ("rpc_interface", json!("eth0")),
                ("native_transport_port_ssl", json!(9142)),
                ("start_native_transport", json!(false)),
                ("client_encryption_options", json!({"enabled": true, "optional": true})),
            ] {
                config.config.insert(name.into(), value);
            }
            let identity = Identity { door: Door::Sealed, ..identity() };
            render(&config, capabilities::of(version).unwrap(), &a_local(), &identity)
        };
        insta::assert_snapshot!("cassandra_yaml_sealed", sealed("5.0.5"));
        let old = sealed("4.0.18");
        assert!(old.contains("rpc_address: 127.0.0.1") && !old.contains("rpc_interface"), "{old}");
        assert!(!old.contains("9142") && !old.contains("client_encryption_options"), "{old}");
    }

    /// As the first start of a member of a ring that begins with a backup.
    fn closed(version: &str, entry: Entry) -> String {
        let mut config = a_config(version);
        config.num_tokens = 2;
        for (name, value) in [
            ("rpc_interface", json!("eth0")),
            ("native_transport_port_ssl", json!(9142)),
            ("start_native_transport", json!(false)),
            ("allocate_tokens_for_keyspace", json!("shop")),
            ("client_encryption_options", json!({"enabled": true, "optional": false})),
        ] {
            config.config.insert(name.into(), value);
        }
        let identity = Identity { door: Door::Closed, entry, ..identity() };
        render(&config, capabilities::of(version).unwrap(), &a_local(), &identity)
    }

    #[test]
    fn a_closed_server_listens_in_its_pod_alone_and_asks_as_ever() {
        let tokens = vec!["-9223372036854775808".to_string(), "7".to_string()];
        insta::assert_snapshot!(
            "cassandra_yaml_restored",
            closed("5.0.5", Entry::Restore { tokens })
        );
        let later = closed("4.0.18", Entry::Plain);
        assert!(later.contains("rpc_address: 127.0.0.1") && !later.contains("rpc_interface"));
        assert!(later.contains("client_encryption_options") && !later.contains("9142"), "{later}");
        // What it began with is in its own tables then.
        assert!(!later.contains("initial_token"), "{later}");
    }

    /// Whatever a user has set: the setting is reserved, and an older spec may have it.
    #[test]
    fn who_is_not_rebuilt_starts_no_native_transport_on_any_line() {
        for version in ["4.0.18", "4.1.9", "5.0.5"] {
            let mut config = a_config(version);
            config.config.insert("start_native_transport".into(), json!(true));
            let identity = Identity { door: Door::AwaitsRebuild, ..identity() };
            let file = render(&config, capabilities::of(version).unwrap(), &a_local(), &identity);
            assert!(file.contains("start_native_transport: false"), "{file}");
        }
        assert!(!render_for("5.0.5", |_| {}).contains("start_native_transport"));
    }

    #[test]
    fn clients_are_told_another_address_than_members() {
        let addresses = |clients: Clients| {
            let identity = Identity { clients, ..identity() };
            let capabilities = capabilities::of("5.0.5").unwrap();
            let file = render(&a_config("5.0.5"), capabilities, &a_local(), &identity);
            let of = |name: &str| {
                let line = file.lines().find_map(|line| line.strip_prefix(name));
                line.expect("it is always written").trim_start_matches(": ").to_string()
            };
            assert_eq!(of("broadcast_address"), "10.96.0.11", "members find it as ever");
            assert_eq!(
                (of("listen_address"), of("rpc_address")),
                ("10.1.0.5".into(), "0.0.0.0".into())
            );
            of("broadcast_rpc_address")
        };
        assert_eq!(addresses(Clients::AsMembers), "10.96.0.11");
        assert_eq!(addresses(Clients::OfPod), "10.1.0.5");
        assert_eq!(addresses(Clients::At("203.0.113.7".into())), "203.0.113.7");
    }

    #[test]
    fn one_token_is_not_allocated() {
        let file = render_for("5.0.5", |c| c.num_tokens = 1);
        assert!(!file.contains("allocate_tokens"));
    }

    #[test]
    fn an_override_replaces_our_setting_under_its_old_name_too() {
        let file = render_for("5.0.5", |c| {
            c.config.insert("commitlog_sync_period_in_ms".into(), json!(2000));
        });
        assert!(file.contains("commitlog_sync_period_in_ms: 2000"));
        assert!(!file.contains("commitlog_sync_period: "));
    }

    #[test]
    fn overrides_may_be_nested_and_new() {
        let file = render_for("5.0.5", |c| {
            c.config.insert("disk_failure_policy".into(), json!("stop"));
            c.config.insert("audit_logging_options".into(), json!({"enabled": true}));
        });
        assert!(file.contains("disk_failure_policy: stop"));
        assert!(file.contains("audit_logging_options:\n  enabled: true"));
    }
}
