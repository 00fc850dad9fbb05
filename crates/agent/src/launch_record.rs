//! What the agent must know of the running server after a restart of its own.
//! Kept in memory-backed storage: it holds Jolokia's credentials.

use crate::management::Credentials;
use palladion_api::ids::{ClientAddress, StaticAddress};
use palladion_api::runtime::RuntimeSettings;
use serde::{Deserialize, Serialize};

/// The record of a launch.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct LaunchRecord {
    /// Tag of the launch; init tells it of the server that runs.
    pub tag: String,
    /// Hash of the operator's configuration that the server was started with.
    pub config_hash: String,
    /// Seeds that the configuration file has now.
    pub seeds: Vec<StaticAddress>,
    /// Runtime settings that the server was told.
    #[serde(default)]
    pub runtime: RuntimeSettings,
    /// What it had before it was told any.
    #[serde(default)]
    pub runtime_before: Option<RuntimeSettings>,
    /// Does the server take its agent alone over CQL?
    #[serde(default)]
    pub sealed: bool,
    /// Does the server take no clients, since its ring is being restored?
    #[serde(default)]
    pub closed: bool,
    /// Was it started without its native transport, since its member was not rebuilt?
    #[serde(default)]
    pub awaits_rebuild: bool,
    /// Was its native transport seen up? Before, a server that was started open is yet to open it,
    /// and a call to close it does nothing.
    #[serde(default)]
    pub was_open: bool,
    /// To which time it was started to replay an archived commit log, in seconds since 1970.
    #[serde(default)]
    pub rewound: Option<i64>,
    /// The address that the server announces to clients, where it is not the one by which members
    /// know it.
    #[serde(default)]
    pub client_address: Option<ClientAddress>,
    /// Credentials, where the server was given some.
    pub credentials: Option<Credentials>,
}

impl palladion_agent_core::launch_record::LaunchRecord for LaunchRecord {
    fn tag(&self) -> &str {
        &self.tag
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palladion_agent_core::launch_record::LaunchRecord as _;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn is_found_by_its_tag_alone_and_read_by_us_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("launch.json");
        let record = LaunchRecord {
            tag: "t1".into(),
            config_hash: "c".into(),
            seeds: vec!["10.96.0.11".into()],
            runtime: RuntimeSettings::default(),
            runtime_before: None,
            sealed: false,
            closed: false,
            awaits_rebuild: false,
            was_open: false,
            rewound: None,
            client_address: Some("203.0.113.7".into()),
            credentials: Some(Credentials::random()),
        };
        record.save(&path).unwrap();
        assert_eq!(LaunchRecord::load(&path, "t1"), Some(record));
        assert_eq!(LaunchRecord::load(&path, "t2"), None);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
