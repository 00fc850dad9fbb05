//! The operator's configuration as it is mounted.

use crate::words::files::Doing;
use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use std::path::Path;

/// The configuration, and its hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mounted<C> {
    /// What it says.
    pub config: C,
    /// SHA-256 of the mounted file, shortened to 16 hexadecimal digits.
    pub hash: String,
}

impl<C: DeserializeOwned> Mounted<C> {
    /// Read it from a file of its directory.
    ///
    /// # Errors
    /// It is not there, or a newer operator has written it.
    pub fn read_file(directory: &Path, name: &str) -> Result<Self> {
        let path = directory.join(name);
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
    use super::super::testing::Named;
    use super::*;

    #[test]
    fn a_configuration_that_is_missing_or_newer_is_an_error_with_its_path() {
        let directory = tempfile::tempdir().unwrap();
        let read = || Mounted::<Named>::read_file(directory.path(), "server.json");
        let told = || format!("{:#}", read().unwrap_err());
        assert!(told().starts_with("reading "), "{}", told());
        let path = directory.path().join("server.json");
        std::fs::write(&path, r#"{ "name": 1 }"#).unwrap();
        assert!(told().starts_with("parsing ") && told().contains("string"), "{}", told());
        std::fs::write(&path, r#"{ "name": "a" }"#).unwrap();
        assert_eq!(read().unwrap().hash.len(), 16);
    }
}
