//! Authentication as the spec says it: the server's settings, and whether it
//! may make its default superuser.

use super::{Door, Entry, Identity};
use crate::volume::roles::Roles;
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

/// Whether a server may make its default superuser, in this start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultRole {
    /// At once: the agent that sealed it closes that user.
    AtOnce,
    /// After ten seconds, where there is no role: a ring that runs is made to ask for passwords.
    InTime,
    /// Never.
    Never,
}

/// Where there is no role, a server makes the superuser `cassandra` with a password that
/// everybody knows. In a ring that was initialized behind a seal, or that a member joins, there
/// are roles; then none is made whatever becomes of them. Otherwise our agent closes it with
/// what is in its Secret; without one, or where a Secret names that very user, it is not made.
pub fn default_role(identity: &Identity, noted: Roles, secret: AgentsSecret) -> DefaultRole {
    let has_roles = matches!(noted, Roles::Made | Roles::Unreadable)
        || match identity.entry {
            Entry::Plain => false,
            Entry::Join | Entry::Replace { .. } | Entry::ResumeLeave | Entry::Restore { .. } => {
                true
            }
        };
    match (identity.door, secret) {
        (Door::Sealed, _) => DefaultRole::AtOnce,
        // The ring that it was added to has its roles elsewhere, as yet.
        (Door::AwaitsRebuild, _) => DefaultRole::Never,
        (Door::Open | Door::Closed, _) if has_roles => DefaultRole::Never,
        (Door::Open | Door::Closed, AgentsSecret::Missing | AgentsSecret::NamesDefault) => {
            DefaultRole::Never
        }
        (Door::Open | Door::Closed, AgentsSecret::Mounted) => DefaultRole::InTime,
    }
}

/// The option that says so.
pub fn options(config: &ServerConfig, default: DefaultRole) -> Vec<String> {
    let milliseconds = match (config.auth, default) {
        (Some(AuthMode::Off) | None, _) | (Some(AuthMode::Password), DefaultRole::InTime) => {
            return Vec::new();
        }
        (Some(AuthMode::Password), DefaultRole::AtOnce) => "0",
        (Some(AuthMode::Password), DefaultRole::Never) => "9000000000000",
    };
    vec![format!("-Dcassandra.superuser_setup_delay_ms={milliseconds}")]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::Clients;
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

    fn a_start(entry: Entry, door: Door) -> Identity {
        Identity {
            address: "10.96.0.11".into(),
            clients: Clients::AsMembers,
            seeds: vec![],
            entry,
            door,
        }
    }

    #[test]
    fn the_default_superuser_is_made_only_for_an_agent_that_can_close_it() {
        let of = |secret| default_role(&a_start(Entry::Plain, Door::Open), Roles::NotNoted, secret);
        assert_eq!(of(AgentsSecret::Missing), DefaultRole::Never);
        assert_eq!(of(AgentsSecret::NamesDefault), DefaultRole::Never);
        assert_eq!(of(AgentsSecret::Mounted), DefaultRole::InTime);
    }

    #[test]
    fn where_there_are_roles_no_server_makes_the_default_one() {
        let replace = Entry::Replace { address: "10.96.0.12".into(), host_id: None };
        let restore = Entry::Restore { tokens: vec!["7".into()] };
        for entry in [Entry::Join, replace, Entry::ResumeLeave, restore] {
            let start = a_start(entry, Door::Open);
            let default = default_role(&start, Roles::NotNoted, AgentsSecret::Mounted);
            assert_eq!(default, DefaultRole::Never, "{start:?}");
        }
        for noted in [Roles::Made, Roles::Unreadable] {
            let again = a_start(Entry::Plain, Door::Open);
            let default = default_role(&again, noted, AgentsSecret::Mounted);
            assert_eq!(default, DefaultRole::Never, "{noted:?}");
        }
    }

    #[test]
    fn a_sealed_server_makes_it_at_once() {
        let sealed = a_start(Entry::Plain, Door::Sealed);
        let default = default_role(&sealed, Roles::Sealing, AgentsSecret::Mounted);
        assert_eq!(default, DefaultRole::AtOnce);
        let password = a_config_with(Some(AuthMode::Password));
        assert_eq!(options(&password, default), ["-Dcassandra.superuser_setup_delay_ms=0"]);
        assert!(options(&a_config_with(None), default).is_empty());
    }
}
