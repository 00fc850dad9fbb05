//! How far a journal is: what the next entry follows. It is noted on the volume after each entry,
//! and found again in the entry itself where the note is lost.

use super::entry::{Brings, Entry, Part};
use super::{OfJournal, entry, journal, of_journal};
use crate::hash::Hash;
use crate::manifest::member::Schema;
use crate::names::HostId;
use crate::vault::Vault;
use crate::words::trouble::Trouble;
use serde::{Deserialize, Serialize};

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Cursor {
    /// The number of the newest entry; 0 where there is none.
    pub number: u64,
    /// Its hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<Hash>,
    /// Until when all is in the journal, by the newest entry of the window.
    pub until: i64,
    /// Since when: the `until` of its opening. None while no window is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<i64>,
    /// When the last look of the window was begun that has found all; 0 while none has.
    #[serde(default)]
    pub all: i64,
    /// How far the bytes are that the window has brought; none where it has brought none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<At>,
    /// The schema of the newest entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Schema>,
    /// When the look had ended since which it is this one; 0 where there was none.
    #[serde(default)]
    pub schema_since: i64,
    /// The hash of the member's tokens in the newest entry.
    #[serde(default)]
    pub tokens_hash: String,
    /// Why the window before ended, and the time until which it was whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<(i64, String)>,
    /// So many windows have ended.
    #[serde(default)]
    pub gaps: u64,
}

/// A place in a segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct At {
    /// The segment.
    pub segment: i64,
    /// Which start of the server wrote it.
    pub run: String,
    /// Its bytes up to here are sent.
    pub to: u64,
}

impl Cursor {
    /// The next entry of this member.
    pub fn next(&self, of: Of, brings: Brings) -> Entry {
        let Of { repository, host, until, since, found, loss, schema, tokens_hash, ring, version } =
            of;
        Entry {
            repository,
            host,
            number: self.number + 1,
            previous: self.hash.clone(),
            until,
            since,
            found,
            loss,
            schema,
            tokens_hash,
            ring,
            version,
            brings,
        }
    }

    /// After this entry.
    pub fn after(&self, entry: &Entry, hash: Hash) -> Self {
        let mut next = self.clone();
        (next.number, next.hash) = (entry.number, Some(hash));
        if self.schema.as_ref().is_none_or(|schema| schema.sha256 != entry.schema.sha256) {
            next.schema_since = entry.found;
        }
        next.schema = Some(entry.schema.clone());
        next.tokens_hash.clone_from(&entry.tokens_hash);
        match &entry.brings {
            Brings::Opening => {
                (next.since, next.until, next.at) = (Some(entry.until), entry.until, None);
                next.all = 0;
            }
            Brings::Bytes(part) => {
                next.until = entry.until;
                let Part { segment, run, to, .. } = part;
                next.at = Some(At { segment: *segment, run: run.clone(), to: *to });
            }
            Brings::Rest => next.until = entry.until,
            Brings::Gap { why } => {
                next.gap = Some((self.until, why.clone()));
                (next.since, next.at, next.all) = (None, None, 0);
                next.gaps += 1;
            }
        }
        next
    }
}

/// What an entry says beside what it brings.
#[derive(Clone, Debug)]
pub struct Of {
    /// The repository.
    pub repository: String,
    /// The member.
    pub host: HostId,
    /// See [`Entry::until`].
    pub until: i64,
    /// See [`Entry::since`].
    pub since: i64,
    /// See [`Entry::found`].
    pub found: i64,
    /// See [`Entry::loss`].
    pub loss: i64,
    /// See [`Entry::schema`].
    pub schema: Schema,
    /// See [`Entry::tokens_hash`].
    pub tokens_hash: String,
    /// See [`Entry::ring`].
    pub ring: String,
    /// See [`Entry::version`].
    pub version: String,
}

/// Where a journal is that has no note: behind its newest entry. A window that was open there
/// looks open still, and nobody knows how far it is.
///
/// # Errors
/// The store failed, or the newest entry cannot be read.
pub fn lost(vault: &Vault<'_>, host: &HostId) -> Result<Cursor, Trouble> {
    let numbers = vault.list(&journal(host))?.into_iter();
    let numbers = numbers.filter_map(|meta| match of_journal(&meta.name)? {
        OfJournal::Entry(_, number) => Some(number),
        OfJournal::Bytes(..) => None,
    });
    let Some(newest) = numbers.max() else { return Ok(Cursor::default()) };
    let Some((entry, hash)) = entry::read(vault, host, newest)? else {
        return Ok(Cursor::default());
    };
    let is_open = !matches!(entry.brings, Brings::Gap { .. });
    let before =
        Cursor { until: entry.until, since: is_open.then_some(entry.until), ..Cursor::default() };
    let cursor = before.after(&entry, hash);
    Ok(Cursor { at: None, gaps: 0, ..cursor })
}
