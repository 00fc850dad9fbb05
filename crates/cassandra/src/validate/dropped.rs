//! A rack that the spec does not name any more and whose set still stands.

use super::{Input, RackPlace, ValidRack};
use palladion_api::cluster::ClaimTemplate;
use palladion_api::ids::RackName;
use palladion_api::server_config::ServerConfig;
use std::collections::BTreeMap;

/// A rack that only its set still knows: nobody is wanted in it.
pub fn rack(input: &Input<'_>, ring: &str, (name, set): &(RackName, String)) -> ValidRack {
    let spec = input.spec;
    ValidRack {
        name: name.clone(),
        set: set.clone(),
        place: RackPlace::Dropped,
        members: 0,
        restart_token: None,
        claim: ClaimTemplate::default(),
        resources: None,
        placement: None,
        server: ServerConfig {
            mode: spec.mode,
            version: spec.version.clone(),
            ring: ring.to_string(),
            datacenter: spec.datacenter.name.clone(),
            rack: name.clone(),
            num_tokens: spec.num_tokens,
            heap_mib: None,
            config: BTreeMap::new(),
            jvm_options: Vec::new(),
            developer_mode: false,
            jmx_exporter: false,
            auth: super::auth(spec),
            client_tls: super::client_tls(spec).map(|tls| tls.mode),
            internode_tls: super::internode_tls(input),
            client_certificates: super::client_certificates(spec),
            jmx: super::jmx(spec),
            audit: spec.audit.clone(),
            archive: super::archive::links(spec),
            // Whoever leaves keeps what its reader has not read yet.
            cdc: super::cdc::of(spec, &spec.config).unwrap_or_default(),
            opens: super::opens(spec),
            client_addresses: super::network::announced(spec),
        },
        jmx_exporter: None,
        annotations: BTreeMap::new(),
    }
}
