//! Snapshots. Whether one is there is looked up on the disk: the server's own
//! list breaks off where a snapshot has no time to live (seen of 5.0.5).

use super::answer::answered;
use super::bench::{Bench, Halt, Step};
use super::plan;
use crate::words::calls::Doing;
use crate::words::work::{Done, Failed};
use palladion_api::member::JobCause;
use palladion_api::task::{ClearSnapshotTask, KeyspaceResult, KeyspaceState, SnapshotTask};
use std::collections::BTreeSet;
use tokio::time::Instant;

/// How much of a snapshot is on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDisk {
    /// Nothing of these tables.
    Nothing,
    /// Some of them.
    Part,
    /// Each of them.
    All,
    /// Other tables of their keyspaces have one of this name, which is not ours.
    Others,
}

/// Take one.
pub async fn take(bench: &Bench, what: &SnapshotTask) -> Step<Done> {
    let jobs = bench.jobs()?;
    let named = plan::named(bench, &what.of).await?;
    let of: Vec<String> = match what.of.tables.is_empty() {
        true => named.keys().cloned().collect(),
        false => what.of.tables.clone(),
    };
    let is_ours = bench.book.read(|notes| notes.has_taken(&bench.job.task, &what.name));
    let begun = Instant::now();
    match (on_disk(bench, what).await?, is_ours) {
        (OnDisk::All, true) => {}
        // What is not ours, a keyspace's other tables included, is not touched.
        (OnDisk::Others, _) | (OnDisk::Part | OnDisk::All, false) => {
            let why = Failed::SnapshotExists { name: what.name.clone() };
            return Err(Halt::Failed(JobCause::SnapshotExists, why.to_string()));
        }
        (found @ (OnDisk::Part | OnDisk::Nothing), _) => {
            bench.may_stop()?;
            bench.note(|notes| notes.take_snapshot(&what.name))?;
            if found == OnDisk::Part {
                // Of an earlier try: the server takes none of a name that is there.
                let keyspaces: Vec<String> = named.keys().cloned().collect();
                let doing = Doing::ClearSnapshot { name: what.name.clone() };
                answered(bench, jobs.clear_snapshot(&what.name, &keyspaces), doing).await?;
                bench.may_stop()?;
            }
            let doing = Doing::Snapshot { name: what.name.clone() };
            answered(bench, jobs.take_snapshot(what, &of), doing).await?;
        }
    }
    succeeded(bench, named.keys(), begun)?;
    Ok(Done::Snapshot { name: what.name.clone() })
}

/// Delete one; doing it twice does no harm.
pub async fn clear(bench: &Bench, what: &ClearSnapshotTask) -> Step<Done> {
    bench.may_stop()?;
    let begun = Instant::now();
    bench.note(|notes| notes.forget_snapshot(&what.name))?;
    let doing = Doing::ClearSnapshot { name: what.name.clone() };
    answered(bench, bench.jobs()?.clear_snapshot(&what.name, &what.keyspaces), doing).await?;
    succeeded(bench, what.keyspaces.iter(), begun)?;
    Ok(Done::Cleared { name: what.name.clone() })
}

fn succeeded<'a>(
    bench: &Bench,
    keyspaces: impl Iterator<Item = &'a String>,
    begun: Instant,
) -> Step<()> {
    let (state, seconds) = (KeyspaceState::Succeeded, begun.elapsed().as_secs());
    bench.note(|notes| {
        for name in keyspaces {
            let result = KeyspaceResult::of(name.clone(), state, seconds, None);
            notes.finish_keyspace(result);
        }
    })
}

/// How much of it is there?
pub async fn on_disk(bench: &Bench, what: &SnapshotTask) -> Step<OnDisk> {
    let tables = plan::tables(bench, &what.of).await?;
    let found = match bench.book.volume().snapshot_tables(&what.name) {
        Ok(found) => found,
        Err(error) => return Err(Halt::Failed(JobCause::VolumeError, format!("{error:#}"))),
    };
    let wanted: BTreeSet<(String, String)> = tables
        .iter()
        .flat_map(|(keyspace, tables)| tables.keys().map(|t| (keyspace.clone(), t.clone())))
        .collect();
    // A server clears whole keyspaces.
    if found.iter().any(|table| tables.contains_key(&table.0) && !wanted.contains(table)) {
        return Ok(OnDisk::Others);
    }
    Ok(match wanted.intersection(&found).count() {
        0 => OnDisk::Nothing,
        there if there == wanted.len() => OnDisk::All,
        _ => OnDisk::Part,
    })
}
