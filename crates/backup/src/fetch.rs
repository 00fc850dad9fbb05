//! Brings the files of a complete backup back, each below a folder of its
//! member, so that files of two members never meet. Every byte is hashed; a file
//! that is not what was taken is named and left out, the others are brought.

use crate::DAY;
use crate::catalog::Catalog;
use crate::hash::{Hash, Sum};
use crate::manifest::member::{File, Piece};
use crate::manifest::ring;
use crate::names::{BackupId, HostId};
use crate::pins::Pin;
use crate::vault::Vault;
use crate::verify::{self, ReadFailure};
use crate::words::notice::Notice;
use crate::words::trouble::{Trouble, Wrong};

/// Which files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of this member only.
    pub host: Option<HostId>,
    /// Of this keyspace only.
    pub keyspace: Option<String>,
    /// Of this table only.
    pub table: Option<String>,
}

impl Filter {
    fn is_wanted(&self, file: &File) -> bool {
        self.keyspace.as_ref().is_none_or(|keyspace| *keyspace == file.keyspace)
            && self.table.as_ref().is_none_or(|table| *table == file.table)
    }
}

/// Where files are brought to.
pub trait Target {
    /// Is this file there already, as it was taken?
    ///
    /// # Errors
    /// Another file is there under its name.
    fn has(&self, path: &str, bytes: u64, sha256: &Hash) -> Result<bool, String>;

    /// Begin a file; it has its name only once it is committed.
    ///
    /// # Errors
    /// It cannot be created.
    fn begin(&self, path: &str) -> Result<Box<dyn Sink>, String>;
}

/// A file that is being written.
pub trait Sink {
    /// The next bytes.
    ///
    /// # Errors
    /// They cannot be written.
    fn write(&mut self, bytes: &[u8]) -> Result<(), String>;

    /// All is written, and is what was taken.
    ///
    /// # Errors
    /// It cannot be brought to the disk.
    fn commit(self: Box<Self>) -> Result<(), String>;
}

/// What was brought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fetched {
    /// Files that were written.
    pub files: u64,
    /// Their length.
    pub bytes: u64,
    /// Files that were there already.
    pub there: u64,
    /// Files that are not what was taken, with what is wrong.
    pub damaged: Vec<(String, Wrong)>,
    /// What could not be read beside it.
    pub notices: Vec<Notice>,
}

/// Bring the files.
///
/// # Errors
/// There is no such complete backup, it is condemned, or store or target failed.
pub fn fetch(
    vault: &Vault<'_>,
    (id, filter): (&BackupId, &Filter),
    target: &dyn Target,
) -> Result<Fetched, Trouble> {
    // The pin is first: an expiry that does not see it is seen by us.
    let mut held = Held::new(vault, id)?;
    let fetched = fetch_pinned(vault, (id, filter), target, &mut held);
    if let Some(pin) = held.pin {
        pin.end(vault);
    }
    fetched
}

/// A pin that is renewed once a day.
struct Held {
    id: BackupId,
    holder: String,
    pin: Option<Pin>,
    since: i64,
    round: u32,
}

impl Held {
    fn new(vault: &Vault<'_>, id: &BackupId) -> Result<Self, Trouble> {
        let holder = format!("fetch-{}", vault.random().nonce());
        let since = vault.now()?;
        let pin = Some(Pin::write(vault, id, &holder, 0)?);
        Ok(Self { id: id.clone(), holder, pin, since, round: 0 })
    }

    fn renew(&mut self, vault: &Vault<'_>) -> Result<(), Trouble> {
        let now = vault.now()?;
        if now - self.since < DAY {
            return Ok(());
        }
        self.round += 1;
        let new = Pin::write(vault, &self.id, &self.holder, self.round)?;
        self.since = now;
        if let Some(old) = self.pin.replace(new) {
            old.end(vault);
        }
        Ok(())
    }
}

/// So many files are brought between two looks at the clock.
const FILES: u64 = 64;

