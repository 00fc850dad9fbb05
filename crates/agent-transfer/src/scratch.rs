//! The folder that a batch is brought to: empty at first, and gone if the batch fails. Its files
//! need not survive a power cut: what is not loaded is brought again.

use crate::snapshot::shown;
use crate::words::stopped::{Stopped, Unwritten};
use palladion_backup::fetch::{Sink, Target};
use palladion_backup::hash::Hash;
use std::fs::{File, create_dir_all, remove_dir_all};
use std::io::{Error, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// See the module.
pub struct Scratch {
    root: PathBuf,
}

impl Scratch {
    /// Make it, without what an earlier try has left in it.
    ///
    /// # Errors
    /// That cannot be removed, or it cannot be created.
    pub fn new(root: &Path) -> Result<Self, Stopped> {
        let scratch = Self { root: root.to_path_buf() };
        let failed = |error: Error| Stopped::Scratch { path: shown(root), why: error.to_string() };
        scratch.remove().and_then(|()| create_dir_all(root)).map_err(failed)?;
        Ok(scratch)
    }

    /// Make it and fill it; nothing is left of it where that fails.
    ///
    /// # Errors
    /// As [`new`](Self::new), or what `fill` says.
    pub fn filled<T>(
        root: &Path,
        fill: impl FnOnce(&Self) -> Result<T, Stopped>,
    ) -> Result<T, Stopped> {
        let scratch = Self::new(root)?;
        let filled = fill(&scratch);
        if filled.is_err() {
            // The next try empties what is left.
            let _ = scratch.remove();
        }
        filled
    }

    /// Remove it with all that is in it.
    ///
    /// # Errors
    /// Something cannot be removed.
    pub fn remove(&self) -> std::io::Result<()> {
        match remove_dir_all(&self.root) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

impl Target for Scratch {
    fn has(&self, _: &str, _: u64, _: &Hash) -> Result<bool, String> {
        Ok(false)
    }

    fn begin(&self, path: &str) -> Result<Box<dyn Sink>, String> {
        let path = self.root.join(path);
        let failed = |error: Error| {
            Unwritten::Create { path: shown(&path), why: error.to_string() }.to_string()
        };
        path.parent().map(create_dir_all).transpose().map_err(failed)?;
        let file = File::create_new(&path).map_err(failed)?;
        Ok(Box::new(Written { file, path }))
    }
}

struct Written {
    file: File,
    path: PathBuf,
}

impl Sink for Written {
    fn write(&mut self, bytes: &[u8]) -> Result<(), String> {
        let failed = |error: Error| {
            Unwritten::Write { path: shown(&self.path), why: error.to_string() }.to_string()
        };
        self.file.write_all(bytes).map_err(failed)
    }

    fn commit(self: Box<Self>) -> Result<(), String> {
        Ok(())
    }
}
