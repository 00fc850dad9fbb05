//! SSTables of a backup become files of the server itself, whose tokens are those of the member
//! that had them. They are put into the data directory of their table, under numbers that nobody
//! else uses, and the server is asked to take them (`StorageService.loadNewSSTables`).
//!
//! What this relies on, in the source of Cassandra 4.0, 4.1 and 5.0 (`SSTableImporter`,
//! `SSTableReader.moveAndOpenSSTable`, `SSTableWriter.rename`):
//! - It lists the data directories of the table. What is live is passed over; all else it renames
//!   to the next identifiers of its own, opens, and makes live at the end, all together.
//! - One that it cannot rename or open makes the call fail; nothing of the call is live then. What
//!   is renamed already is found, and taken, by the next call, or by the next start.
//! - The rows (`Data.db`) are renamed last. Without them an SSTable is an orphan: a start removes
//!   it; a call fails at it, and so does each later one, which finds it under another name. The
//!   same goes for rows without their index (both seen of 5.0.5). So here, too, rows are linked
//!   last, and no call is made beside a half.
//! - It tests neither tokens nor content. Tokens are compared here, and every byte was hashed.
//! - Calls for one table wait for each other.
//! - Names with UUIDs are unknown to 4.0, and refused by others where a setting is off: so numbers.
//!
//! Whatever ends in between, no half of an SSTable is ever opened, and each is taken at least once.
//! Twice is the same as once, since rows merge:
//! - Before the links, or amid them: they are noted, and removed by the next try, or before the
//!   next start of the server.
//! - After the links, before the call, or amid it: the next try first waits for a call that may be
//!   under way, by another one, and then removes what is left. The batch is placed again.
//! - After the call, before the journal: the batch is placed again.
//!
//! A server that has answered has taken all of them if none is there any more under its number.

use super::attempt::Talk;
use super::load::{Folder, scratch};
use super::placed::{self, DATA, FIRST, LAST, Placed};
use super::ring::own_tokens;
use super::step::{Step, ask, ask_to_the_end};
use super::{Bench, down};
use crate::admin::Error;
use crate::cql::{Connection, text};
use crate::volume::durable;
use palladion_agent_transfer::tokens::hash_of;
use palladion_agent_transfer::words::stopped::{Stopped, Unplaced};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Where a server has such numbers of its own, since an older agent has started it with files in
/// place: it gives the next ones meanwhile.
const GAP: u32 = 1_000_000;

/// The names of a table.
type Table = [String; 2];

/// Have the server take all SSTables of a batch.
///
/// # Errors
/// It cannot go on now, or never will.
pub async fn batch(bench: &Bench, all: &[Folder], source: &str, talk: &mut Talk) -> Step<()> {
    let own = hash_of(&ask(talk, own_tokens(bench)).await?);
    if own != source {
        return Err(Stopped::OtherTokens { own, source: source.to_string() }.into());
    }
    ask_to_the_end(talk, clear(bench)).await?;
    let mut folders = BTreeMap::new();
    for (table, _) in all {
        if !folders.contains_key(table) {
            folders.insert(table.clone(), ask(talk, folder_of(bench, table)).await?);
        }
    }
    // They are to be live, and no power cut takes them then.
    ask(talk, synced(all)).await?;
    ask_to_the_end(talk, take(bench, all, &folders)).await
}

/// Remove what an earlier try has left. A call of it may still be under way, and has the files in
/// its hands: one more call for the same table is answered after it.
async fn clear(bench: &Bench) -> Result<(), Stopped> {
    let failed = |error: anyhow::Error| unwritten(&bench.placed, &error);
    let noted = placed::read(&bench.placed).map_err(failed)?;
    if noted.is_empty() {
        return Ok(());
    }
    // No call was made with these, and none would go well.
    let is_half = |placed: &&Placed| !placed.has_data();
    noted.iter().filter(is_half).try_for_each(Placed::remove).map_err(failed)?;
    let whole = noted.iter().filter(|placed| placed.has_data());
    let tables: BTreeSet<_> = whole.map(|placed| (&placed.keyspace, &placed.table)).collect();
    for (keyspace, table) in tables {
        match bench.jobs()?.take_new(keyspace, table).await {
            Ok(()) => {}
            Err(Error::Failed { message, .. }) => {
                tracing::warn!(keyspace, table, message, "SSTables of an earlier try are removed");
            }
            Err(error) => return Err(down(error)),
        }
    }
    bench.same_server()?;
    placed::remove_all(&bench.placed, &noted).map_err(failed)
}

