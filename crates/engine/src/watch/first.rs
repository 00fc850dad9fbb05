//! The first list of a feed: streamed as the beginning of its watch, which is
//! cheapest for the server, or page by page where the server cannot do that.

use crate::backoff;
use crate::error::ApiError;
use crate::request::Start;
use crate::watch::feed::{End, Feed, FirstList, WATCH_TIME};
use crate::watch::project::Record;
use crate::watch::world::Target;
use crate::words::Unknown;
use futures::{Stream, StreamExt};
use kube::api::WatchEvent;
use serde_json::Value;
use std::time::Duration;

/// A streamed first list that has not ended by then is asked for page by page:
/// some servers accept the question and never say that they are through.
const STREAMED_LIST_TIME: Duration = Duration::from_secs(30);
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

impl Feed {
    /// First list and watch in one request.
    pub(super) async fn streamed(&mut self) -> Result<End, ApiError> {
        let time = backoff::jittered(WATCH_TIME);
        let opened = self.watches.api.watch(&self.selection, Start::InitialEvents, time).await;
        let stream = match opened {
            Ok(stream) => stream,
            // Servers that do not stream lists refuse the question itself.
            Err(error) if matches!(error.code, Some(400 | 422)) => return Ok(self.page_by_page()),
            Err(error) => return Err(error),
        };
        let mut stream = Box::pin(stream);
        let list = self.initial_events(&mut stream);
        match tokio::time::timeout(STREAMED_LIST_TIME, list).await {
            Err(_) => Ok(self.page_by_page()),
            Ok(Err(error))
                if error.code.is_some() && !error.is_gone() && error.code != Some(429) =>
            {
                Ok(self.page_by_page())
            }
            Ok(Err(error)) => Err(error),
            Ok(Ok((lists, version))) => {
                let wakes = self.watches.world().listed(self.id, lists, &version);
                self.watches.wake(wakes);
                self.version = Some(version);
                self.events(&mut stream, time).await
            }
        }
    }

    fn page_by_page(&mut self) -> End {
        self.first_list = FirstList::Paged;
        End::Expired
    }

    async fn initial_events(
        &self,
        stream: &mut (impl Stream<Item = Result<WatchEvent<Value>, ApiError>> + Unpin),
    ) -> Result<(Vec<(Target, Vec<Record>)>, String), ApiError> {
        let mut lists = self.empty_lists();
        while let Some(event) = stream.next().await {
            match event? {
                WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                    self.collect(&object, &mut lists)
                }
                WatchEvent::Deleted(_) => {}
                WatchEvent::Error(status) => return Err(ApiError::from_status(*status)),
                WatchEvent::Bookmark(bookmark) => {
                    if bookmark.metadata.annotations.contains_key(INITIAL_EVENTS_END) {
                        return Ok((lists, bookmark.metadata.resource_version));
                    }
                }
            }
        }
        Err(ApiError::local(Unknown::FirstList.to_string()))
    }

    /// First list, page by page; the version to watch from.
    pub(super) async fn paged(&mut self) -> Result<String, ApiError> {
        let mut lists = self.empty_lists();
        let mut token: Option<String> = None;
        loop {
            let page = self.watches.api.list(&self.selection, token.as_deref()).await?;
            for object in page["items"].as_array().into_iter().flatten() {
                self.collect(object, &mut lists);
            }
            token =
                page["metadata"]["continue"].as_str().filter(|t| !t.is_empty()).map(str::to_string);
            if token.is_none() {
                let version =
                    page["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_string();
                let wakes = self.watches.world().listed(self.id, lists, &version);
                self.watches.wake(wakes);
                self.version = Some(version.clone());
                return Ok(version);
            }
        }
    }

    fn empty_lists(&self) -> Vec<(Target, Vec<Record>)> {
        self.projections.iter().map(|p| (p.target.clone(), Vec::new())).collect()
    }

    fn collect(&self, object: &Value, lists: &mut [(Target, Vec<Record>)]) {
        for ((_, record), list) in self.records(object).into_iter().zip(lists) {
            list.1.push(record);
        }
    }
}
