//! Configuration of the server: pure functions from what the operator says
//! (the rack's [`ServerConfig`]), what is local to the pod, and how this start
//! was permitted.

pub mod archiving;
pub mod audit;
pub mod auth;
pub mod cassandra_yaml;
mod cdc;
mod closed;
mod durability;
pub mod encryption;
pub mod heap;
pub mod jolokia;
pub mod jvm;
pub mod logback;
pub mod names;
pub mod rackdc;
pub mod rewind;
pub mod scylla;
pub mod seal;

use palladion_api::ids::{ClientAddress, HostId, StaticAddress};
use palladion_api::server_config::ServerConfig;
use serde_json::{Map, Value, json};
use std::net::IpAddr;
use std::path::PathBuf;

/// What is local to the pod.
#[derive(Clone, Debug)]
pub struct Local {
    /// Address that the server listens on.
    pub pod_ip: IpAddr,
    /// CPUs.
    pub cpus: u32,
    /// Memory in MiB.
    pub memory_mib: u64,
    /// Root of the data volume.
    pub data_root: PathBuf,
    /// Where key and certificate for clients are.
    pub tls_dir: PathBuf,
}

/// Who the member is in this start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The member's static address.
    pub address: StaticAddress,
    /// Where clients find it.
    pub clients: Clients,
    /// Seeds of this start.
    pub seeds: Vec<StaticAddress>,
    /// How it enters the ring.
    pub entry: Entry,
    /// Who can speak to it.
    pub door: Door,
}

/// The address that a server announces to clients.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Clients {
    /// The one by which members know it.
    #[default]
    AsMembers,
    /// That of its pod.
    OfPod,
    /// Another one.
    At(ClientAddress),
}

impl Clients {
    /// The address, where it is not the one by which members know it.
    pub fn address(&self, pod_ip: IpAddr) -> Option<ClientAddress> {
        match self {
            Clients::AsMembers => None,
            Clients::OfPod => Some(ClientAddress::new(pod_ip.to_string())),
            Clients::At(address) => Some(address.clone()),
        }
    }
}

/// Who can speak to the server over CQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// Whom the configuration lets in.
    Open,
    /// Its own agent alone, by keys that it has made for it.
    Sealed,
    /// Its own pod alone, by who logs in as ever: its ring is being restored.
    Closed,
    /// Nobody: its native transport is not started, since its member was not rebuilt.
    AwaitsRebuild,
}

/// How the server enters the ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// With its data, or as the first member.
    Plain,
    /// As a new member.
    Join,
    /// As a member of a ring that begins with a backup, the first one included, with the tokens
    /// that a member of the backup had.
    Restore {
        /// The tokens.
        tokens: Vec<String>,
    },
    /// To leave again: with its data and the tokens that it had.
    ResumeLeave,
    /// In the place of a dead one.
    Replace {
        /// Its address.
        address: StaticAddress,
        /// Its host ID (Scylla goes by it).
        host_id: Option<HostId>,
    },
}

/// The seed provider that reads its list from the configuration file.
fn seed_provider(seeds: &[StaticAddress]) -> Value {
    json!([{
        "class_name": "org.apache.cassandra.locator.SimpleSeedProvider",
        "parameters": [{ "seeds": StaticAddress::list(seeds) }],
    }])
}

/// Addresses, alike for both servers.
fn addresses(local: &Local, identity: &Identity, into: &mut Map<String, Value>) {
    into.insert("listen_address".into(), json!(local.pod_ip.to_string()));
    into.insert("broadcast_address".into(), json!(identity.address));
    // Bound everywhere so that a port-forward to loopback works, as Rook's operator has it.
    into.insert("rpc_address".into(), json!("0.0.0.0"));
    let clients = match identity.clients.address(local.pod_ip) {
        Some(address) => json!(address),
        None => json!(identity.address),
    };
    into.insert("broadcast_rpc_address".into(), clients);
    into.insert("seed_provider".into(), seed_provider(&identity.seeds));
}

/// Put the person's settings over ours. A setting of ours goes where theirs
/// has its older or newer name: both together are refused by the server.
fn override_with(config: &ServerConfig, into: &mut Map<String, Value>) {
    for (name, value) in &config.config {
        into.retain(|ours, _| names::modern(ours) != names::modern(name));
        into.insert(name.clone(), value.clone());
    }
}

/// As YAML. Keys are sorted, so that equal settings give equal files.
fn yaml(settings: &Map<String, Value>) -> String {
    palladion_api::yaml::to_string(&Value::Object(settings.clone()))
        .expect("should serialise: JSON values are YAML values")
}

/// Builders for tests.
#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use palladion_api::cluster::Mode;
    use std::collections::BTreeMap;

    /// A rack's configuration.
    pub fn a_config(version: &str) -> ServerConfig {
        ServerConfig {
            mode: Mode::Cassandra,
            version: version.into(),
            ring: "ring one".into(),
            datacenter: "dc1".into(),
            rack: "a".into(),
            num_tokens: 16,
            heap_mib: None,
            config: BTreeMap::new(),
            jvm_options: Vec::new(),
            developer_mode: false,
            jmx_exporter: false,
            auth: None,
            client_tls: None,
            internode_tls: None,
            client_certificates: None,
            jmx: None,
            audit: None,
            archive: None,
            cdc: None,
            opens: None,
            client_addresses: None,
        }
    }

    /// A pod.
    pub fn a_local() -> Local {
        Local {
            pod_ip: IpAddr::from([10, 1, 0, 5]),
            cpus: 2,
            memory_mib: 2048,
            data_root: "/var/lib/cassandra".into(),
            tls_dir: "/run/palladion/tls".into(),
        }
    }
}