/// The data directory of a table that the server has now: one that was dropped has another.
async fn folder_of(bench: &Bench, table: &Table) -> Result<PathBuf, Stopped> {
    let [keyspace, name] = table;
    let statement = format!(
        "SELECT JSON id FROM system_schema.tables WHERE keyspace_name = {} AND table_name = {}",
        text(keyspace),
        text(name)
    );
    let asked = async { Connection::open(&bench.cql).await?.texts(&statement).await };
    let rows = asked
        .await
        .map_err(|error| Stopped::Described { why: format!("{:#}", anyhow::Error::from(error)) })?;
    let id = rows.first().and_then(|row| serde_json::from_str::<serde_json::Value>(row).ok());
    let id = id.and_then(|row| Some(row["id"].as_str()?.replace('-', "")));
    let shown = || format!("{keyspace}.{name}");
    let id = id.ok_or_else(|| Stopped::NoTable { table: shown() })?;
    let folder = format!("{name}-{id}");
    let mut paths = bench.own.data.iter().map(|data| data.join(keyspace).join(&folder));
    paths.find(|path| path.is_dir()).ok_or_else(|| Stopped::NoFolder { table: shown(), folder })
}

/// Bring what was fetched to the disk, beside the loop.
async fn synced(all: &[Folder]) -> Result<(), Stopped> {
    let folders: Vec<PathBuf> = all.iter().map(|(_, folder)| folder.clone()).collect();
    let sync = move || -> Result<(), Stopped> {
        for folder in folders {
            for (_, path) in components(&folder)? {
                File::open(&path)
                    .and_then(|file| file.sync_all())
                    .map_err(|e| scratch(&path, &e))?;
            }
        }
        Ok(())
    };
    beside(sync).await
}

/// Carry out what blocks in a thread of its own.
async fn beside(
    work: impl FnOnce() -> Result<(), Stopped> + Send + 'static,
) -> Result<(), Stopped> {
    let ended = tokio::task::spawn_blocking(work).await;
    ended.unwrap_or_else(|error| Err(Stopped::NoChild { why: error.to_string() }))
}

async fn take(
    bench: &Bench,
    all: &[Folder],
    folders: &BTreeMap<Table, PathBuf>,
) -> Result<(), Stopped> {
    // Nothing is waited for from here to the last link: the loop, which is of the same thread,
    // starts no other server meanwhile.
    bench.same_server()?;
    let planned = planned(all, folders)?;
    let failed = |error: anyhow::Error| unwritten(&bench.placed, &error);
    let placed: Vec<Placed> = planned.iter().map(|(placed, _)| placed.clone()).collect();
    placed::save(&bench.placed, &placed).map_err(failed)?;
    planned.iter().try_for_each(|(placed, from)| link(placed, from))?;
    folders.values().try_for_each(|folder| durable::sync_directory(folder)).map_err(failed)?;
    for table @ [keyspace, name] in folders.keys() {
        bench.jobs()?.take_new(keyspace, name).await.map_err(|error| match error {
            Error::Failed { message: why, .. } => {
                Stopped::NotLoaded { table: table.join("."), why }
            }
            Error::Http { .. } | Error::Status { .. } | Error::Unsupported(_) => down(error),
        })?;
    }
    // What is gone may have been removed for the start of another one.
    bench.same_server()?;
    if let Some(left) = placed.iter().find(|placed| placed.has_data()) {
        let table = format!("{}.{}", left.keyspace, left.table);
        return Err(Stopped::Misplaced { table, sstable: left.sstable.clone() });
    }
    let volume = bench.own.volume.clone();
    beside(move || {
        let sync = || -> std::io::Result<()> { Ok(rustix::fs::syncfs(File::open(&volume)?)?) };
        sync().map_err(|error| scratch(&volume, &error))
    })
    .await?;
    bench.same_server()?;
    placed::forget(&bench.placed).map_err(failed)
}

