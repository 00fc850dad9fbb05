//! What jobs of tasks ask of a server. The calls that rewrite data answer when
//! they are done, which may take days; how far they are is read beside them.

use super::{Answer, RepairTicket};
use crate::ranges::Range;
use palladion_api::ids::{HostId, StaticAddress};
use palladion_api::task::{
    CleanupTask, CompactTask, GarbageCollectTask, ScrubTask, SnapshotTask, UpgradeSstablesTask,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// Tables of each keyspace, each with the bytes that it has on disk.
pub type Tables = BTreeMap<String, BTreeMap<String, u64>>;

/// A job that rewrites the SSTables of one table after the other.
#[derive(Clone, Copy, Debug)]
pub enum Rewrite<'a> {
    /// Drop data in ranges that the server no longer owns.
    Cleanup(&'a CleanupTask),
    /// Compact all.
    Compact(&'a CompactTask),
    /// Drop deleted data.
    GarbageCollect(&'a GarbageCollectTask),
    /// Read and write again.
    Scrub(&'a ScrubTask),
    /// Write in the format of the release that runs.
    UpgradeSstables(&'a UpgradeSstablesTask),
}

impl Rewrite<'_> {
    /// What the server calls it in the list of its compactions. A major compaction
    /// has a name of its own since 5.0.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Rewrite::Cleanup(_) => &["Cleanup"],
            Rewrite::Compact(_) => &["Compaction", "Major compaction"],
            Rewrite::GarbageCollect(_) => &["Remove deleted data"],
            Rewrite::Scrub(_) => &["Scrub"],
            Rewrite::UpgradeSstables(_) => &["Upgrade sstables"],
        }
    }
}

/// How a rewrite of one table ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rewritten {
    /// Done.
    Done,
    /// Stopped, by whomever.
    Stopped,
    /// Other work holds the table; nothing was done.
    Busy,
}

/// One entry of the list of compactions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compaction {
    /// The server's ID of it.
    pub id: String,
    /// The keyspace.
    pub keyspace: String,
    /// The table.
    pub table: String,
    /// What it is, in the server's words.
    pub name: String,
    /// How much is done.
    pub done: u64,
    /// How much there is.
    pub total: u64,
    /// What these count, in the server's words.
    pub unit: String,
}

/// What jobs of tasks ask of a server.
pub trait Jobs: Send + Sync {
    /// All tables that it has.
    fn tables(&self) -> Answer<'_, Tables>;
    /// What it compacts or rewrites now.
    fn compactions(&self) -> Answer<'_, Vec<Compaction>>;
    /// Stop one of these; one that has ended is none.
    fn stop_compaction<'a>(&'a self, id: &'a str) -> Answer<'a, ()>;
    /// Rewrite a table. Answers when done.
    fn rewrite<'a>(
        &'a self,
        what: Rewrite<'a>,
        keyspace: &'a str,
        table: &'a str,
    ) -> Answer<'a, Rewritten>;
    /// Write memtables of these tables to disk; none named: of all.
    fn flush_tables<'a>(&'a self, keyspace: &'a str, tables: &'a [String]) -> Answer<'a, ()>;
    /// Take a snapshot: of keyspaces, or of `keyspace.table`s, never of both.
    fn take_snapshot<'a>(&'a self, what: &'a SnapshotTask, of: &'a [String]) -> Answer<'a, ()>;
    /// Delete a snapshot; no keyspace named: of all.
    fn clear_snapshot<'a>(&'a self, name: &'a str, keyspaces: &'a [String]) -> Answer<'a, ()>;
    /// Begin a full repair of the primary ranges of these tables, none named: of
    /// all; `None` where there is nothing to repair.
    fn repair_tables<'a>(
        &'a self,
        keyspace: &'a str,
        tables: &'a [String],
    ) -> Answer<'a, Option<RepairTicket>>;
    /// All ranges of the ring with those that hold them, in the order of their copies.
    fn ranges<'a>(&'a self, keyspace: &'a str) -> Answer<'a, Vec<Holders>>;
    /// Who owns the tokens of the ring, by one answer.
    fn owners(&self) -> Answer<'_, Owners>;
    /// Begin a full repair of some ranges of some tables; `None` where there is
    /// nothing to repair.
    fn repair_segment<'a>(&'a self, what: &'a Segment) -> Answer<'a, Option<RepairTicket>>;
    /// End every repair that this server coordinates.
    fn end_repairs(&self) -> Answer<'_, ()>;
    /// Stream the SSTables of a folder to the replicas of their rows; the last two parts of its
    /// path are keyspace and table. Answers when done. What it cannot open it leaves out silently.
    fn load<'a>(&'a self, folder: &'a Path) -> Answer<'a, ()>;
    /// Take SSTables into a table that somebody has put into its data directory. Answers when done.
    fn take_new<'a>(&'a self, keyspace: &'a str, table: &'a str) -> Answer<'a, ()>;
    /// Replay a segment of a commit log: what is later than the time of its start is left out, and
    /// what is not of its tables. Answers when it is on the disk. One that is not whole ends the
    /// server.
    fn recover<'a>(&'a self, segment: &'a Path) -> Answer<'a, ()>;
    /// The time of its start, as it says it: in milliseconds or microseconds since 1970.
    fn point_in_time(&self) -> Answer<'_, i64>;
    /// Bytes that its streams have sent since it was started.
    fn streamed(&self) -> Answer<'_, u64>;
}

/// The tokens of a ring, as a server sees them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owners {
    /// Each with the host ID of the member that owns it, or joins with it.
    pub tokens: BTreeMap<String, HostId>,
    /// The version of the server's schema at that time.
    pub schema_version: String,
}

/// What one call repairs.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Segment {
    /// The keyspace.
    pub keyspace: String,
    /// The tables.
    pub tables: Vec<String>,
    /// The ranges.
    pub ranges: Vec<Range>,
}

/// A range as a server names it, with the members that hold it, the first of them first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holders {
    /// Its start.
    pub start: String,
    /// Its end.
    pub end: String,
    /// Who has a copy.
    pub members: Vec<StaticAddress>,
}
