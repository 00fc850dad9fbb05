//! Stopping what a server does. What it rewrites is stopped by ID and never by type: what a major
//! compaction is called differs between the versions, and a type would stop
//! what is not ours. What waits for a thread is in no list, and cannot be stopped.

use super::bench::{Bench, Halt, Step};
use crate::admin::jobs::{Compaction, Jobs, Rewrite};
use crate::volume::jobs::Item;
use palladion_api::words::Names;
use tokio::time::{Instant, timeout};

/// A repair that is asked to end. Its sessions end one by one, and up to 4.1 each
/// may take half a minute; one that does not end at all is not waited for.
#[derive(Default)]
pub struct Asked(Option<Instant>);

impl Asked {
    /// Ask once more: threads of the server may begin sessions after the first call.
    pub async fn end(
        &mut self,
        bench: &Bench,
        keyspace: &str,
        numbers: impl FnOnce() -> Names,
    ) -> Step<()> {
        let since = *self.0.get_or_insert_with(Instant::now);
        if since.elapsed() >= bench.pace.ends {
            let (keyspace, numbers) = (keyspace.to_string(), numbers());
            return Err(Halt::LeftRunning { keyspace, numbers });
        }
        // Where it is not answered it is not called again: each call holds a thread of the server.
        let left = bench.pace.ends.saturating_sub(since.elapsed());
        match timeout(left, bench.jobs()?.end_repairs()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::warn!(error = error.to_string(), "the repair cannot be ended");
            }
            Err(_) => tracing::warn!("the server does not answer that it ends repairs"),
        }
        Ok(())
    }
}

/// The entries that belong to a call.
pub fn ours<'a>(
    all: &'a [Compaction],
    what: Rewrite<'a>,
    item: &'a Item,
) -> impl Iterator<Item = &'a Compaction> {
    all.iter().filter(move |c| {
        c.keyspace == item.keyspace
            && item.table.as_ref() == Some(&c.table)
            && what.names().contains(&c.name.as_str())
    })
}

/// Is there something that can be stopped?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// There is.
    Entries,
    /// There is not, or the server does not say so: the call is about to return, or waits for
    /// a thread of the server.
    Nothing,
}

/// Stop them. SSTables that wait behind a stopped one begin all the same, so this
/// is done again until the call returns.
pub async fn entries(jobs: &dyn Jobs, what: Rewrite<'_>, item: &Item) -> Shown {
    let all = match jobs.compactions().await {
        Ok(all) => all,
        Err(error) => {
            tracing::warn!(error = error.to_string(), "the compactions cannot be listed");
            return Shown::Nothing;
        }
    };
    let mut shown = Shown::Nothing;
    for entry in ours(&all, what, item) {
        shown = Shown::Entries;
        tracing::info!(id = entry.id, table = entry.table, "stopping a compaction");
        if let Err(error) = jobs.stop_compaction(&entry.id).await {
            tracing::warn!(error = error.to_string(), "a compaction cannot be stopped");
        }
    }
    shown
}
