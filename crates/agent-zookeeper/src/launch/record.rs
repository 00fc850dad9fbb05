//! What the agent must know of the running server after a restart of its own. Kept
//! in memory-backed storage: it holds the password of the superuser.

use super::Password;
use palladion_agent_core::launch_record::LaunchRecord;
use serde::{Deserialize, Serialize};

/// The record of a launch.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// Tag of the launch; init tells it of the server that runs.
    pub tag: String,
    /// Hash of the operator's configuration that the server was started with.
    pub config_hash: String,
    /// The password of its superuser.
    pub password: Password,
}

impl LaunchRecord for Record {
    fn tag(&self) -> &str {
        &self.tag
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_that_of_one_launch_and_shows_no_password() {
        let run = tempfile::tempdir().unwrap();
        let path = run.path().join("launch.json");
        let (tag, config_hash) = ("t1".to_string(), "h".to_string());
        let record = Record { tag, config_hash, password: Password::random() };
        record.save(&path).unwrap();
        assert_eq!(Record::load(&path, "t1"), Some(record.clone()));
        assert_eq!(Record::load(&path, "t2"), None);
        assert!(!format!("{record:?}").contains(record.password.reveal()));
    }
}
