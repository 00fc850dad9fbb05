//! From an order of a restore to what the child is told in each of its steps.

use super::{Own, backup, hash, host, with};
use crate::orders::restore::{Amounts, Batch, Read, Roles, Segments, Tokens, Which};
use crate::settings::{Settings, Work};
use crate::words::refusal::Refusal;
use crate::words::stopped::Stopped;
use palladion_api::backup::{
    CatalogWork, LoadWay, LoadWork, ReplayWork, SchemaWork, SettleWork, TokensWork, Transfer,
};
use palladion_api::restore::{RestoreAuth, RestoreTable};
use palladion_backup::schema::TableName;
use std::path::PathBuf;

/// The file that the schema of a backup is written to. One transfer at a time: one file.
const SCHEMA: &str = "restore.cql";

pub(super) fn catalog_fits(work: &CatalogWork) -> Result<(), Refusal> {
    if let Some(RestoreAuth::Unknown(word)) = &work.auth {
        return Err(Refusal::word("auth", &word.to_string()));
    }
    work.manifest_hash.iter().try_for_each(|text| hash("manifest", text).map(drop))
}

pub(super) fn schema_fits(work: &SchemaWork) -> Result<(), Refusal> {
    hash("manifest", &work.manifest_hash)?;
    work.truncate.iter().try_for_each(|text| table(text).map(drop))
}

pub(super) fn load_fits(work: &LoadWork) -> Result<(), Refusal> {
    if let LoadWay::Unknown(word) = &work.way {
        return Err(Refusal::word("way", &word.to_string()));
    }
    host(work.source.as_str()).and(hash("manifest", &work.manifest_hash)).map(drop)
}

pub(super) fn tokens_fits(work: &TokensWork) -> Result<(), Refusal> {
    host(work.source.as_str()).and(hash("manifest", &work.manifest_hash)).map(drop)
}

pub(super) fn replay_fits(work: &ReplayWork) -> Result<(), Refusal> {
    // Without a table a server would replay what its system has written.
    if work.tables.is_empty() {
        return Err(Refusal::word("tables", ""));
    }
    work.tables.iter().try_for_each(|text| table(text).map(drop))?;
    host(work.source.as_str()).and(hash("manifest", &work.manifest_hash)).map(drop)
}

pub(super) fn settle_fits(work: &SettleWork) -> Result<(), Refusal> {
    work.own.iter().try_for_each(|own| table(&own.table).map(drop))?;
    let Some(indexes) = &work.indexes else { return Ok(()) };
    hash("manifest", &indexes.manifest_hash)?;
    indexes.created.iter().try_for_each(|text| table(text).map(drop))
}

/// The name of a table in the ring.
///
/// # Errors
/// It is none.
pub fn table(text: &str) -> Result<TableName, Refusal> {
    TableName::parse(text).ok_or_else(|| Refusal::word("table", text))
}

/// Where the child writes the schema of a backup.
pub fn schema(own: &Own) -> PathBuf {
    own.state.join(SCHEMA)
}

/// Read the backup.
///
/// # Errors
/// The order has a word that is not known, or another Secret is mounted.
pub fn read(
    order: &Transfer,
    own: &Own,
    (manifest, tables, amounts): (Option<&str>, &[RestoreTable], Amounts),
) -> Result<Settings, Stopped> {
    with(order, own, || {
        Ok(Work::Read(Read {
            backup: backup(order)?,
            manifest: manifest.map(|text| hash("manifest", text)).transpose()?,
            server: own.version.clone(),
            tables: tables.to_vec(),
            schema: schema(own),
            amounts,
            to: None,
            roles: Roles::Leave,
        }))
    })
}

/// Read the backup that a ring is to begin with, to this point in time.
///
/// # Errors
/// As [`read`].
pub fn read_ring(order: &Transfer, own: &Own, work: &CatalogWork) -> Result<Settings, Stopped> {
    let what = (work.manifest_hash.as_deref(), &work.tables[..], Amounts::Ring);
    let mut settings = read(order, own, what)?;
    if let Work::Read(read) = &mut settings.work {
        read.to = work.to.as_ref().map(|to| to.0.as_second());
        if work.auth == Some(RestoreAuth::Restore) {
            read.roles = Roles::Load;
        }
    }
    Ok(settings)
}

/// Read which tokens a member of the backup had.
///
/// # Errors
/// As [`read`].
pub fn tokens(order: &Transfer, own: &Own, work: &TokensWork) -> Result<Settings, Stopped> {
    with(order, own, || {
        Ok(Work::Tokens(Tokens {
            backup: backup(order)?,
            manifest: hash("manifest", &work.manifest_hash)?,
            source: host(work.source.as_str())?,
        }))
    })
}

/// What of a load is brought next, and where to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextBatch {
    /// So many SSTables are loaded.
    pub skip: u64,
    /// Of so many; 0 before the first batch.
    pub of: u64,
    /// Bytes, at the most; one SSTable that is longer comes by itself.
    pub limit: u64,
    /// And if it is longer than this, it does not.
    pub room: u64,
    /// The folder.
    pub into: PathBuf,
    /// Of which tables.
    pub which: Which,
}

/// Bring a batch.
///
/// # Errors
/// As [`read`].
pub fn batch(
    order: &Transfer,
    own: &Own,
    (work, next): (&LoadWork, NextBatch),
) -> Result<Settings, Stopped> {
    let NextBatch { skip, of, limit, room, into, which } = next;
    with(order, own, || {
        Ok(Work::Batch(Batch {
            backup: backup(order)?,
            manifest: hash("manifest", &work.manifest_hash)?,
            source: host(work.source.as_str())?,
            tables: work.tables.clone(),
            which,
            skip,
            of,
            limit,
            room,
            into,
        }))
    })
}

/// What of a replay is brought next, and where to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextSegments {
    /// So many segments are replayed.
    pub skip: u64,
    /// Bytes, at the most; one segment that is longer comes by itself.
    pub limit: u64,
    /// Where it is noted which segments there are.
    pub plan: PathBuf,
    /// The folder.
    pub into: PathBuf,
}

/// Bring segments of a commit log.
///
/// # Errors
/// As [`read`].
pub fn segments(
    order: &Transfer,
    own: &Own,
    (work, next): (&ReplayWork, NextSegments),
) -> Result<Settings, Stopped> {
    let NextSegments { skip, limit, plan, into } = next;
    with(order, own, || {
        Ok(Work::Segments(Segments {
            backup: backup(order)?,
            manifest: hash("manifest", &work.manifest_hash)?,
            source: host(work.source.as_str())?,
            to: work.to.0.as_second(),
            plan,
            skip,
            limit,
            into,
        }))
    })
}
