//! What an agent must know of the running server after a restart of its own. Kept in
//! memory-backed storage: it holds credentials.

use crate::volume::durable::write_secret;
use crate::words::files::Doing;
use anyhow::{Context, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::Path;

/// The record of a launch.
pub trait LaunchRecord: Serialize + DeserializeOwned {
    /// Tag of the launch; init tells it of the server that runs.
    fn tag(&self) -> &str;

    /// Keep it, readable by us alone.
    ///
    /// # Errors
    /// It cannot be written.
    fn save(&self, path: &Path) -> Result<()> {
        let shown = || path.display().to_string();
        let text = serde_json::to_vec(self).with_context(|| Doing::Serialize { path: shown() })?;
        write_secret(path, &text)
    }

    /// The record of the launch with this tag, if it is there.
    fn load(path: &Path, tag: &str) -> Option<Self> {
        let text = std::fs::read(path).ok()?;
        serde_json::from_slice::<Self>(&text).ok().filter(|record| record.tag() == tag)
    }
}
