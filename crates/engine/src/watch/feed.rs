//! One connection to the API server that keeps a part of the world up to date.
//!
//! Not kube's `watcher`: that one lets a streamed first list come from a stale
//! cache, does not tell when a quiet watch is in touch again, and ends every
//! watch after five minutes at most.

use crate::backoff;
use crate::error::ApiError;
use crate::ids::FeedId;
use crate::metrics::RestartCause;
use crate::request::{Selection, Start};
use crate::watch::Watches;
use crate::watch::project::{Record, project};
use crate::watch::world::{Projection, Target};
use crate::words::Unknown;
use futures::{Stream, StreamExt};
use kube::api::WatchEvent;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long the server is asked to keep a watch open; jittered by a quarter, so
/// that watches do not end together. At rest each watch is thus opened about
/// once in an hour. TCP keep-alive notices a dead connection (see `client`).
pub(super) const WATCH_TIME: Duration = Duration::from_secs(3600);
/// The server ends a watch by itself; a little later it is given up here.
const WATCH_GRACE: Duration = Duration::from_secs(30);
/// A watch that lived shorter than this is not opened again at once.
const SHORT_LIFE: Duration = Duration::from_secs(1);
/// A server that has not reached a version yet may lag behind another one, which
/// is over in seconds. One that has not reached it then was restored from a
/// backup, and never says what has changed. Shorter than the time after which
/// facts count as lost.
const LAG: Duration = Duration::from_secs(10);
/// Longest that a server may ask a watch to stay closed: longer, and its facts are lost.
const LONGEST_ASKED: Duration = Duration::from_secs(10);
/// How the first list is had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstList {
    /// As the beginning of the watch: cheapest for the server.
    Streamed,
    /// Page by page, then a watch.
    Paged,
}

/// How a session ended.
pub(super) enum End {
    /// The server ended the watch; it goes on after this version.
    Over,
    /// The server has forgotten the version.
    Expired,
    /// The server's store is older than what was read from it.
    WentBack,
    /// It failed.
    Failed(ApiError),
}

/// See the module.
pub struct Feed {
    pub(super) watches: Arc<Watches>,
    pub(super) id: FeedId,
    pub(super) selection: Selection,
    pub(super) projections: Vec<Projection>,
    pub(super) first_list: FirstList,
    pub(super) version: Option<String>,
    /// Since when the server has not reached it.
    pub(super) ahead_since: Option<Instant>,
}

impl Feed {
    /// A feed that is not open yet.
    pub fn new(watches: Arc<Watches>, id: FeedId, selection: Selection) -> Self {
        let projections = watches.world().projections(id);
        Self {
            watches,
            id,
            selection,
            projections,
            first_list: FirstList::Streamed,
            version: None,
            ahead_since: None,
        }
    }

    /// Keep the world up to date, for ever.
    pub async fn run(mut self) {
        let mut failures = 0;
        loop {
            let opened = Instant::now();
            let end = self.session().await;
            let lived = opened.elapsed();
            let asked_for = asked_for(&end);
            let cause = match end {
                End::Over => RestartCause::Ended,
                End::Expired => {
                    self.version = None;
                    RestartCause::Expired
                }
                End::WentBack => {
                    self.went_back();
                    RestartCause::WentBack
                }
                End::Failed(error) => {
                    self.failed(&error);
                    RestartCause::Failed
                }
            };
            self.watches.metrics.restart(self.selection.resource.kind, cause);
            failures = if lived > SHORT_LIFE { 0 } else { failures + 1 };
            if failures > 0 || cause == RestartCause::Failed {
                tokio::time::sleep(backoff::watch(failures).max(asked_for)).await;
            }
        }
    }

    /// What is stored is of a time that the server knows nothing of: it is asked for
    /// all that there is.
    fn went_back(&mut self) {
        tracing::warn!(
            selection = %self.selection, version = self.version.as_deref().unwrap_or_default(),
            "the API server's store is older than what was read from it; listing again"
        );
        self.version = None;
        self.ahead_since = None;
    }

    fn failed(&mut self, error: &ApiError) {
        tracing::debug!(selection = %self.selection, error = %error, "watch failed");
        let why = Unknown::Watch { what: self.selection.to_string(), why: error.to_string() };
        let wakes = self.watches.world().failed(self.id, error.class(), why.to_string());
        if !wakes.is_empty() {
            tracing::warn!(selection = %self.selection, error = %error, "facts became unknown");
        }
        self.watches.wake(wakes);
    }

