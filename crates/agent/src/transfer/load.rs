//! Loading what one member of a backup had, a batch at a time: the child fetches SSTables, the
//! server takes them, and what is loaded is noted. Either it streams them to the replicas of their
//! rows: between two looks at a ring that is at rest and the same; otherwise the batch is loaded
//! again. Or they become its own files ([`place`]).

use super::attempt::Talk;
use super::loaded::{self, Journal};
use super::settled::settled;
use super::step::{Step, ask, ask_to_the_end, child, other};
use super::{Bench, down, place};
use crate::admin::Error;
use palladion_agent_transfer::assign::restore::{self, NextBatch};
use palladion_agent_transfer::orders::restore::Which;
use palladion_agent_transfer::sent;
use palladion_agent_transfer::tell::Done;
use palladion_agent_transfer::upload::{Space, space};
use palladion_agent_transfer::whole::{AUTH, AUTH_TABLES};
use palladion_agent_transfer::words::refusal::Refusal;
use palladion_agent_transfer::words::stopped::{Stopped, Unfetched};
use palladion_api::backup::{LoadWay, LoadWork};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// So much of the volume stays free, in percent: the streams need room as well.
const LEAST_FREE: u64 = 5;
/// A batch takes this part of what is free, at the most.
const PART_OF_FREE: u64 = 10;

/// Load it.
///
/// # Errors
/// It cannot go on now, or never will.
pub async fn load(bench: &Bench, work: &LoadWork, talk: &mut Talk) -> Step<Done> {
    let id = &bench.order.id;
    let path = loaded::path(&bench.own.state, id);
    let into = loaded::folder(&bench.restores, id);
    let mut journal = Journal::open(&path, id, &work.manifest_hash);
    let which = match work.way {
        LoadWay::Roles => Which::Auth(ask(talk, auth_tables(bench)).await?),
        LoadWay::Stream | LoadWay::Place | LoadWay::Unknown(_) => Which::Restored,
    };
    loop {
        tell(&journal, talk);
        let before = match work.way {
            LoadWay::Stream | LoadWay::Roles => Some(ask(talk, settled(bench)).await?),
            // Nothing is streamed: who else is in the ring does not matter.
            LoadWay::Place => bench.server().map(|_| None)?,
            LoadWay::Unknown(_) => return Err(Stopped::from(Refusal::work()).into()),
        };
        let (limit, room) = room(bench)?;
        let (skip, of) = (journal.done, journal.of);
        let (into, which) = (into.clone(), which.clone());
        let next = NextBatch { skip, of, limit, room, into: into.clone(), which };
        let told = restore::batch(&bench.order, &bench.own, (work, next));
        let Done::Brought { sstables, bytes, all_sstables, tokens_hash } =
            child(told, talk).await?
        else {
            return Err(other());
        };
        if sstables > 0 {
            let folders = folders_of(&into, sstables)?;
            match before {
                Some(before) => load_batch(bench, &folders, before, talk).await?,
                None => place::batch(bench, &folders, &tokens_hash, talk).await?,
            }
        }
        journal.done += sstables;
        journal.bytes += bytes;
        journal.of = all_sstables;
        journal.save(&path)?;
        remove(&into)?;
        if journal.done >= all_sstables {
            break;
        }
    }
    tell(&journal, talk);
    Ok(Done::Loaded { sstables: journal.done, bytes: journal.bytes })
}

/// Have the server load all SSTables of a batch, until the ring has been at rest meanwhile.
async fn load_batch(
    bench: &Bench,
    folders: &[Folder],
    mut before: String,
    talk: &mut Talk,
) -> Step<()> {
    let id = &bench.order.id;
    loop {
        let mut copies = BTreeMap::new();
        for (table, folder) in folders {
            if !copies.contains_key(table) {
                copies.insert(table, ask(talk, copies_of(bench, table)).await?);
            }
            let copies = copies.get(table).copied().unwrap_or(1);
            ask_to_the_end(talk, load_one(bench, table, folder, copies)).await?;
        }
        let after = ask(talk, settled(bench)).await?;
        if after == before {
            return Ok(());
        }
        tracing::info!(id, "the ring has changed while SSTables were loaded; loading them again");
        before = after;
    }
}

fn tell(journal: &Journal, talk: &Talk) {
    talk.progress.send_modify(|progress| {
        (progress.files, progress.of) = (journal.done, journal.of);
    });
}

/// Bytes that are fetched now, and bytes that the volume has for one SSTable.
///
/// # Errors
/// It is too full.
pub fn room(bench: &Bench) -> Result<(u64, u64), Stopped> {
    let Space { bytes, free } = space(&bench.own.volume).map_err(|why| Stopped::Scratch {
        path: bench.own.volume.display().to_string(),
        why: why.to_string(),
    })?;
    let room = free.saturating_sub(bytes / 100 * LEAST_FREE);
    match room > 0 {
        true => Ok(((free / PART_OF_FREE).min(bench.batch_bytes), room)),
        false => {
            let free = free.saturating_mul(100) / bytes.max(1);
            Err(Stopped::RestoreRoom { free, least: LEAST_FREE })
        }
    }
}

