//! Snapshots of backups: taken once under each tag, and cleared. Only tags of ours
//! reach the server: an empty one would clear all that there are.

use super::{Bench, down, ring};
use crate::admin::{Error, ServerAdmin};
use crate::capabilities::SnapshotLife;
use palladion_agent_transfer::cleared;
use palladion_agent_transfer::decide::Views;
use palladion_agent_transfer::settings::Tag;
use palladion_agent_transfer::snapshot::fingerprint;
use palladion_agent_transfer::words::stopped::Stopped;
use palladion_api::backup::{RingView, SnapshotWork};
use palladion_api::task::{BeforeSnapshot, Selection, SnapshotTask};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

/// A server that has taken a snapshot may be in a long collection before it says how it
/// sees its ring: it is asked so often, so long apart.
const TRIES: u32 = 12;
const PAUSE: Duration = Duration::from_secs(5);
/// A server that does not clear a snapshot in this time is left alone: its folders are
/// removed all the same.
const CLEAR_TIME: Duration = Duration::from_secs(10);
/// The longest life that a snapshot is given, in seconds: ten years.
const LONGEST: u64 = 315_360_000;

/// What was taken.
pub struct Taken {
    /// How the server saw its ring before and after.
    pub ring: Views,
    /// Which tables it has.
    pub tables: String,
    /// Which keyspaces it was taken of.
    pub keyspaces: BTreeSet<String>,
    /// The member's tokens.
    pub tokens: Vec<String>,
}

/// Take it.
///
/// # Errors
/// There is one of this tag, of an earlier try; or the server cannot be asked, or refuses.
pub async fn take(bench: &Bench, work: &SnapshotWork) -> Result<Taken, Stopped> {
    let jobs = bench.jobs()?;
    let tag = Tag::try_from(work.tag.clone())?;
    let again = || Stopped::Snapshotted { tag: work.tag.clone() };
    if on_disk(bench.own.data.clone()).await?.contains(&tag) {
        return Err(again());
    }
    let before = ring::view(jobs).await?;
    // Between two views: where they are alike, these are the tokens of that time.
    let tokens = ring::own_tokens(bench).await?;
    let keyspaces = match work.keyspaces.is_empty() {
        true => bench.server()?.keyspaces().await.map_err(down)?,
        false => work.keyspaces.clone(),
    };
    let ttl_seconds = match bench.life {
        SnapshotLife::Limited => u32::try_from(work.ttl_seconds.min(LONGEST)).ok(),
        SnapshotLife::Unlimited => None,
    };
    let (of, flush) = (Selection::default(), BeforeSnapshot::First);
    let what = SnapshotTask { of, name: work.tag.clone(), flush, ttl_seconds };
    jobs.take_snapshot(&what, &keyspaces).await.map_err(|error| match error {
        Error::Failed { message: why, .. } => Stopped::Snapshot { tag: work.tag.clone(), why },
        Error::Http { .. } | Error::Status { .. } | Error::Unsupported(_) => down(error),
    })?;
    let data = bench.own.data.clone();
    let listed = tokio::task::spawn_blocking(move || fingerprint(&data, &tag)).await;
    let tables = listed
        .map_err(|error| Stopped::Snapshot { tag: work.tag.clone(), why: error.to_string() })??;
    let after = after(bench, work).await?;
    let keyspaces = keyspaces.into_iter().collect();
    Ok(Taken { ring: Views { before, after, tokens: None }, tables, keyspaces, tokens })
}

async fn after(bench: &Bench, work: &SnapshotWork) -> Result<RingView, Stopped> {
    let (jobs, mut tries) = (bench.jobs()?, 0);
    loop {
        match ring::view(jobs).await {
            Ok(view) => return Ok(view),
            Err(error) if tries >= TRIES => {
                let why = error.to_string();
                return Err(Stopped::SnapshotLost { tag: work.tag.clone(), why });
            }
            Err(_) => tries += 1,
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// The tags of ours that are on the disk.
///
/// # Errors
/// A data directory cannot be read.
pub async fn on_disk(data: Vec<PathBuf>) -> Result<BTreeSet<Tag>, Stopped> {
    let listed = tokio::task::spawn_blocking(move || cleared::tags(&data)).await;
    listed.unwrap_or_else(|error| Err(Stopped::Volume { why: error.to_string() }))
}

/// Remove what is left of it on the disk.
pub async fn remove(data: Vec<PathBuf>, tag: Tag) {
    let removed = tokio::task::spawn_blocking(move || cleared::clear(&data, &tag)).await;
    match removed {
        Ok(Ok(_)) => {}
        Ok(Err(error)) => {
            tracing::warn!(error = error.to_string(), "a snapshot cannot be removed");
        }
        Err(error) => tracing::warn!(error = error.to_string(), "a snapshot cannot be removed"),
    }
}

/// Have the server clear these, if it is there. The child removes what is left.
pub async fn clear_all(bench: &Bench, tags: &[String]) {
    let Some(admin) = &bench.admin else { return };
    for tag in tags.iter().filter_map(|tag| Tag::try_from(tag.clone()).ok()) {
        clear(admin.as_ref(), &tag).await;
    }
}

/// Have the server clear a snapshot; what it leaves is removed by us.
pub async fn clear(admin: &dyn ServerAdmin, tag: &Tag) {
    let Some(jobs) = admin.jobs() else { return };
    let called = tokio::time::timeout(CLEAR_TIME, jobs.clear_snapshot(tag.as_str(), &[])).await;
    let error = match called {
        Ok(Ok(())) => return,
        Ok(Err(error)) => format!("{:#}", anyhow::Error::from(error)),
        Err(late) => late.to_string(),
    };
    tracing::warn!(tag = tag.as_str(), error, "the server did not clear a snapshot");
}
