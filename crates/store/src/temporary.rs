//! Files that are not whole yet. Each run has a folder of its own below `.new/`
//! and holds a lock beside it; what has no living owner is removed by the next run.

use rustix::fs::{FlockOperation, flock};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The folder, which no object can be in: names of objects begin with no dot.
pub const NEW: &str = ".new";

/// The folder of this run.
#[derive(Debug)]
pub struct Temporary {
    folder: PathBuf,
    lock: PathBuf,
    /// Locked until the process ends.
    _held: File,
}

impl Temporary {
    /// Create one, and remove what earlier runs have left.
    pub fn new(root: &Path, run: &str) -> io::Result<Self> {
        let all = root.join(NEW);
        std::fs::create_dir_all(&all)?;
        remove_abandoned(&all)?;
        let (folder, lock) = (all.join(run), all.join(format!("{run}.lock")));
        let held = locked(&lock)?;
        std::fs::create_dir(&folder)?;
        Ok(Self { folder, lock, _held: held })
    }

    /// A path for a file.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // The next run removes what is left.
        let _ = std::fs::remove_dir_all(&self.folder);
        let _ = std::fs::remove_file(&self.lock);
    }
}

/// Create and lock a file. A run that cleans up may have taken it between both.
fn locked(path: &Path) -> io::Result<File> {
    loop {
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        flock(&file, FlockOperation::LockExclusive)?;
        match path.symlink_metadata() {
            Ok(there) if there.ino() == file.metadata()?.ino() => return Ok(file),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
}

fn remove_abandoned(all: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(all)? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "lock") {
            continue;
        }
        // Another run may have removed it since.
        let Ok(file) = OpenOptions::new().write(true).open(&path) else { continue };
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            continue;
        }
        match std::fs::remove_dir_all(path.with_extension("")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}