/// The tables of roles that the ring has.
async fn auth_tables(bench: &Bench) -> Result<Vec<String>, Stopped> {
    let known = bench.jobs()?.tables().await.map_err(down)?;
    let known = known.get(AUTH).cloned().unwrap_or_default();
    let ours = known.into_keys().filter(|name| AUTH_TABLES.contains(&name.as_str()));
    Ok(ours.collect())
}

/// One SSTable of a batch: the keyspace and the name of its table, and its folder.
pub type Folder = ([String; 2], PathBuf);

/// The SSTables of a batch, all of them.
fn folders_of(into: &Path, sstables: u64) -> Result<Vec<Folder>, Stopped> {
    let folders = folders(into)?;
    if folders.len() as u64 == sstables {
        return Ok(folders);
    }
    let why = Unfetched::Folders { found: folders.len() as u64, sstables }.to_string();
    Err(Stopped::Scratch { path: into.display().to_string(), why })
}

fn folders(into: &Path) -> Result<Vec<Folder>, Stopped> {
    let listed = || -> std::io::Result<Vec<_>> {
        let mut all = Vec::new();
        for number in std::fs::read_dir(into)? {
            for keyspace in std::fs::read_dir(number?.path())? {
                let keyspace = keyspace?;
                for table in std::fs::read_dir(keyspace.path())? {
                    let table = table?;
                    let names = [keyspace.file_name(), table.file_name()];
                    let names = names.map(|name| name.to_string_lossy().into_owned());
                    all.push((names, table.path()));
                }
            }
        }
        all.sort();
        Ok(all)
    };
    listed().map_err(|error| scratch(into, &error))
}

/// A file of a batch cannot be read, or written.
pub fn scratch(path: &Path, error: &std::io::Error) -> Stopped {
    Stopped::Scratch { path: path.display().to_string(), why: error.to_string() }
}

/// Remove what is loaded.
///
/// # Errors
/// It cannot be removed.
pub fn remove(folder: &Path) -> Result<(), Stopped> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(scratch(folder, &error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// How many members get each row of a table, at the least.
async fn copies_of(bench: &Bench, [keyspace, name]: &[String; 2]) -> Result<u64, Stopped> {
    let jobs = bench.jobs()?;
    // Of a table that it does not know the server loads nothing, and answers that all is loaded.
    let known = jobs.tables().await.map_err(down)?;
    if !known.get(keyspace).is_some_and(|tables| tables.contains_key(name)) {
        return Err(Stopped::NoTable { table: format!("{keyspace}.{name}") });
    }
    let ranges = jobs.ranges(keyspace).await.map_err(down)?;
    Ok(ranges.iter().map(|range| range.members.len()).min().unwrap_or(1).max(1) as u64)
}

/// Have the server load one SSTable, and look whether it has sent it: of one that it leaves out
/// it sends nothing.
async fn load_one(
    bench: &Bench,
    [keyspace, name]: &[String; 2],
    folder: &Path,
    copies: u64,
) -> Result<(), Stopped> {
    let (jobs, table) = (bench.jobs()?, format!("{keyspace}.{name}"));
    let least = sent::least(folder)?.saturating_mul(copies);
    let before = jobs.streamed().await.map_err(down)?;
    jobs.load(folder).await.map_err(|error| match error {
        Error::Failed { message: why, .. } => Stopped::NotLoaded { table: table.clone(), why },
        Error::Http { .. } | Error::Status { .. } | Error::Unsupported(_) => down(error),
    })?;
    let after = jobs.streamed().await.map_err(down)?;
    all_is_sent(&table, (before, after), least)
}

/// A server that was started meanwhile counts anew, and has sent less.
fn all_is_sent(table: &str, (before, after): (u64, u64), least: u64) -> Result<(), Stopped> {
    let sent = after.saturating_sub(before);
    match sent >= least {
        true => Ok(()),
        false => Err(Stopped::LeftOut { table: table.to_string(), sent, least }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_than_the_data_of_each_copy_is_not_all() {
        assert_eq!(all_is_sent("k.t", (10, 110), 100), Ok(()));
        for (before, after) in [(10, 109), (0, 0), (500, 20)] {
            let why = all_is_sent("k.t", (before, after), 100).unwrap_err();
            assert!(matches!(why, Stopped::LeftOut { .. }), "{why}");
        }
    }

    #[test]
    fn tables_are_the_last_two_folders_of_each_sstable() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["1/shop/users", "2/shop/users", "3/copy/users"] {
            std::fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        let names: Vec<String> =
            folders(folder.path()).unwrap().into_iter().map(|(names, _)| names.join(".")).collect();
        assert_eq!(names, ["copy.users", "shop.users", "shop.users"]);
        assert!(folders(&folder.path().join("gone")).is_err());
    }
}