fn fetch_pinned(
    vault: &Vault<'_>,
    (id, filter): (&BackupId, &Filter),
    target: &dyn Target,
    held: &mut Held,
) -> Result<Fetched, Trouble> {
    let catalog = Catalog::read(vault)?;
    let (ring, _) = catalog.complete(id)?;
    let notices = catalog.notices().into_iter().chain(ring.notice()).collect();
    let mut fetched = Fetched { notices, ..Fetched::default() };
    let schema = ring::schema(vault, &ring.schema);
    let schema = schema.map_err(|wrong| crate::vault::object(&ring.schema.object, wrong))?;
    small(target, ("schema.cql", &ring.schema.sha256), &schema, &mut fetched)?;
    let wanted = ring.members.iter();
    let wanted = wanted.filter(|m| filter.host.as_ref().is_none_or(|host| *host == m.host));
    let mut count = 0;
    for member in wanted {
        let manifest = ring::read(vault, ring, member)?;
        let mut files: Vec<&File> = manifest.files.iter().filter(|f| filter.is_wanted(f)).collect();
        // Without Data.db nobody takes the rest for an SSTable.
        let is_data = |file: &File| file.component == "Data.db";
        files.sort_by(|a, b| {
            let sstable = (&a.table_id, &a.sstable).cmp(&(&b.table_id, &b.sstable));
            sstable.then(is_data(a).cmp(&is_data(b)))
        });
        let mut last = None;
        for file in files {
            count += 1;
            if count % FILES == 0 {
                held.renew(vault)?;
            }
            one(vault, target, (&member.host, file), (&mut last, &mut fetched))?;
        }
    }
    Ok(fetched)
}

/// Where a file is brought to, below the folder of the backup.
pub fn path(host: &HostId, file: &File) -> String {
    let table = file.table_id.replace('-', "");
    format!("{host}/{}/{}-{table}/{}", file.keyspace, file.table, file.name())
}

fn failed(why: String) -> Trouble {
    Trouble::Target { why }
}

fn small(
    target: &dyn Target,
    (path, sha256): (&str, &Hash),
    bytes: &[u8],
    fetched: &mut Fetched,
) -> Result<(), Trouble> {
    if target.has(path, bytes.len() as u64, sha256).map_err(failed)? {
        fetched.there += 1;
        return Ok(());
    }
    let mut sink = target.begin(path).map_err(failed)?;
    sink.write(bytes).map_err(failed)?;
    sink.commit().map_err(failed)?;
    fetched.files += 1;
    fetched.bytes += bytes.len() as u64;
    Ok(())
}

/// The object that was read last: the files of a pack come one after the other.
pub(crate) type Last = Option<(String, Vec<u8>)>;

fn one(
    vault: &Vault<'_>,
    target: &dyn Target,
    (host, file): (&HostId, &File),
    (last, fetched): (&mut Last, &mut Fetched),
) -> Result<(), Trouble> {
    let path = path(host, file);
    if target.has(&path, file.bytes, &file.sha256).map_err(failed)? {
        fetched.there += 1;
        return Ok(());
    }
    let mut sink = target.begin(&path).map_err(failed)?;
    let mut sum = Sum::default();
    for piece in &file.pieces {
        match part(vault, piece, last) {
            Ok(bytes) => {
                sum.add(bytes);
                sink.write(bytes).map_err(failed)?;
            }
            Err(ReadFailure::Wrong(wrong)) => {
                fetched.damaged.push((path, wrong));
                return Ok(());
            }
            Err(ReadFailure::Store(trouble)) => return Err(trouble),
        }
    }
    if sum.end().0 != file.sha256 {
        fetched.damaged.push((path, Wrong::Hash));
        return Ok(());
    }
    sink.commit().map_err(failed)?;
    fetched.files += 1;
    fetched.bytes += file.bytes;
    Ok(())
}

pub(crate) fn part<'l>(
    vault: &Vault<'_>,
    piece: &Piece,
    last: &'l mut Last,
) -> Result<&'l [u8], ReadFailure> {
    let is_last = last.as_ref().is_some_and(|(name, _)| *name == piece.object);
    if !is_last {
        *last = None;
        *last = Some((piece.object.clone(), verify::read(vault, piece)?));
    }
    let plain = last.as_ref().map(|(_, plain)| plain.as_slice()).unwrap_or_default();
    let from = usize::try_from(piece.at).ok();
    let bytes = usize::try_from(piece.bytes).ok();
    let part = from.zip(bytes).and_then(|(from, bytes)| plain.get(from..from.checked_add(bytes)?));
    part.ok_or(ReadFailure::Wrong(Wrong::Hash))
}