    /// From opening a watch to its end.
    async fn session(&mut self) -> End {
        let ended = match (self.version.clone(), self.first_list) {
            (Some(version), _) => self.follow(&version).await,
            (None, FirstList::Streamed) => self.streamed().await,
            (None, FirstList::Paged) => match self.paged().await {
                Ok(version) => self.follow(&version).await,
                Err(error) => Err(error),
            },
        };
        match ended {
            Ok(end) => end,
            Err(error) if error.is_gone() => End::Expired,
            Err(error) if error.is_of_the_future() && self.is_ahead_for_good() => End::WentBack,
            Err(error) => End::Failed(error),
        }
    }

    /// Has the server lagged behind for longer than servers do?
    fn is_ahead_for_good(&mut self) -> bool {
        let since = *self.ahead_since.get_or_insert_with(Instant::now);
        self.version.is_some() && since.elapsed() >= LAG
    }

    /// Watch on from a version.
    async fn follow(&mut self, version: &str) -> Result<End, ApiError> {
        let time = backoff::jittered(WATCH_TIME);
        let stream = self.watches.api.watch(&self.selection, Start::After(version), time).await?;
        let wakes = self.watches.world().heard(self.id);
        self.watches.wake(wakes);
        self.events(&mut Box::pin(stream), time).await
    }

    pub(super) async fn events(
        &mut self,
        stream: &mut (impl Stream<Item = Result<WatchEvent<Value>, ApiError>> + Unpin),
        time: Duration,
    ) -> Result<End, ApiError> {
        let deadline = Instant::now() + time + WATCH_GRACE;
        while let Ok(Some(event)) = tokio::time::timeout_at(deadline, stream.next()).await {
            let event = event?;
            if self.is_older(&event) {
                return Ok(End::WentBack);
            }
            let wakes = match event {
                WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                    let records = self.records(&object);
                    let version = self.advance(&object);
                    self.watches.world().put(self.id, records, &version)
                }
                WatchEvent::Deleted(object) => {
                    let version = self.advance(&object);
                    let metadata = &object["metadata"];
                    let text = |field: &str| metadata[field].as_str().unwrap_or_default();
                    self.watches.world().remove(self.id, text("namespace"), text("name"), &version)
                }
                WatchEvent::Bookmark(bookmark) => {
                    self.version = Some(bookmark.metadata.resource_version.clone());
                    self.watches.world().bookmark(self.id, &bookmark.metadata.resource_version)
                }
                WatchEvent::Error(status) => return Err(ApiError::from_status(*status)),
            };
            self.watches.wake(wakes);
        }
        Ok(End::Over)
    }

    /// Versions of a watch only grow. Some servers open one from a version that they have
    /// not reached, and are silent until they have: their bookmarks give them away.
    fn is_older(&mut self, event: &WatchEvent<Value>) -> bool {
        let version = match event {
            WatchEvent::Added(object)
            | WatchEvent::Modified(object)
            | WatchEvent::Deleted(object) => version_of(object),
            WatchEvent::Bookmark(bookmark) => bookmark.metadata.resource_version.parse().ok(),
            WatchEvent::Error(_) => None,
        };
        let known = self.version.as_ref().and_then(|version| version.parse().ok());
        let is_older =
            version.zip(known).is_some_and(|(version, known): (u64, u64)| version < known);
        if version.is_some() && !is_older {
            self.ahead_since = None;
        }
        is_older
    }

    /// Remember where the watch has got to.
    fn advance(&mut self, object: &Value) -> String {
        let version =
            object["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_string();
        self.version = Some(version.clone());
        version
    }

    /// One record for each target, also of an object that cannot be read.
    pub(super) fn records(&self, object: &Value) -> Vec<(Target, Record)> {
        let record = |p: &Projection| {
            let record = project(object, p.keep, &p.labels);
            if record.unreadable.is_some()
                && let Err(why) = record.read(self.selection.resource.kind)
            {
                tracing::warn!(selection = %self.selection, error = %why, "an object is unknown");
            }
            (p.target.clone(), record)
        };
        self.projections.iter().map(record).collect()
    }
}

fn version_of(object: &Value) -> Option<u64> {
    object["metadata"]["resourceVersion"].as_str()?.parse().ok()
}

/// How long the server wants to be left alone.
fn asked_for(end: &End) -> Duration {
    match end {
        End::Failed(error) => error.retry_after.unwrap_or_default().min(LONGEST_ASKED),
        End::Over | End::Expired | End::WentBack => Duration::ZERO,
    }
}
