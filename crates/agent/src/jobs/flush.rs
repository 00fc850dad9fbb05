//! Flush, keyspace by keyspace.

use super::answer::answered;
use super::bench::{Bench, Halt, Step};
use super::plan;
use super::work::done;
use crate::volume::jobs::{Item, Notes};
use crate::words::calls::Doing;
use crate::words::work::Done;
use palladion_api::task::Selection;

/// Write memtables to disk.
pub async fn flush(bench: &Bench, of: &Selection) -> Step<Done> {
    let jobs = bench.jobs()?;
    let named = plan::named(bench, of).await?;
    for (keyspace, tables) in &named {
        let task = &bench.job.task;
        if bench.book.read(|notes| notes.has_finished_keyspace(task, keyspace)) {
            continue;
        }
        bench.may_stop()?;
        let item = Item { keyspace: keyspace.clone(), table: None };
        bench.note(|notes| notes.call(item.clone()))?;
        let part = async {
            let doing = Doing::Flush { keyspace: keyspace.clone() };
            match answered(bench, jobs.flush_tables(keyspace, tables), doing).await {
                Err(Halt::Failed(..)) if plan::was_dropped(bench, of, &item).await => {}
                answer => answer?,
            }
            bench.note(Notes::finish_item)?;
            Ok(None)
        };
        bench.keyspace(keyspace, part).await?;
    }
    Ok(done(named.keys().map(String::as_str)))
}
