//! What is in a directory. What cannot be read is an error, never nothing.

use crate::words::files::Doing;
use anyhow::{Context, Result};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The paths in a directory; none where there is no such directory.
pub fn below(directory: &Path) -> Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            return Err(error)
                .with_context(|| Doing::List { path: directory.display().to_string() });
        }
    };
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    paths
        .collect::<std::io::Result<_>>()
        .with_context(|| Doing::List { path: directory.display().to_string() })
}

/// The names in a directory; none where there is no such directory.
pub fn names(directory: &Path) -> Result<Vec<String>> {
    let listing = || Doing::List { path: directory.display().to_string() };
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(error).with_context(listing),
    };
    let name = |entry: std::io::Result<fs::DirEntry>| {
        entry.map(|e| e.file_name().to_string_lossy().into_owned()).with_context(listing)
    };
    entries.map(name).collect()
}

/// Is there any file below a directory? Stops at the first.
pub fn any_file(directory: &Path, except: &[&str]) -> Result<bool> {
    let entries = fs::read_dir(directory)
        .with_context(|| Doing::List { path: directory.display().to_string() })?;
    for entry in entries {
        let entry = entry.with_context(|| Doing::List { path: directory.display().to_string() })?;
        if except.iter().any(|name| entry.file_name() == *name) {
            continue;
        }
        let kind = entry
            .file_type()
            .with_context(|| Doing::Inspect { path: entry.path().display().to_string() })?;
        if !kind.is_dir() || any_file(&entry.path(), &[])? {
            return Ok(true);
        }
    }
    Ok(false)
}
