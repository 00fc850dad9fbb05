//! Which tables a job goes through, in which order.

use super::bench::{Bench, Halt, Step};
use crate::admin::jobs::Tables;
use crate::admin::{Answer, Error};
use crate::volume::jobs::Item;
use crate::words::calls::Doing;
use crate::words::work::Failed;
use palladion_api::member::JobCause;
use palladion_api::task::Selection;
use std::collections::BTreeMap;

/// A server in a long collection is asked again so often.
const TRIES: u32 = 5;

/// Ask before anything is done: one look that times out is no reason to give up.
async fn patiently<'a, T>(bench: &Bench, ask: impl Fn() -> Answer<'a, T>) -> Result<T, Error> {
    let mut tries = 0;
    loop {
        match ask().await {
            Err(Error::Http { .. }) if tries < TRIES => {
                tries += 1;
                bench.pause(bench.pace.again).await;
            }
            answer => return answer,
        }
    }
}

/// Keyspaces, each with the tables that were named of it; none named: all.
pub type Named = BTreeMap<String, Vec<String>>;

/// The keyspaces of a job, each with the tables that were named.
pub async fn named(bench: &Bench, of: &Selection) -> Step<Named> {
    if !of.tables.is_empty() {
        let mut named = Named::new();
        for (keyspace, table) in of.tables.iter().filter_map(|t| t.split_once('.')) {
            let tables = named.entry(keyspace.to_string()).or_default();
            if !tables.iter().any(|known| known == table) {
                tables.push(table.to_string());
            }
        }
        return Ok(named);
    }
    if !of.keyspaces.is_empty() {
        return Ok(of.keyspaces.iter().map(|k| (k.clone(), Vec::new())).collect());
    }
    let all = match patiently(bench, || bench.admin.keyspaces()).await {
        Ok(all) => all,
        Err(error) => return Err(bench.failed(Doing::ListKeyspaces, error).await),
    };
    Ok(all.into_iter().map(|k| (k, Vec::new())).collect())
}

/// All tables of a job, each with the bytes that it has on disk.
pub async fn tables(bench: &Bench, of: &Selection) -> Step<Tables> {
    let named = named(bench, of).await?;
    let jobs = bench.jobs()?;
    let there = match patiently(bench, || jobs.tables()).await {
        Ok(there) => there,
        Err(error) => return Err(bench.failed(Doing::ListTables, error).await),
    };
    let mut plan = Tables::new();
    for (keyspace, tables) in named {
        let Some(known) = there.get(&keyspace) else {
            if of.keyspaces.is_empty() && of.tables.is_empty() {
                continue;
            }
            return Err(missing(Failed::NoSuchKeyspace { keyspace }));
        };
        let mut chosen = BTreeMap::new();
        for table in &tables {
            let Some(bytes) = known.get(table) else {
                let table = table.clone();
                return Err(missing(Failed::NoSuchTable { keyspace, table }));
            };
            chosen.insert(table.clone(), *bytes);
        }
        plan.insert(keyspace, if tables.is_empty() { known.clone() } else { chosen });
    }
    Ok(plan)
}

/// Is what a call failed at there no more, although the job found it when it began? Somebody has
/// dropped it, and there is nothing left to do. What a person has named is missed, and so is what
/// cannot be looked for.
pub async fn was_dropped(bench: &Bench, of: &Selection, item: &Item) -> bool {
    let Ok(jobs) = bench.jobs() else { return false };
    if !of.tables.is_empty() {
        return false;
    }
    let Ok(all) = patiently(bench, || jobs.tables()).await else { return false };
    match all.get(&item.keyspace) {
        None => of.keyspaces.is_empty(),
        Some(there) => item.table.as_ref().is_some_and(|table| !there.contains_key(table)),
    }
}

fn missing(what: Failed) -> Halt {
    Halt::Failed(JobCause::ServerError, what.to_string())
}
