//! TLS for clients as the spec says it. `optional` is always written: absent it
//! means true to some servers.

use super::Local;
use palladion_api::cluster::ClientTlsMode;
use palladion_api::server_config::ServerConfig;
use serde_json::{Map, Value, json};

/// Key and chain, in one file so that a pair changes at once.
pub const PAIR: &str = "client.pem";
/// Authorities.
pub const AUTHORITIES: &str = "client-ca.pem";
/// Reads PEM files; from 4.1 on.
const FACTORY: &str = "org.apache.cassandra.security.PEMBasedSslContextFactory";

/// Settings of `cassandra.yaml`.
pub fn settings(config: &ServerConfig, local: &Local, into: &mut Map<String, Value>) {
    let optional = match config.client_tls {
        Some(ClientTlsMode::Optional) => true,
        Some(ClientTlsMode::Require) => false,
        Some(ClientTlsMode::Off) | None => return,
    };
    into.insert(
        "client_encryption_options".into(),
        json!({
            "enabled": true,
            "optional": optional,
            "require_client_auth": false,
            "ssl_context_factory": { "class_name": FACTORY },
            "keystore": local.tls_dir.join(PAIR),
            "truststore": local.tls_dir.join(AUTHORITIES),
        }),
    );
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
    fn tls_is_required_or_optional_and_says_so() {
        assert_eq!(of(Some(ClientTlsMode::Require))["optional"], false);
        assert_eq!(of(Some(ClientTlsMode::Optional))["optional"], true);
        assert_eq!(of(Some(ClientTlsMode::Require))["keystore"], "/run/palladion/tls/client.pem");
        assert!(of(Some(ClientTlsMode::Off)).is_null() && of(None).is_null());
    }
}