/// Where each goes.
fn planned(
    all: &[Folder],
    folders: &BTreeMap<Table, PathBuf>,
) -> Result<Vec<(Placed, PathBuf)>, Stopped> {
    let mut next = FIRST;
    for folder in folders.values() {
        let highest = placed::highest(folder).map_err(|error| unwritten(folder, &error))?;
        if highest >= FIRST {
            next = next.max(highest.saturating_add(GAP));
        }
    }
    let mut planned = Vec::new();
    for (table, from) in all {
        let Some(folder) = folders.get(table).cloned() else { continue };
        let [keyspace, name] = table.clone();
        let shown = || table.join(".");
        let none = |why: Unplaced| Stopped::NotLoaded { table: shown(), why: why.to_string() };
        let names = components(from)?;
        let data = names.keys().find_map(|name| name.strip_suffix(DATA)?.strip_suffix('-'));
        let parts: Vec<&str> = data.unwrap_or_default().split('-').collect();
        let [version, _, format] = parts[..] else { return Err(none(Unplaced::NoData)) };
        if next > LAST {
            return Err(none(Unplaced::Numbers));
        }
        let sstable = format!("{version}-{next}-{format}");
        next += 1;
        planned.push((Placed { keyspace, table: name, folder, sstable }, from.clone()));
    }
    Ok(planned)
}

/// The files of one SSTable, by name.
fn components(folder: &Path) -> Result<BTreeMap<String, PathBuf>, Stopped> {
    let listed = || -> std::io::Result<_> {
        let name =
            |entry: fs::DirEntry| (entry.file_name().to_string_lossy().into_owned(), entry.path());
        fs::read_dir(folder)?.map(|entry| entry.map(name)).collect()
    };
    listed().map_err(|error| scratch(folder, &error))
}

/// Its rows last. A name that is there already is another one's: nothing is overwritten.
fn link(placed: &Placed, from: &Path) -> Result<(), Stopped> {
    let mut all: Vec<(String, PathBuf)> = Vec::new();
    for (name, path) in components(from)? {
        let component = name.rsplit('-').next().unwrap_or_default();
        all.push((component.to_string(), path));
    }
    all.sort_by_key(|(component, _)| component == DATA);
    for (component, path) in all {
        let to = placed.component(&component);
        fs::hard_link(&path, &to).map_err(|error| scratch(&to, &error))?;
    }
    Ok(())
}

fn unwritten(path: &Path, error: &anyhow::Error) -> Stopped {
    Stopped::Scratch { path: path.display().to_string(), why: format!("{error:#}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_above_all_that_are_there_and_rows_are_linked_last() {
        let root = tempfile::tempdir().unwrap();
        let fetched = |number: u32, version: &str| {
            let folder = root.path().join(format!("{number}/shop/users"));
            fs::create_dir_all(&folder).unwrap();
            for component in [DATA, "Index.db", "CompressionInfo.db"] {
                let name = format!("{version}-{number}-big-{component}");
                fs::write(folder.join(name), component).unwrap();
            }
            (["shop".to_string(), "users".to_string()], folder)
        };
        let all = [fetched(1, "nb"), fetched(2, "oa")];
        let table = root.path().join("data/shop/users-1");
        fs::create_dir_all(&table).unwrap();
        let folders = BTreeMap::from([(all[0].0.clone(), table.clone())]);
        let names = || -> Vec<String> {
            planned(&all, &folders).unwrap().into_iter().map(|(placed, _)| placed.sstable).collect()
        };
        fs::write(table.join("nb-17-big-Data.db"), "").unwrap();
        assert_eq!(names(), ["nb-1500000000-big", "oa-1500000001-big"]);
        let planned = planned(&all, &folders).unwrap();
        link(&planned[0].0, &planned[0].1).unwrap();
        assert_eq!(fs::read_to_string(planned[0].0.component(DATA)).unwrap(), DATA);
        assert!(planned[0].0.component("CompressionInfo.db").exists());
        // Somebody else's is not overwritten, and not taken for whole.
        fs::write(planned[1].0.component("Index.db"), "of the server").unwrap();
        link(&planned[1].0, &planned[1].1).unwrap_err();
        assert!(!planned[1].0.has_data());
        assert_eq!(names(), ["nb-1501000001-big", "oa-1501000002-big"]);
        fs::write(table.join("nb-2147483640-big-Data.db"), "").unwrap();
        let why = super::planned(&all, &folders).unwrap_err().to_string();
        assert!(why.contains("number"), "{why}");
    }
}
