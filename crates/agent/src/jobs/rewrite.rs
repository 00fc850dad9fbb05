//! Jobs that rewrite SSTables, one table after the other: where one is
//! interrupted, the next try goes on with the table that was not finished.

use super::bench::{Bench, Halt, Step};
use super::book::Live;
use super::stop::Shown;
use super::work::done;
use super::{plan, stop};
use crate::admin::Error;
use crate::admin::jobs::{Compaction, Rewrite, Rewritten, Tables};
use crate::volume::jobs::{Item, Notes};
use crate::words::calls::Doing;
use crate::words::work::{Done, Failed};
use palladion_api::member::{JobCause, JobUnit};
use palladion_api::task::Selection;
use tokio::time::Instant;

/// Rewrite all tables that are meant.
pub async fn rewrite(bench: &Bench, what: Rewrite<'_>, of: &Selection) -> Step<Done> {
    let tables = plan::tables(bench, of).await?;
    // Before the first of them is called: half a compaction helps nobody whose disk is full.
    for (keyspace, tables) in &tables {
        for (table, bytes) in tables {
            let item = Item { keyspace: keyspace.clone(), table: Some(table.clone()) };
            if !bench.book.read(|notes| notes.has_finished(&bench.job.task, &item)) {
                has_room(bench, what, &item, *bytes)?;
            }
        }
    }
    let mut meter = Meter::of(&tables);
    for (keyspace, tables) in &tables {
        let task = &bench.job.task;
        if bench.book.read(|notes| notes.has_finished_keyspace(task, keyspace)) {
            meter.done += tables.values().sum::<u64>();
            continue;
        }
        let part = async {
            for (table, bytes) in tables {
                let item = Item { keyspace: keyspace.clone(), table: Some(table.clone()) };
                if !bench.book.read(|notes| notes.has_finished(task, &item)) {
                    one_table(bench, (what, of), &item, (*bytes, meter)).await?;
                }
                meter.done += bytes;
            }
            Ok(None)
        };
        bench.keyspace(keyspace, part).await?;
    }
    Ok(done(tables.keys().map(String::as_str)))
}

