//! Stopping what a server rewrites. By ID and never by type: what a major
//! compaction is called differs between the versions, and a type would stop
//! what is not ours.

use crate::admin::jobs::{Compaction, Jobs, Rewrite};
use crate::volume::jobs::Item;

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

/// Stop them. SSTables that wait behind a stopped one begin all the same, so this
/// is done again until the call returns.
pub async fn entries(jobs: &dyn Jobs, what: Rewrite<'_>, item: &Item) {
    let all = match jobs.compactions().await {
        Ok(all) => all,
        Err(error) => {
            tracing::warn!(error = error.to_string(), "the compactions cannot be listed");
            return;
        }
    };
    for entry in ours(&all, what, item) {
        tracing::info!(id = entry.id, table = entry.table, "stopping a compaction");
        if let Err(error) = jobs.stop_compaction(&entry.id).await {
            tracing::warn!(error = error.to_string(), "a compaction cannot be stopped");
        }
    }
}
