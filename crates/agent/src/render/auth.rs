//! Authentication as the spec says it: the server's settings, and whether it
//! may make its default superuser.

use palladion_api::cluster::AuthMode;
use palladion_api::server_config::ServerConfig;
use serde_json::{Map, Value, json};

/// Is the Secret of the agents mounted?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentsSecret {
    /// User and password are there.
    Mounted,
    /// They are not.
    Missing,
    /// One of the Secrets names the default superuser, which nobody closes then.
    NamesDefault,
}

/// Settings of `cassandra.yaml`.
pub fn settings(config: &ServerConfig, into: &mut Map<String, Value>) {
    match config.auth {
        Some(AuthMode::Password) => {
            into.insert("authenticator".into(), json!("PasswordAuthenticator"));
            into.insert("authorizer".into(), json!("CassandraAuthorizer"));
            into.insert("role_manager".into(), json!("CassandraRoleManager"));
        }
        Some(AuthMode::Off) | None => {}
    }
}

/// Where there is no role, a server makes the superuser `cassandra` with a
/// password that everybody knows, ten seconds after its start. Our agent closes
/// it with what is in its Secret. Without one, or where a Secret names that very user, it
/// is not made at all.
pub fn options(config: &ServerConfig, secret: AgentsSecret) -> Vec<String> {
    match (config.auth, secret) {
        (Some(AuthMode::Password), AgentsSecret::Missing | AgentsSecret::NamesDefault) => {
            vec!["-Dcassandra.superuser_setup_delay_ms=9000000000000".into()]
        }
        (Some(AuthMode::Password), AgentsSecret::Mounted) | (Some(AuthMode::Off) | None, _) => {
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::testing::a_config;

    fn a_config_with(auth: Option<AuthMode>) -> ServerConfig {
        ServerConfig { auth, ..a_config("5.0.5") }
    }

    fn names(auth: Option<AuthMode>) -> Vec<String> {
        let mut into = Map::new();
        settings(&a_config_with(auth), &mut into);
        into.keys().cloned().collect()
    }

    #[test]
    fn a_ring_with_auth_asks_for_a_password() {
        let all = ["authenticator", "authorizer", "role_manager"];
        assert_eq!(names(Some(AuthMode::Password)), all);
        assert!(names(Some(AuthMode::Off)).is_empty());
        assert!(names(None).is_empty());
    }

    #[test]
    fn the_default_superuser_is_made_only_for_an_agent_that_can_close_it() {
        let password = a_config_with(Some(AuthMode::Password));
        assert_eq!(options(&password, AgentsSecret::Missing).len(), 1);
        assert_eq!(options(&password, AgentsSecret::NamesDefault).len(), 1);
        assert!(options(&password, AgentsSecret::Mounted).is_empty());
        assert!(options(&a_config_with(None), AgentsSecret::Missing).is_empty());
    }
}
