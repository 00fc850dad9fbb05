//! TLS for clients and between members as the spec says it. `optional` is always
//! written: absent it means true to some servers.

use super::Local;
use palladion_api::cluster::{ClientTlsMode, InternodeTlsMode};
use palladion_api::member::Purpose;
use palladion_api::server_config::ServerConfig;
use serde_json::{Map, Value, json};

/// Key and chain for clients, in one file so that a pair changes at once.
pub const PAIR: &str = "client.pem";
/// Authorities that clients trust.
pub const AUTHORITIES: &str = "client-ca.pem";
/// The same for the other members.
const INTERNODE_PAIR: &str = "internode.pem";
const INTERNODE_AUTHORITIES: &str = "internode-ca.pem";
/// Reads PEM files; from 4.1 on.
const FACTORY: &str = "org.apache.cassandra.security.PEMBasedSslContextFactory";

/// The files of key and chain, and of authorities.
pub const fn files(purpose: Purpose) -> (&'static str, &'static str) {
    match purpose {
        Purpose::Client => (PAIR, AUTHORITIES),
        Purpose::Internode => (INTERNODE_PAIR, INTERNODE_AUTHORITIES),
    }
}

/// Settings of `cassandra.yaml`.
pub fn settings(config: &ServerConfig, local: &Local, into: &mut Map<String, Value>) {
    if let Some(mode) = config.internode_tls.filter(|mode| *mode != InternodeTlsMode::Off) {
        into.insert("server_encryption_options".into(), internode(mode, local));
    }
    let optional = match config.client_tls {
        Some(ClientTlsMode::Optional) => true,
        Some(ClientTlsMode::Require) => false,
        Some(ClientTlsMode::Off) | None => return,
    };
    let mut options = stores(files(Purpose::Client), local);
    options["enabled"] = true.into();
    options["optional"] = optional.into();
    options["require_client_auth"] = false.into();
    into.insert("client_encryption_options".into(), options);
    // With a port of its own for TLS the other one takes clients in plaintext.
    into.remove("native_transport_port_ssl");
}

/// Each member shows its certificate, whoever connects. Names are not compared: on 5.0 that
/// refuses every connection that comes in; the authority signs for members of this ring alone.
fn internode(mode: InternodeTlsMode, local: &Local) -> Value {
    let (encryption, optional) = match mode {
        InternodeTlsMode::Off | InternodeTlsMode::Accept => ("none", true),
        InternodeTlsMode::Prefer => ("all", true),
        InternodeTlsMode::Require => ("all", false),
    };
    let mut options = stores(files(Purpose::Internode), local);
    options["internode_encryption"] = encryption.into();
    options["optional"] = optional.into();
    options["require_client_auth"] = true.into();
    options["require_endpoint_verification"] = false.into();
    options
}

/// Where the server reads key and chain, and authorities.
pub fn stores((pair, authorities): (&str, &str), local: &Local) -> Value {
    json!({
        "ssl_context_factory": { "class_name": FACTORY },
        "keystore": local.tls_dir.join(pair),
        "truststore": local.tls_dir.join(authorities),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::testing::{a_config, a_local};

    fn of(client_tls: Option<ClientTlsMode>) -> Value {
        let config = ServerConfig { client_tls, ..a_config("5.0.5") };
        let mut into = Map::new();
        settings(&config, &a_local(), &mut into);
        Value::Object(into)["client_encryption_options"].clone()
    }

    #[test]
    fn members_speak_as_the_step_says_and_show_who_they_are() {
        let of = |mode| {
            let config = ServerConfig { internode_tls: mode, ..a_config("5.0.5") };
            let mut into = Map::new();
            settings(&config, &a_local(), &mut into);
            into.remove("server_encryption_options")
        };
        let steps = [
            (InternodeTlsMode::Accept, "none", true),
            (InternodeTlsMode::Prefer, "all", true),
            (InternodeTlsMode::Require, "all", false),
        ];
        for (mode, encryption, optional) in steps {
            let options = of(Some(mode)).expect("it is said");
            assert_eq!(options["internode_encryption"], encryption);
            assert_eq!(options["optional"], optional);
            assert_eq!(options["require_client_auth"], true);
            assert_eq!(options["keystore"], "/run/palladion/tls/internode.pem");
            assert_eq!(options["truststore"], "/run/palladion/tls/internode-ca.pem");
        }
        assert_eq!((of(None), of(Some(InternodeTlsMode::Off))), (None, None));
    }

    #[test]
    fn tls_is_required_or_optional_and_says_so() {
        assert_eq!(of(Some(ClientTlsMode::Require))["optional"], false);
        assert_eq!(of(Some(ClientTlsMode::Optional))["optional"], true);
        assert_eq!(of(Some(ClientTlsMode::Require))["keystore"], "/run/palladion/tls/client.pem");
        assert!(of(Some(ClientTlsMode::Off)).is_null() && of(None).is_null());
    }
}
