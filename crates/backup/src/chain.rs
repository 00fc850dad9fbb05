//! What is condemned. Each expiry adds one entry under the next number, which
//! only one can write: so of two expiries at the same time the second has to
//! look again, and neither counts on a backup that the other condemns. Entries
//! stay for ever: a finisher that wakes after its backup was deleted finds it here.

use crate::document;
use crate::hash::Hash;
use crate::names::{BackupId, CONDEMNED};
use crate::vault::{Vault, Written, object, wrong};
use crate::words::notice::Notice;
use crate::words::trouble::{Trouble, Wrong};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Where the objects are listed that an entry condemns: one name a line, sorted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObjectList {
    /// The object.
    pub object: String,
    /// Of its plain text.
    pub sha256: Hash,
    /// How many names are in it.
    pub names: u64,
}

/// What is condemned together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condemned {
    /// Random: two expiries never write the same entry.
    pub nonce: String,
    /// Backups: nobody may begin to read them.
    pub backups: BTreeSet<BackupId>,
    /// Objects: no new manifest may name them.
    pub objects: ObjectList,
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// What it condemns, and when it was written by the store's clock.
    Read {
        /// What it condemns.
        condemned: Condemned,
        /// When.
        written: i64,
    },
    /// What it condemns is not known.
    Unread(Wrong),
}

/// All entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// By number, from 1.
    pub entries: BTreeMap<u64, Entry>,
    /// Those that were swept.
    pub swept: BTreeSet<u64>,
}

/// The name of an entry.
pub fn entry_name(number: u64) -> String {
    format!("{CONDEMNED}{number:08}.json")
}

/// The name of the mark that an entry was swept.
pub fn swept_name(number: u64) -> String {
    format!("{CONDEMNED}{number:08}.done.json")
}

/// The name of a list of objects.
pub fn objects_name(number: u64, nonce: &str) -> String {
    format!("{CONDEMNED}{number:08}.objects~{nonce}")
}

fn number_of(name: &str) -> Option<(u64, &str)> {
    let (number, kind) = name.strip_prefix(CONDEMNED)?.split_once('.')?;
    let is_number = number.len() == 8 && number.bytes().all(|c| c.is_ascii_digit());
    Some((number.parse().ok().filter(|_| is_number)?, kind))
}

impl Chain {
    /// Read all entries. The list says how far they go at least; the end is the
    /// first number of which the store says that there is none.
    ///
    /// # Errors
    /// The store failed. An entry that cannot be read is none.
    pub fn read(vault: &Vault<'_>) -> Result<Self, Trouble> {
        let mut chain = Self::default();
        let mut listed = 0;
        for meta in vault.list(CONDEMNED)? {
            match number_of(&meta.name) {
                Some((number, "done.json")) => {
                    chain.swept.insert(number);
                    listed = listed.max(number);
                }
                // A list whose entry was never written says nothing.
                Some((number, "json")) => listed = listed.max(number),
                Some(_) | None => {}
            }
        }
        for number in 1.. {
            match (read_entry(vault, number), number <= listed) {
                (Some(entry), _) => chain.entries.insert(number, entry),
                (None, true) => chain.entries.insert(number, Entry::Unread(Wrong::Gone)),
                (None, false) => break,
            };
        }
        Ok(chain)
    }

    /// The number of the next entry.
    pub fn next(&self) -> u64 {
        self.entries.len() as u64 + 1
    }

    /// The entry that condemns a backup.
    pub fn of_backup(&self, id: &BackupId) -> Option<u64> {
        let is_in = |entry: &Entry| match entry {
            Entry::Read { condemned, .. } => condemned.backups.contains(id),
            Entry::Unread(_) => false,
        };
        self.entries.iter().find(|(_, entry)| is_in(entry)).map(|(number, _)| *number)
    }

    /// Is every entry known?
    ///
    /// # Errors
    /// The first that is not.
    pub fn whole(&self) -> Result<(), Trouble> {
        let unread = self.entries.iter().find_map(|(number, entry)| match entry {
            Entry::Unread(wrong) => Some((*number, wrong.clone())),
            Entry::Read { .. } => None,
        });
        match unread {
            Some((number, wrong)) => Err(Trouble::EntryUnread { name: entry_name(number), wrong }),
            None => Ok(()),
        }
    }

