//! The files of a snapshot on the member's volume: listed once, compared with what
//! the server says of them, read without filling the page cache, and removed one
//! SSTable after the other, so that the snapshot shrinks while it is sent.

use crate::settings::Tag;
use crate::words::stopped::{Stopped, Unsent};
use palladion_backup::Trouble;
use palladion_backup::hash::Hash;
use palladion_backup::manifest::member::Identity;
use palladion_backup::names::is_uuid;
use palladion_backup::take::{Listed, Snapshot};
use rustix::fs::{Advice, fadvise};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::{DirEntry, File};
use std::io::ErrorKind;
use std::num::NonZeroU64;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// What the server writes beside the components.
const MANIFEST: &str = "manifest.json";
const SCHEMA: &str = "schema.cql";
/// A checksum as text is ten digits at most.
const DIGEST: &str = "Digest.crc32";

/// A file of the snapshot, and where it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Found {
    /// What it is.
    pub file: Listed,
    /// Where it is.
    pub path: PathBuf,
}

/// The part of the server's manifest that is read.
#[derive(Deserialize)]
struct Manifest {
    files: Vec<String>,
}

/// The folders of a snapshot, each with its keyspace, table and table ID.
///
/// # Errors
/// A data directory cannot be read.
pub fn folders(data: &[PathBuf], tag: &Tag) -> Result<Vec<(PathBuf, [String; 3])>, Stopped> {
    let mut all = Vec::new();
    for (_, keyspace) in
        data.iter().map(|data| entries(data)).collect::<Result<Vec<_>, _>>()?.concat()
    {
        if !keyspace.is_dir() {
            continue;
        }
        for (name, table) in entries(&keyspace)? {
            let folder = table.join("snapshots").join(tag.as_str());
            let Some((own, id)) = name.rsplit_once('-').filter(|_| folder.is_dir()) else {
                continue;
            };
            let keyspace = name_of(&keyspace);
            let id = uuid(id).ok_or_else(|| Stopped::Stranger { path: shown(&table) })?;
            all.push((folder, [keyspace, own.to_string(), id]));
        }
    }
    Ok(all)
}

/// Which tables a snapshot has: a hash of their folders. One that is cleared in part has another.
///
/// # Errors
/// A data directory cannot be read.
pub fn fingerprint(data: &[PathBuf], tag: &Tag) -> Result<String, Stopped> {
    let mut names: Vec<String> =
        folders(data, tag)?.into_iter().map(|(_, names)| names.join(" ")).collect();
    names.sort();
    Ok(Hash::of(names.join("\n").as_bytes()).to_string())
}

/// List a snapshot in the order of manifests, file by file: of a table only the names
/// are held.
///
/// # Errors
/// It is not there, not whole, or has what is not known; or what `each` says.
pub fn list(
    (data, tag): (&[PathBuf], &Tag),
    each: &mut dyn FnMut(Found) -> Result<(), Stopped>,
) -> Result<(), Stopped> {
    let mut folders = folders(data, tag)?;
    if folders.is_empty() {
        return Err(Stopped::NoSnapshot { tag: tag.as_str().into() });
    }
    // A table may lie in several data directories.
    let id = |(_, table): &(PathBuf, [String; 3])| table[2].clone();
    folders.sort_by_cached_key(id);
    for parts in folders.chunk_by(|a, b| a.1 == b.1) {
        list_table(parts, each)?;
    }
    Ok(())
}

