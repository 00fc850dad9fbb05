//! Files that survive a power cut: written beside, synced, renamed, and the
//! directory synced.

use anyhow::{Context, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Replace a JSON file as a whole, or not at all.
pub fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    let mut text = serde_json::to_vec_pretty(value)
        .with_context(|| format!("serialising {}", path.display()))?;
    text.push(b'\n');
    let part = path.with_extension("part");
    let file = File::create(&part).with_context(|| format!("creating {}", part.display()))?;
    replace(path, &part, file, &text)
}

/// Replace a file that only we may read, as a whole or not at all.
pub fn write_secret(path: &Path, text: &[u8]) -> Result<()> {
    let part = path.with_extension("part");
    let _ = fs::remove_file(&part);
    let file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&part)
        .with_context(|| format!("creating {}", part.display()))?;
    replace(path, &part, file, text)
}

fn replace(path: &Path, part: &Path, mut file: File, text: &[u8]) -> Result<()> {
    let directory =
        path.parent().with_context(|| format!("{} has no directory", path.display()))?;
    file.write_all(text).with_context(|| format!("writing {}", part.display()))?;
    file.sync_all().with_context(|| format!("syncing {}", part.display()))?;
    fs::rename(part, path)
        .with_context(|| format!("renaming {} to {}", part.display(), path.display()))?;
    sync_directory(directory)
}

/// Make renames and removals in a directory durable.
pub fn sync_directory(path: &Path) -> Result<()> {
    File::open(path)
        .and_then(|d| d.sync_all())
        .with_context(|| format!("syncing directory {}", path.display()))
}

/// Read a JSON file; `None` where there is none. Anything else that cannot be
/// read is an error, never "none".
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("reading {}", path.display())),
    };
    serde_json::from_slice(&text).map(Some).with_context(|| format!("parsing {}", path.display()))
}