async fn one_table(
    bench: &Bench,
    (what, of): (Rewrite<'_>, &Selection),
    item: &Item,
    (bytes, meter): (u64, Meter),
) -> Step<()> {
    bench.may_stop()?;
    // Others write to the disk, too.
    has_room(bench, what, item, bytes)?;
    bench.note(|notes| notes.call(item.clone()))?;
    bench.show(meter.at(bytes, &[]));
    let since = Instant::now();
    loop {
        match call(bench, (what, of), item, (bytes, meter)).await? {
            Rewritten::Done => break,
            Rewritten::Busy if since.elapsed() < bench.pace.busy => {
                bench.pause(bench.pace.again).await;
                bench.may_stop()?;
            }
            Rewritten::Busy => {
                let (keyspace, table) = names(item);
                let why = Failed::Busy { keyspace, table, seconds: bench.pace.busy.as_secs() };
                return Err(Halt::Failed(JobCause::TableBusy, why.to_string()));
            }
            Rewritten::Stopped => {
                bench.may_stop()?;
                let (keyspace, table) = names(item);
                let why = Failed::StoppedByOther { keyspace, table };
                return Err(bench.failed_by_itself(JobCause::StoppedByOther, why).await);
            }
        }
    }
    bench.note(Notes::finish_item)
}

/// One call, looked at and, if it is asked for, stopped.
async fn call(
    bench: &Bench,
    (what, of): (Rewrite<'_>, &Selection),
    item: &Item,
    (bytes, meter): (u64, Meter),
) -> Step<Rewritten> {
    let jobs = bench.jobs()?;
    let (keyspace, table) = names(item);
    let mut answer = jobs.rewrite(what, &keyspace, &table);
    let mut nothing_since: Option<Instant> = None;
    loop {
        let pause = async {
            match bench.asked() {
                None => bench.pause(bench.pace.look).await,
                Some(_) => tokio::time::sleep(bench.pace.stop).await,
            }
        };
        tokio::select! {
            answer = &mut answer => match answer {
                Ok(how) => return Ok(how),
                Err(Error::Status { .. } | Error::Failed { .. })
                    if plan::was_dropped(bench, of, item).await =>
                {
                    return Ok(Rewritten::Done);
                }
                Err(error) => {
                    let (keyspace, table) = names(item);
                    return Err(bench.failed(Doing::Rewrite { keyspace, table }, error).await);
                }
            },
            () = pause => {}
        }
        if bench.asked().is_some() {
            match stop::entries(jobs, what, item).await {
                Shown::Entries => nothing_since = None,
                Shown::Nothing => {
                    let since = *nothing_since.get_or_insert_with(Instant::now);
                    if since.elapsed() >= bench.pace.ends {
                        let (keyspace, table) = names(item);
                        return Err(Halt::LeftWaiting { keyspace, table });
                    }
                }
            }
        } else if let Ok(all) = jobs.compactions().await {
            let ours: Vec<&Compaction> = stop::ours(&all, what, item).collect();
            bench.show(meter.at(bytes, &ours));
        }
    }
}

fn names(item: &Item) -> (String, String) {
    (item.keyspace.clone(), item.table.clone().unwrap_or_default())
}

/// A compaction may write all data of a table once more before it deletes any. The others
/// write one SSTable after the other.
fn has_room(bench: &Bench, what: Rewrite<'_>, item: &Item, needed: u64) -> Step<()> {
    match what {
        Rewrite::Compact(_) => {}
        Rewrite::Cleanup(_)
        | Rewrite::GarbageCollect(_)
        | Rewrite::Scrub(_)
        | Rewrite::UpgradeSstables(_) => return Ok(()),
    }
    let free = match bench.book.volume().free_bytes() {
        Ok(free) => free,
        Err(error) => return Err(Halt::Failed(JobCause::VolumeError, format!("{error:#}"))),
    };
    if free < needed {
        let (keyspace, table) = names(item);
        let why = Failed::NoRoom { keyspace, table, needed, free };
        return Err(Halt::Failed(JobCause::NotEnoughDisk, why.to_string()));
    }
    Ok(())
}

/// How far a job is, by the bytes of its tables.
#[derive(Clone, Copy)]
struct Meter {
    done: u64,
    total: u64,
}

impl Meter {
    fn of(tables: &Tables) -> Self {
        Self { done: 0, total: tables.values().flat_map(|t| t.values()).sum() }
    }

    /// With these entries of the table that is under way.
    fn at(self, bytes: u64, ours: &[&Compaction]) -> Live {
        let done: u64 = ours.iter().map(|c| c.done).sum();
        let total: u64 = ours.iter().map(|c| c.total).sum();
        let of_table = u128::from(bytes) * u128::from(done.min(total)) / u128::from(total.max(1));
        let all = (u128::from(self.done) + of_table) * 100 / u128::from(self.total.max(1));
        let counts_bytes = !ours.is_empty() && ours.iter().all(|c| c.unit == "bytes");
        Live {
            // It is done when the last call has returned.
            progress: Some(u8::try_from(all).unwrap_or(99).min(99)),
            done: counts_bytes.then_some(done),
            total: counts_bytes.then_some(total),
            unit: counts_bytes.then_some(JobUnit::Bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_counts_the_bytes_of_all_tables() {
        let meter = Meter { done: 100, total: 400 };
        let entry = |done, total, unit: &str| Compaction {
            done,
            total,
            unit: unit.into(),
            ..Default::default()
        };
        let (a, b) = (entry(10, 40, "bytes"), entry(30, 40, "bytes"));
        let live = meter.at(200, &[&a, &b]);
        assert_eq!((live.progress, live.done, live.total), (Some(50), Some(40), Some(80)));
        let keys = meter.at(200, &[&entry(1, 2, "keys")]);
        assert_eq!((keys.progress, keys.done, keys.unit), (Some(50), None, None));
        assert_eq!(Meter { done: 0, total: 0 }.at(0, &[]).progress, Some(0));
        assert_eq!(Meter { done: 400, total: 400 }.at(0, &[]).progress, Some(99));
    }
}