fn list_table(
    parts: &[(PathBuf, [String; 3])],
    each: &mut dyn FnMut(Found) -> Result<(), Stopped>,
) -> Result<(), Stopped> {
    let mut all: Vec<(String, usize)> = Vec::new();
    for (at, (folder, _)) in parts.iter().enumerate() {
        let names = component_names(folder)?;
        compare(folder, &names)?;
        all.extend(names.into_iter().map(|name| (name, at)));
    }
    let sstable = |name: &str| name.rsplit_once('-').map(|(own, _)| own.to_string());
    // By SSTable first: its name is compared as a whole, and not with what follows it.
    all.sort_by(|(a, _), (b, _)| {
        a.rsplit_once('-').cmp(&b.rsplit_once('-')).then_with(|| a.cmp(b))
    });
    for files in all.chunk_by(|(a, _), (b, _)| sstable(a) == sstable(b)) {
        let path = |(name, at): &(String, usize)| parts[*at].0.join(name);
        let is_digest = |(name, _): &&(String, usize)| name.ends_with(&format!("-{DIGEST}"));
        let found = files.iter().find(is_digest);
        let digest = found.map(|found| digest(&path(found))).transpose()?;
        for file in files {
            each(found_at(path(file), (&file.0, &parts[file.1].1), digest)?)?;
        }
    }
    Ok(())
}

/// The names of the components in a folder.
fn component_names(folder: &Path) -> Result<Vec<String>, Stopped> {
    let mut all = Vec::new();
    for (name, path) in entries(folder)? {
        // Indexes of the older kind have a hidden folder: they are built anew.
        if name == MANIFEST || name == SCHEMA || name.starts_with('.') {
            continue;
        }
        // Version, ID, format, component.
        if name.split('-').count() != 4 {
            return Err(Stopped::Stranger { path: shown(&path) });
        }
        all.push(name);
    }
    Ok(all)
}

fn found_at(
    path: PathBuf,
    (name, [keyspace, table, table_id]): (&str, &[String; 3]),
    digest: Option<u32>,
) -> Result<Found, Stopped> {
    let about = path.symlink_metadata().map_err(|error| gone(&path, &error))?;
    let Some((sstable, component)) = name.rsplit_once('-').filter(|_| about.is_file()) else {
        return Err(Stopped::Stranger { path: shown(&path) });
    };
    let file = Listed {
        keyspace: keyspace.clone(),
        table: table.clone(),
        table_id: table_id.clone(),
        sstable: sstable.to_string(),
        component: component.to_string(),
        bytes: about.len(),
        identity: Identity { inode: about.ino(), modified: modified(&about), digest },
    };
    Ok(Found { file, path })
}

/// The server says which SSTables are in a snapshot; one that was cleared in part
/// while we looked has fewer.
fn compare(folder: &Path, names: &[String]) -> Result<(), Stopped> {
    let path = folder.join(MANIFEST);
    let bytes = std::fs::read(&path).map_err(|error| gone(&path, &error))?;
    let listing =
        |error: serde_json::Error| Stopped::Listing { path: shown(&path), why: error.to_string() };
    let manifest: Manifest = serde_json::from_slice(&bytes).map_err(listing)?;
    let named = manifest.files.iter().filter(|name| !name.starts_with('.'));
    let named: BTreeSet<&str> = named.map(String::as_str).collect();
    let there = names.iter().filter(|name| name.ends_with("-Data.db"));
    let there: BTreeSet<&str> = there.map(String::as_str).collect();
    let (path, one) = (shown(folder), |name: Option<&&str>| name.map(|name| name.to_string()));
    match (one(named.difference(&there).next()), one(there.difference(&named).next())) {
        (Some(file), _) => Err(Stopped::NotThere { path, file }),
        (None, Some(file)) => Err(Stopped::NotInManifest { path, file }),
        (None, None) => Ok(()),
    }
}

fn digest(path: &Path) -> Result<u32, Stopped> {
    let text = std::fs::read_to_string(path).map_err(|error| gone(path, &error))?;
    text.trim().parse().map_err(|_| Stopped::Digest { file: shown(path) })
}

