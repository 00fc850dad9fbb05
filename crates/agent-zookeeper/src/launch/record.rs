//! What the agent must know of the running server after a restart of its own. Kept
//! in memory-backed storage: it holds the password of the superuser.

use super::Password;
use anyhow::{Context, Result};
use palladion_agent_core::volume::durable::write_secret;
use palladion_agent_core::words::files::Doing;
use serde::{Deserialize, Serialize};
use std::path::Path;

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

impl Record {
    /// Keep it.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        let shown = || path.display().to_string();
        let text = serde_json::to_vec(self).with_context(|| Doing::Serialize { path: shown() })?;
        write_secret(path, &text)
    }

    /// The record of the launch with this tag, if it is there.
    pub fn load(path: &Path, tag: &str) -> Option<Self> {
        let text = std::fs::read(path).ok()?;
        serde_json::from_slice::<Self>(&text).ok().filter(|record| record.tag == tag)
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