    /// The entries that are not known, for people.
    pub fn notices(&self) -> Vec<Notice> {
        let all = self.entries.iter().filter_map(|(number, entry)| match entry {
            Entry::Unread(wrong) => {
                Some(Notice::EntryUnread { name: entry_name(*number), wrong: wrong.clone() })
            }
            Entry::Read { .. } => None,
        });
        all.collect()
    }

    /// The entries that are still to be swept.
    pub fn open(&self) -> impl Iterator<Item = (u64, &Condemned, i64)> {
        let open = self.entries.iter().filter(|(number, _)| !self.swept.contains(*number));
        open.filter_map(|(number, entry)| match entry {
            Entry::Read { condemned, written } => Some((*number, condemned, *written)),
            Entry::Unread(_) => None,
        })
    }

    /// Every object that is condemned and not swept yet, with its entry.
    ///
    /// # Errors
    /// A list or an entry cannot be read, so it is not known.
    pub fn objects(&self, vault: &Vault<'_>) -> Result<BTreeMap<String, u64>, Trouble> {
        self.whole()?;
        let mut all = BTreeMap::new();
        for (number, condemned, _) in self.open() {
            // It may have been swept since the chain was read, and its list is gone then.
            let names = match read_objects(vault, condemned) {
                Ok(names) => names,
                Err(Wrong::Absent) if vault.head(&swept_name(number))?.is_some() => continue,
                Err(wrong) => {
                    let name = condemned.objects.object.clone();
                    return Err(Trouble::EntryUnread { name, wrong });
                }
            };
            all.extend(names.into_iter().map(|name| (name, number)));
        }
        Ok(all)
    }
}

/// One entry; `None` where there is none.
fn read_entry(vault: &Vault<'_>, number: u64) -> Option<Entry> {
    let name = entry_name(number);
    let read = vault.document::<Condemned>(&name).and_then(|found| {
        let Some((condemned, _)) = found else { return Ok(None) };
        let head = vault.head(&name)?.ok_or_else(|| object(&name, Wrong::Gone))?;
        Ok(Some(Entry::Read { condemned, written: head.modified }))
    });
    read.unwrap_or_else(|trouble| Some(Entry::Unread(wrong(trouble))))
}

/// The objects that an entry lists.
///
/// # Errors
/// The list is gone, or has changed.
pub fn read_objects(vault: &Vault<'_>, condemned: &Condemned) -> Result<Vec<String>, Wrong> {
    let list = &condemned.objects;
    let plain = vault.read(&list.object).map_err(wrong)?.ok_or(Wrong::Absent)?;
    if Hash::of(&plain) != list.sha256 {
        return Err(Wrong::Hash);
    }
    let text = String::from_utf8(plain).map_err(|_| Wrong::Hash)?;
    Ok(text.lines().map(str::to_string).collect())
}

/// Write the next entry.
///
/// # Errors
/// Somebody else wrote it, or it is not known whether it is written.
pub fn append(
    vault: &Vault<'_>,
    number: u64,
    backups: BTreeSet<BackupId>,
    names: &BTreeSet<String>,
) -> Result<(), Trouble> {
    let nonce = vault.random().nonce();
    let text: String = names.iter().map(|name| format!("{name}\n")).collect();
    let list = objects_name(number, &nonce);
    vault.write(&list, text.as_bytes())?;
    let objects =
        ObjectList { object: list, sha256: Hash::of(text.as_bytes()), names: names.len() as u64 };
    let condemned = Condemned { nonce, backups, objects };
    let name = entry_name(number);
    let bytes =
        document::write(&condemned).map_err(|why| Trouble::Document { name: name.clone(), why })?;
    match vault.decide(&name, &bytes)? {
        Written::Ours => Ok(()),
        Written::Other(_) => Err(Trouble::Raced { entry: number }),
    }
}
