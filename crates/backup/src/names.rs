//! Names of objects in a repository. They show identities only: names of tables
//! and indexes stand in manifests, which may be sealed.
//!
//! ```text
//! repository.json                                    whose it is
//! sstables/<hostID>/<tableID>/<sstable>/<n>.<piece>~<nonce>, pack~<nonce>
//! schema/<sha256>~<nonce>.cql
//! backups/<id>/members/<hostID>~<n>                  manifests of members; the highest n counts
//! backups/<id>/outcome.json                          how it ended, written once
//! condemned/<n>.json, <n>.objects~<nonce>, <n>.done.json
//! pins/<id>/<holder>~<n>.json
//! damaged/<id>~<nonce>.json                          objects that a look at a backup found damaged
//! ```

use serde::{Deserialize, Serialize};
use std::fmt;

/// Whose the repository is.
pub const REPOSITORY: &str = "repository.json";
/// Where the files of all members are.
pub const SSTABLES: &str = "sstables/";
/// Where the schemas are.
pub const SCHEMA: &str = "schema/";
/// Where the backups are.
pub const BACKUPS: &str = "backups/";
/// Where the lists are of what is to be deleted.
pub const CONDEMNED: &str = "condemned/";
/// Where those are named that read a backup.
pub const PINS: &str = "pins/";
/// Where those objects are named that were found damaged.
pub const DAMAGED: &str = "damaged/";

/// Which names of backups are valid, for people.
const LONGEST: usize = 63;

/// The ID of a backup: 1 to 63 of `a-z`, `0-9` and `-`, beginning with a letter or digit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BackupId(String);

impl BackupId {
    /// Parse one.
    pub fn parse(text: &str) -> Option<Self> {
        let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let is_valid = (1..=LONGEST).contains(&text.len())
            && text.chars().all(is_part)
            && !text.starts_with('-');
        is_valid.then(|| Self(text.to_string()))
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// How it ended.
    pub fn outcome(&self) -> String {
        format!("{BACKUPS}{}/outcome.json", self.0)
    }

    /// Where the manifests of its members are.
    pub fn members(&self) -> String {
        format!("{BACKUPS}{}/members/", self.0)
    }

    /// The manifest of one member.
    pub fn member(&self, host: &HostId, checkpoint: u32) -> String {
        format!("{}{host}~{checkpoint}", self.members())
    }

    /// Where those are named that read it.
    pub fn pins(&self) -> String {
        format!("{PINS}{}/", self.0)
    }

    /// What a look at it has found damaged.
    pub fn damage(&self, nonce: &str) -> String {
        format!("{DAMAGED}{}~{nonce}.json", self.0)
    }
}

impl TryFrom<String> for BackupId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or(format!("not the ID of a backup: {text}"))
    }
}

impl From<BackupId> for String {
    fn from(id: BackupId) -> Self {
        id.0
    }
}

impl fmt::Display for BackupId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The host ID of a member: a UUID in small letters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostId(String);

impl HostId {
    /// Parse one.
    pub fn parse(text: &str) -> Option<Self> {
        is_uuid(text).then(|| Self(text.to_string()))
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Where its files are.
    pub fn files(&self) -> String {
        format!("{SSTABLES}{}/", self.0)
    }
}

impl TryFrom<String> for HostId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or(format!("not a host ID: {text}"))
    }
}

impl From<HostId> for String {
    fn from(id: HostId) -> Self {
        id.0
    }
}

impl fmt::Display for HostId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Is it a UUID in small letters?
pub fn is_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let is_digit = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
    groups.iter().map(|g| g.len()).eq([8, 4, 4, 4, 12])
        && groups.iter().all(|g| g.bytes().all(is_digit))
}

/// May it be part of a path on any machine: no folder, nothing hidden?
pub fn is_file_name(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+' | '.');
    (1..=255).contains(&text.len()) && text.chars().all(is_part) && !text.starts_with('.')
}

/// May it name an object: folders and files, none of them hidden or above?
pub fn is_object(name: &str) -> bool {
    let is_part = |c: char| is_file_name(&c.to_string()) || matches!(c, '~' | '.');
    let is_folder = |part: &str| {
        (1..=255).contains(&part.len()) && !part.starts_with('.') && part.chars().all(is_part)
    };
    name.len() <= 1024 && name.split('/').all(is_folder)
}

/// The host whose file an object is; `None` if it is no such file.
pub fn host_of(name: &str) -> Option<HostId> {
    let (host, rest) = name.strip_prefix(SSTABLES)?.split_once('/')?;
    let is_whole = rest.split('/').count() == 3 && is_object(name);
    HostId::parse(host).filter(|_| is_whole)
}

/// What a name below `backups/` is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OfBackup {
    /// How it ended.
    Outcome(BackupId),
    /// The manifest of a member, as of a checkpoint.
    Member(BackupId, HostId, u32),
}

/// Read a name below `backups/`.
pub fn of_backup(name: &str) -> Option<OfBackup> {
    let (id, rest) = name.strip_prefix(BACKUPS)?.split_once('/')?;
    let id = BackupId::parse(id)?;
    if rest == "outcome.json" {
        return Some(OfBackup::Outcome(id));
    }
    let (host, checkpoint) = rest.strip_prefix("members/")?.split_once('~')?;
    Some(OfBackup::Member(id, HostId::parse(host)?, checkpoint.parse().ok()?))
}

/// The backup that was looked at when this note was written.
pub fn of_damage(name: &str) -> Option<BackupId> {
    let (id, _) = name.strip_prefix(DAMAGED)?.strip_suffix(".json")?.split_once('~')?;
    BackupId::parse(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: &str = "5f3c2b1a-0000-4000-8000-00000000000a";

    #[test]
    fn names_are_read_back() {
        let id = BackupId::parse("2026-11-26").unwrap();
        let host = HostId::parse(HOST).unwrap();
        assert_eq!(of_backup(&id.outcome()), Some(OfBackup::Outcome(id.clone())));
        assert_eq!(of_damage(&id.damage("ab")), Some(id.clone()));
        let member = OfBackup::Member(id.clone(), host.clone(), 3);
        assert_eq!(of_backup(&id.member(&host, 3)), Some(member));
        assert_eq!(host_of(&format!("sstables/{HOST}/{HOST}/nb-1-big/0.0~ab")), Some(host));
    }

    #[test]
    fn what_leads_elsewhere_is_no_name() {
        for name in ["", "/a", "a/", "a//b", "a/../b", "a/./b", ".new/x", "a b", "a\nb", "ü"] {
            assert!(!is_object(name), "{name}");
        }
        for id in ["", "-a", "A", "a/b", "..", &"a".repeat(64)] {
            assert_eq!(BackupId::parse(id), None, "{id}");
        }
        for name in ["sstables/x/y/z/n", "backups/a/members/x~1", "sstables/", "backups/a/other"] {
            assert_eq!((host_of(name), of_backup(name)), (None, None), "{name}");
        }
        assert!(!is_file_name("a/b") && !is_file_name("..") && is_file_name("nb-1-big-SAI+a+b.db"));
    }
}
