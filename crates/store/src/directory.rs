//! A store in a directory: a volume that is mounted. An object is written aside,
//! brought to the disk, and linked under its name, which fails where there is
//! one; so no name ever stands for half an object, and none is overwritten.

use crate::temporary::{NEW, Temporary};
use palladion_backup::Random;
use palladion_backup::names::is_object;
use palladion_backup::store::{Created, Failure, Meta, Store, Undeleted};
use std::cell::{Cell, OnceCell};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A folder may be removed, being empty, while an object is linked into it.
const TRIES: usize = 5;

/// See the module.
pub struct Directory<'a> {
    root: PathBuf,
    random: &'a dyn Random,
    /// Created by the first write: who only reads needs no right to write.
    temporary: OnceCell<Temporary>,
    count: Cell<u64>,
}

fn failure(error: impl std::fmt::Display) -> Failure {
    Failure(error.to_string())
}

impl<'a> Directory<'a> {
    /// A store in this directory, which exists.
    ///
    /// # Errors
    /// It is no directory that can be read.
    pub fn open(root: &Path, random: &'a dyn Random) -> Result<Self, String> {
        let shown = root.display();
        std::fs::read_dir(root)
            .map_err(|error| format!("cannot read the store {shown}: {error}"))?;
        let (temporary, count) = (OnceCell::new(), Cell::new(0));
        Ok(Self { root: root.to_path_buf(), random, temporary, count })
    }

    fn path(&self, name: &str) -> Result<PathBuf, Failure> {
        match is_object(name) {
            true => Ok(self.root.join(name)),
            false => Err(Failure(format!("`{name}` is not the name of an object"))),
        }
    }

    fn temporary(&self) -> Result<PathBuf, Failure> {
        if self.temporary.get().is_none() {
            let made = Temporary::new(&self.root, &self.random.nonce()).map_err(failure)?;
            let _ = self.temporary.set(made);
        }
        let number = self.count.get();
        self.count.set(number + 1);
        let temporary = self.temporary.get().ok_or(Failure("no folder".into()))?;
        Ok(temporary.path(&number.to_string()))
    }

    /// Write aside, down to the disk.
    fn aside(&self, bytes: &[u8]) -> Result<PathBuf, Failure> {
        let path = self.temporary()?;
        let written =
            OpenOptions::new().write(true).create_new(true).open(&path).and_then(|mut file| {
                file.write_all(bytes)?;
                file.sync_all()
            });
        match written {
            Ok(()) => Ok(path),
            Err(error) => {
                let _ = std::fs::remove_file(&path);
                Err(failure(error))
            }
        }
    }

    /// Create the folders of an object, each brought to the disk.
    fn folders(&self, path: &Path) -> io::Result<()> {
        let mut missing = Vec::new();
        for folder in path.ancestors().skip(1).take_while(|folder| *folder != self.root) {
            match folder.symlink_metadata() {
                Ok(_) => break,
                Err(error) if error.kind() == ErrorKind::NotFound => missing.push(folder),
                Err(error) => return Err(error),
            }
        }
        for folder in missing.into_iter().rev() {
            match std::fs::create_dir(folder) {
                Ok(()) => sync_folder(folder)?,
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<Created> {
        let mut last = None;
        for _ in 0..TRIES {
            self.folders(to)?;
            match std::fs::hard_link(from, to) {
                Ok(()) => {
                    sync_folder(to)?;
                    return Ok(Created::Now);
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    return Ok(Created::Before);
                }
                Err(error) if error.kind() == ErrorKind::NotFound => last = Some(error),
                Err(error) => return Err(error),
            }
        }
        Err(last.unwrap_or(ErrorKind::NotFound.into()))
    }
}

/// Bring the folder of a path to the disk.
fn sync_folder(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

impl Store for Directory<'_> {
    fn put_if_absent(&self, name: &str, bytes: &[u8]) -> Result<Created, Failure> {
        let path = self.path(name)?;
        let aside = self.aside(bytes)?;
        let linked = self.link(&aside, &path);
        let _ = std::fs::remove_file(&aside);
        linked.map_err(failure)
    }

    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, Failure> {
        let path = self.path(name)?;
        let no_follow = rustix::fs::OFlags::NOFOLLOW.bits();
        let flags = i32::try_from(no_follow).map_err(failure)?;
        match OpenOptions::new().read(true).custom_flags(flags).open(path) {
            Ok(mut file) => {
                let mut bytes = Vec::new();
                file.read_to_end(&mut bytes).map_err(failure)?;
                Ok(Some(bytes))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failure(error)),
        }
    }

    fn head(&self, name: &str) -> Result<Option<Meta>, Failure> {
        match self.path(name)?.symlink_metadata() {
            Ok(there) => Ok(Some(meta(name.to_string(), &there))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failure(error)),
        }
    }

    fn list(&self, prefix: &str) -> Result<Vec<Meta>, Failure> {
        let folder = prefix.trim_end_matches('/');
        let path = if folder.is_empty() { self.root.clone() } else { self.path(folder)? };
        let mut all = Vec::new();
        walk(&path, folder, &mut all).map_err(failure)?;
        all.retain(|meta| meta.name.starts_with(prefix));
        all.sort();
        Ok(all)
    }

    fn folders(&self, folder: &str) -> Result<Vec<String>, Failure> {
        let path = self.path(folder.trim_end_matches('/'))?;
        let entries = match std::fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failure(error)),
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(failure)?;
            if entry.file_type().map_err(failure)?.is_dir() {
                names.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    fn delete(&self, name: &str) -> Result<(), Undeleted> {
        let path = self.path(name)?;
        match std::fs::remove_file(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) if is_refused(error.kind()) => {
                return Err(Undeleted::Refused(failure(error)));
            }
            Err(error) => return Err(failure(error).into()),
        }
        // Folders that are empty now go too; one that is not refuses.
        for folder in path.ancestors().skip(1).take_while(|folder| *folder != self.root) {
            if std::fs::remove_dir(folder).is_err() {
                break;
            }
        }
        Ok(())
    }

    fn now(&self) -> Result<i64, Failure> {
        let aside = self.aside(b"")?;
        let there = std::fs::metadata(&aside).map_err(failure);
        let _ = std::fs::remove_file(&aside);
        Ok(there?.mtime())
    }
}

fn is_refused(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

fn meta(name: String, of: &std::fs::Metadata) -> Meta {
    Meta { name, bytes: of.len(), modified: of.mtime() }
}

/// The files below a folder, each with its name from the root.
fn walk(folder: &Path, name: &str, all: &mut Vec<Meta>) -> io::Result<()> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let entry = entry?;
        let own = entry.file_name().to_string_lossy().into_owned();
        let name = if name.is_empty() { own.clone() } else { format!("{name}/{own}") };
        let there = match entry.metadata() {
            Ok(there) => there,
            // It was deleted while we looked.
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        match (there.is_dir(), there.is_file()) {
            (true, _) if own != NEW => walk(&entry.path(), &name, all)?,
            (_, true) => all.push(meta(name, &there)),
            (true, _) | (false, false) => {}
        }
    }
    Ok(())
}
