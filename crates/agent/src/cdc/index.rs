//! The index beside a segment, in a directory that a sidecar writes to as well: no link is followed,
//! nothing but a regular file is opened, and no more is read than a server writes.

use crate::words::files::Doing;
use anyhow::{Context, Result};
use palladion_agent_core::volume::durable;
use rustix::fs::OFlags;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// What the server writes below the offset when it has written all of a segment.
const COMPLETED: &str = "COMPLETED";
/// Bytes of an offset and that word, and more.
const MOST: u64 = 64;

/// Is nothing added to its segment any more? One that is gone was read.
///
/// # Errors
/// It cannot be read, or is no file.
pub fn is_complete(index: &Path) -> Result<bool> {
    match start_of(index) {
        Ok(text) => Ok(text.lines().nth(1).is_some_and(|line| line.trim() == COMPLETED)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error).with_context(|| Doing::Read { path: index.display().to_string() }),
    }
}

/// Say that it is complete up to this offset. It is written to `part` first, where no sidecar writes:
/// a link of that name in its own directory would lead to any file of the server.
///
/// # Errors
/// It cannot be written.
pub fn complete(index: &Path, part: &Path, offset: u64) -> Result<()> {
    durable::write_text(part, &format!("{offset}\n{COMPLETED}"))?;
    let doing = || Doing::Write { path: index.display().to_string() };
    // For the group, whatever the mask of the process is.
    fs::set_permissions(part, fs::Permissions::from_mode(0o644)).with_context(doing)?;
    fs::rename(part, index).with_context(doing)?;
    index.parent().map_or(Ok(()), durable::sync_directory)
}

fn start_of(index: &Path) -> io::Result<String> {
    let mut start = Vec::new();
    open(index)?.take(MOST).read_to_end(&mut start)?;
    Ok(String::from_utf8_lossy(&start).into_owned())
}

/// A regular file. A pipe would keep whoever opens it waiting for its other end.
///
/// # Errors
/// It cannot be opened, or is something else.
pub fn open(path: &Path) -> io::Result<File> {
    let careful = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = File::options().read(true).custom_flags(careful).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(ErrorKind::InvalidInput.into()),
    }
}
