//! The operator's configuration as it is mounted.

use anyhow::{Context, Result};
use palladion_agent_core::words::files::Doing;
use palladion_api::zookeeper::{ZOOKEEPER_CONFIG_FILE, ZookeeperServerConfig};
use sha2::{Digest, Sha256};
use std::path::Path;

/// The configuration, and its hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mounted {
    /// What it says.
    pub config: ZookeeperServerConfig,
    /// SHA-256 of the mounted file, shortened to 16 hexadecimal digits.
    pub hash: String,
}

impl Mounted {
    /// Read it from its directory.
    ///
    /// # Errors
    /// It is not there, or a newer operator has written it.
    pub fn read(directory: &Path) -> Result<Self> {
        let path = directory.join(ZOOKEEPER_CONFIG_FILE);
        let shown = || path.display().to_string();
        let text = std::fs::read(&path).with_context(|| Doing::Read { path: shown() })?;
        let config =
            serde_json::from_slice(&text).with_context(|| Doing::Parse { path: shown() })?;
        let hash = Sha256::digest(&text).iter().take(8).map(|b| format!("{b:02x}")).collect();
        Ok(Self { config, hash })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_that_is_missing_or_newer_is_an_error_with_its_path() {
        let directory = tempfile::tempdir().unwrap();
        let told = || format!("{:#}", Mounted::read(directory.path()).unwrap_err());
        assert!(told().starts_with("reading "), "{}", told());
        let path = directory.path().join(ZOOKEEPER_CONFIG_FILE);
        std::fs::write(&path, r#"{ "later": 1 }"#).unwrap();
        assert!(told().starts_with("parsing ") && told().contains("later"), "{}", told());
    }
}
