//! What `up` writes down of a testbed, for later commands to find it.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::names::ClusterName;
use crate::parts::Parts;

/// What `up` leaves for `attach` to find.
#[derive(Debug, Serialize, Deserialize)]
pub struct State {
    /// What was chosen.
    pub config: Config,
    /// The kernel's identity of this boot: nothing of another one still runs.
    pub boot: String,
    /// The cache it was started with; another user's, or another setting's,
    /// would lead to other directories.
    pub cache: PathBuf,
    /// The programs it was started with.
    pub parts: Parts,
    /// The image store the nodes were made from.
    pub store: PathBuf,
    /// The API server's port on the host's loopback.
    pub api_port: u16,
}

impl State {
    /// What is written down of that name, if anything.
    pub fn read(name: &ClusterName) -> Result<Option<Self>> {
        let path = name.run_dir().join("state.json");
        match fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text).map(Some).with_context(|| {
                format!("reading {}; hint: cargo xtask testbed down --name {name}", path.display())
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("reading {}", path.display())),
        }
    }

    /// Writes it down.
    pub fn write(&self) -> Result<()> {
        let path = self.config.name.run_dir().join("state.json");
        fs::write(&path, serde_json::to_vec_pretty(self)?)
            .with_context(|| format!("writing {}", path.display()))
    }
}

/// The kernel's identity of this boot.
pub fn boot() -> Result<String> {
    let path = "/proc/sys/kernel/random/boot_id";
    Ok(fs::read_to_string(path).with_context(|| format!("reading {path}"))?.trim().to_owned())
}
