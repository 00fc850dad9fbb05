//! An entry of a journal.

use super::{entry_name, journal};
use crate::document;
use crate::hash::Hash;
use crate::manifest::member::Schema;
use crate::names::HostId;
use crate::vault::{Vault, Written, object};
use crate::words::trouble::{Torn, Trouble, Wrong};
use serde::{Deserialize, Serialize};

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Entry {
    /// The repository.
    #[serde(rename = "repositoryID")]
    pub repository: String,
    /// The member.
    #[serde(rename = "hostID")]
    pub host: HostId,
    /// Its number, from 1.
    pub number: u64,
    /// The hash of the entry before it, as [`document::read`] says it; none of the first one.
    pub previous: Option<Hash>,
    /// Every write that the member acknowledged before this time is in the entries up to this
    /// one, in seconds since 1970 by the member's clock: when it was begun to look for bytes.
    pub until: i64,
    /// When the last look of the window was begun that had found all, in seconds since 1970: what
    /// it brings was written after it. 0 where the window had none.
    pub since: i64,
    /// When the look had ended that found what it brings: that was written before it.
    pub found: i64,
    /// So much may be lost as the operator was asked, in seconds: looks come more often.
    pub loss: i64,
    /// The schema that the server had after the bytes were found: none of them is of a later one.
    pub schema: Schema,
    /// Of the member's tokens, as it reports them.
    pub tokens_hash: String,
    /// Hash of all tokens of the ring with their owners, after the bytes were found.
    pub ring: String,
    /// The version of its server.
    pub version: String,
    /// What it brings.
    pub brings: Brings,
}

/// What an entry brings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "camelCase", deny_unknown_fields)]
pub enum Brings {
    /// A window opens: nothing before this entry goes on after it.
    Opening,
    /// Bytes of a segment.
    Bytes(Part),
    /// Nothing was written since the entry before it.
    Rest,
    /// A window ends: something that was acknowledged is not in the journal, or would not come
    /// back by a replay.
    Gap {
        /// Why, for people.
        why: String,
    },
}

/// Bytes of a segment, from one marker to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Part {
    /// The number that the server has given the segment.
    pub segment: i64,
    /// The name of its file.
    pub file: String,
    /// Length of the file, in bytes.
    pub file_bytes: u64,
    /// Which start of the server wrote it.
    pub run: String,
    /// Where they begin in the file.
    pub from: u64,
    /// Where they end.
    pub to: u64,
    /// The object.
    pub object: String,
    /// Of the plain bytes.
    pub sha256: Hash,
    /// Length of the object in the store.
    pub stored_bytes: u64,
}

impl Part {
    /// Do these bytes follow those, with nothing between them? Within a run of the server the
    /// numbers of segments are consecutive.
    pub fn follows(&self, before: &Self) -> bool {
        let is_same = self.segment == before.segment;
        let is_next = self.segment == before.segment + 1 && self.from == 0;
        let is_later = self.run != before.run && self.segment > before.segment && self.from == 0;
        (is_same && self.from == before.to) || is_next || is_later
    }
}

/// Write an entry; the first who writes it has decided. It is the one that stands there when
/// this returns: ours, or that of an earlier try, with its hash.
///
/// # Errors
/// It is not known what stands there.
pub fn write(vault: &Vault<'_>, entry: &Entry) -> Result<(Entry, Hash), Trouble> {
    let name = entry_name(&entry.host, entry.number);
    let plain =
        document::write(entry).map_err(|why| Trouble::Document { name: name.clone(), why })?;
    let stands = match vault.decide(&name, &plain)? {
        Written::Ours => plain,
        Written::Other(there) => there,
    };
    of(vault, (&entry.host, entry.number), &stands)
}

/// Read an entry, and its hash; `None` where there is none.
///
/// # Errors
/// It is not an entry of this member, or the store failed.
pub fn read(
    vault: &Vault<'_>,
    host: &HostId,
    number: u64,
) -> Result<Option<(Entry, Hash)>, Trouble> {
    let stands = vault.read(&entry_name(host, number))?;
    stands.map(|plain| of(vault, (host, number), &plain)).transpose()
}

fn of(
    vault: &Vault<'_>,
    (host, number): (&HostId, u64),
    plain: &[u8],
) -> Result<(Entry, Hash), Trouble> {
    let name = entry_name(host, number);
    let torn = |torn: Torn| object(&name, Wrong::Torn { why: torn.to_string() });
    let (entry, hash) = document::read::<Entry>(plain).map_err(torn)?;
    let is_own = |part: &Part| part.object.starts_with(&journal(host)) && part.from <= part.to;
    let is_this = entry.repository == vault.repository().id
        && (&entry.host, entry.number) == (host, number)
        && match &entry.brings {
            Brings::Bytes(part) => is_own(part),
            Brings::Opening | Brings::Rest | Brings::Gap { .. } => true,
        };
    is_this.then_some((entry, hash)).ok_or_else(|| torn(Torn::OtherMember))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(run: &str, segment: i64, from: u64, to: u64) -> Part {
        Part {
            segment,
            file: format!("CommitLog-7-{segment}.log"),
            file_bytes: 100,
            run: run.into(),
            from,
            to,
            object: "o".into(),
            sha256: Hash::of(b""),
            stored_bytes: 0,
        }
    }

    #[test]
    fn bytes_follow_within_a_segment_by_the_next_one_or_after_a_start() {
        let before = part("r1", 10, 0, 50);
        assert!(part("r1", 10, 50, 60).follows(&before));
        assert!(part("r1", 11, 0, 20).follows(&before));
        assert!(part("r2", 4000, 0, 20).follows(&before));
        for gap in [
            part("r1", 10, 60, 70),
            part("r1", 10, 40, 70),
            part("r1", 12, 0, 20),
            part("r1", 11, 10, 20),
            part("r2", 4000, 10, 20),
            part("r2", 9, 0, 20),
        ] {
            assert!(!gap.follows(&before), "{gap:?}");
        }
    }
}