pub(crate) fn entries(folder: &Path) -> Result<Vec<(String, PathBuf)>, Stopped> {
    let failed =
        |error: std::io::Error| Stopped::Listing { path: shown(folder), why: error.to_string() };
    let named = |entry: std::io::Result<DirEntry>| {
        let path = entry.map_err(failed)?.path();
        Ok::<_, Stopped>((name_of(&path), path))
    };
    let mut all: Vec<_> =
        std::fs::read_dir(folder).map_err(failed)?.map(named).collect::<Result<_, _>>()?;
    all.sort();
    Ok(all)
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

pub(crate) fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn why(error: &std::io::Error) -> Unsent {
    match error.kind() {
        ErrorKind::NotFound => Unsent::Gone,
        _ => Unsent::Failed { why: error.to_string() },
    }
}

fn gone(path: &Path, error: &std::io::Error) -> Stopped {
    Stopped::File { file: shown(path), why: why(error) }
}

/// In nanoseconds since 1970.
fn modified(of: &std::fs::Metadata) -> i64 {
    of.mtime().saturating_mul(1_000_000_000).saturating_add(of.mtime_nsec())
}

/// `5f3c2b1a…`, as folders have it, with its dashes.
fn uuid(id: &str) -> Option<String> {
    let part = |from: usize, to: usize| id.get(from..to);
    let parts = [part(0, 8)?, part(8, 12)?, part(12, 16)?, part(16, 20)?, id.get(20..)?];
    Some(parts.join("-")).filter(|id| is_uuid(id))
}

/// Is this file still there, and the one that was listed?
///
/// # Errors
/// It is not.
pub fn there(found: &Found) -> Result<(), Stopped> {
    let about = found.path.symlink_metadata().map_err(|error| gone(&found.path, &error))?;
    let changed = |why| Stopped::File { file: shown(&found.path), why };
    same(found, &about).map_err(changed)
}

fn same(found: &Found, about: &std::fs::Metadata) -> Result<(), Unsent> {
    let Identity { inode, modified: at, .. } = found.file.identity;
    let is_same = about.ino() == inode && modified(about) == at && about.len() == found.file.bytes;
    match is_same {
        true => Ok(()),
        false => Err(Unsent::Changed),
    }
}

/// Remove a file that is sent; one that is gone already is a success.
///
/// # Errors
/// It cannot be removed.
pub fn remove(found: &Found) -> Result<(), Stopped> {
    match std::fs::remove_file(&found.path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(Stopped::Reading { file: shown(&found.path), why: error.to_string() })
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Reads the files of one SSTable, for as long as the volume has room: one SSTable may take hours,
/// and its snapshot grows meanwhile.
pub struct Reader<'a> {
    files: &'a [Found],
    room: &'a dyn Fn() -> Result<(), Stopped>,
    stopped: RefCell<Option<Stopped>>,
}

impl<'a> Reader<'a> {
    /// Of these files, with what says whether there is room.
    pub fn new(files: &'a [Found], room: &'a dyn Fn() -> Result<(), Stopped>) -> Self {
        Self { files, room, stopped: RefCell::new(None) }
    }

    /// Why an SSTable was not sent: there was no room, or what the core says.
    pub fn why(&self, trouble: Trouble) -> Stopped {
        self.stopped.take().unwrap_or_else(|| trouble.into())
    }
}

impl Snapshot for Reader<'_> {
    fn read(&self, file: &Listed, at: u64, bytes: u64) -> Result<Vec<u8>, String> {
        if let Err(full) = (self.room)() {
            let said = full.to_string();
            self.stopped.replace(Some(full));
            return Err(said);
        }
        let found = self.files.iter().find(|found| found.file.component == file.component);
        let found = found.ok_or(Unsent::Gone.to_string())?;
        let read = || -> std::io::Result<Result<Vec<u8>, Unsent>> {
            let open = File::open(&found.path)?;
            if let Err(changed) = same(found, &open.metadata()?) {
                return Ok(Err(changed));
            }
            let mut buffer = vec![0; usize::try_from(bytes).map_err(std::io::Error::other)?];
            open.read_exact_at(&mut buffer, at)?;
            // What was read once is not read again: the database needs the memory.
            let _ = fadvise(&open, at, NonZeroU64::new(bytes), Advice::DontNeed);
            Ok(Ok(buffer))
        };
        match read() {
            Ok(Ok(bytes)) => Ok(bytes),
            Ok(Err(changed)) => Err(changed.to_string()),
            Err(error) => Err(why(&error).to_string()),
        }
    }
}
