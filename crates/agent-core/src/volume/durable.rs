//! Files that survive a power cut: written beside, synced, renamed, and the
//! directory synced.

use crate::words::files::{Doing, Missing};
use anyhow::{Context, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Replace a JSON file as a whole, or not at all.
pub fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    let mut text = serde_json::to_vec_pretty(value)
        .with_context(|| Doing::Serialize { path: path.display().to_string() })?;
    text.push(b'\n');
    let part = path.with_extension("part");
    let file =
        File::create(&part).with_context(|| Doing::Create { path: part.display().to_string() })?;
    replace(path, &part, file, &text)
}

/// Replace a text file as a whole, or not at all.
pub fn write_text(path: &Path, text: &str) -> Result<()> {
    let part = part_of(path);
    let file =
        File::create(&part).with_context(|| Doing::Create { path: part.display().to_string() })?;
    replace(path, &part, file, text.as_bytes())
}

/// Beside the file, under its whole name: others may differ in the extension alone.
fn part_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(".part");
    PathBuf::from(name)
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
        .with_context(|| Doing::Create { path: part.display().to_string() })?;
    replace(path, &part, file, text)
}

fn replace(path: &Path, part: &Path, mut file: File, text: &[u8]) -> Result<()> {
    let directory =
        path.parent().with_context(|| Missing::Parent { path: path.display().to_string() })?;
    file.write_all(text).with_context(|| Doing::Write { path: part.display().to_string() })?;
    file.sync_all().with_context(|| Doing::Sync { path: part.display().to_string() })?;
    fs::rename(part, path).with_context(|| Doing::Rename {
        from: part.display().to_string(),
        to: path.display().to_string(),
    })?;
    sync_directory(directory)
}

/// Make renames and removals in a directory durable.
pub fn sync_directory(path: &Path) -> Result<()> {
    File::open(path)
        .and_then(|d| d.sync_all())
        .with_context(|| Doing::SyncDirectory { path: path.display().to_string() })
}

/// Read a JSON file; `None` where there is none. Anything else that cannot be
/// read is an error, never "none".
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(error).with_context(|| Doing::Read { path: path.display().to_string() });
        }
    };
    serde_json::from_slice(&text)
        .map(Some)
        .with_context(|| Doing::Parse { path: path.display().to_string() })
}
