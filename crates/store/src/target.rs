//! The directory that a backup is fetched to. It belongs to one backup of one
//! repository: a mark in it says which, and a directory with anything else in it
//! is refused. A file has its name only once its content was checked.

use palladion_backup::fetch::{Sink, Target};
use palladion_backup::hash::{Hash, Sum};
use palladion_backup::names::BackupId;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// Says whose files a directory holds.
const MARK: &str = ".palladion-backup";
/// At the end of the name of a file that is not whole.
const PARTIAL: &str = ".partial";
const BUFFER: usize = 1024 * 1024;

/// See the module.
#[derive(Debug)]
pub struct Folder {
    root: PathBuf,
}

fn said<'a>(doing: &'a str, path: &'a Path) -> impl Fn(io::Error) -> String + 'a {
    move |error| format!("cannot {doing} {}: {error}", path.display())
}

impl Folder {
    /// A directory for this backup: new, empty, or one that this backup was
    /// fetched to before.
    ///
    /// # Errors
    /// There is something else in it, or it cannot be created.
    pub fn of(root: &Path, repository: &str, backup: &BackupId) -> Result<Self, String> {
        std::fs::create_dir_all(root).map_err(said("create", root))?;
        let mark = root.join(MARK);
        let text = format!("{repository} {backup}\n");
        let ours = Self { root: root.to_path_buf() };
        match std::fs::read_to_string(&mark) {
            Ok(found) if found == text => return Ok(ours),
            Ok(found) => {
                let found = found.trim().split(' ').next_back().unwrap_or_default().to_string();
                return Err(format!(
                    "{} holds files of another backup ({found}); give a directory of its own to each backup",
                    root.display()
                ));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(said("read", &mark)(error)),
        }
        let mut entries = std::fs::read_dir(root).map_err(said("read", root))?;
        if entries.next().is_some() {
            return Err(format!("{} is not empty; give a new directory", root.display()));
        }
        std::fs::write(&mark, text).map_err(said("write", &mark))?;
        Ok(ours)
    }
}

impl Target for Folder {
    fn has(&self, path: &str, bytes: u64, sha256: &Hash) -> Result<bool, String> {
        let path = self.root.join(path);
        let there = match path.symlink_metadata() {
            Ok(there) => there,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(said("look at", &path)(error)),
        };
        let is_this = there.is_file() && there.len() == bytes && hash(&path)? == *sha256;
        match is_this {
            true => Ok(true),
            false => Err(format!(
                "{} is not the file of the backup; move it away, then fetch again",
                path.display()
            )),
        }
    }

    fn begin(&self, path: &str) -> Result<Box<dyn Sink>, String> {
        let path = self.root.join(path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(said("create", folder))?;
        }
        let mut partial = path.clone().into_os_string();
        partial.push(PARTIAL);
        let partial = PathBuf::from(partial);
        let file = OpenOptions::new().write(true).create(true).truncate(true).open(&partial);
        let file = file.map_err(said("create", &partial))?;
        Ok(Box::new(Partial { file, partial, path, is_whole: false }))
    }
}

fn hash(path: &Path) -> Result<Hash, String> {
    let mut file = File::open(path).map_err(said("open", path))?;
    let (mut sum, mut buffer) = (Sum::default(), vec![0; BUFFER]);
    loop {
        match file.read(&mut buffer).map_err(said("read", path))? {
            0 => return Ok(sum.end().0),
            bytes => sum.add(&buffer[..bytes]),
        }
    }
}

struct Partial {
    file: File,
    partial: PathBuf,
    path: PathBuf,
    is_whole: bool,
}

impl Sink for Partial {
    fn write(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.file.write_all(bytes).map_err(said("write", &self.partial))
    }

    fn commit(mut self: Box<Self>) -> Result<(), String> {
        self.file.sync_all().map_err(said("write", &self.partial))?;
        std::fs::rename(&self.partial, &self.path).map_err(said("rename", &self.partial))?;
        self.is_whole = true;
        Ok(())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.is_whole {
            // The next fetch truncates what is left.
            let _ = std::fs::remove_file(&self.partial);
        }
    }
}
