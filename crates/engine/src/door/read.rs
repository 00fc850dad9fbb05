//! Reads: one object, a whole list, and word that something has changed.

use super::Door;
use super::rights::{Attempt, Refusal};
use crate::error::ApiError;
use crate::request::Selection;
use crate::request::path::{encode, object_path, selection_query};
use futures::future::join_all;
use futures::stream::{BoxStream, StreamExt};
use kube::api::WatchEvent;
use palladion_api::rights::Verb;
use palladion_plan::{ObjectKey, Resource};
use serde_json::Value;

/// Objects of one list page.
const PAGE: u32 = 500;
/// How long the server is asked to keep a watch open; it is opened again then.
const WATCH_SECONDS: u32 = 3600;

/// What a stream of changes brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Something is not as it was.
    Something,
    /// The server has ended one of the watches: open them again, and look.
    Over,
}

/// See [`Door::changes`].
pub type Changes = BoxStream<'static, Result<Change, ApiError>>;

/// What a list is about.
pub fn selection(resource: Resource, namespace: Option<&str>, labels: &str) -> Selection {
    Selection {
        resource,
        namespace: namespace.map(str::to_string),
        labels: labels.to_string(),
        fields: String::new(),
    }
}

impl Door {
    /// One object.
    ///
    /// # Errors
    /// The server's refusal; also when the object does not exist.
    pub async fn get(&self, key: &ObjectKey) -> Result<Value, Refusal> {
        let attempt = Attempt::on_object(Verb::Get, key.resource, &key.namespace, &key.name);
        self.call(&attempt, &object_path(key), None).await
    }

    /// All objects that are selected, as fresh as the storage itself.
    ///
    /// # Errors
    /// The server's refusal.
    pub async fn list(&self, selection: &Selection) -> Result<Vec<Value>, Refusal> {
        Ok(self.list_at(selection).await?.0)
    }

    /// The same, with the version of the list.
    pub(super) async fn list_at(
        &self,
        selection: &Selection,
    ) -> Result<(Vec<Value>, String), Refusal> {
        let attempt = of_list(Verb::List, selection);
        let mut items = Vec::new();
        let mut token: Option<String> = None;
        loop {
            let mut path = format!("{}limit={PAGE}", selection_query(selection));
            if let Some(token) = &token {
                path.push_str(&format!("&continue={}", encode(token)));
            }
            let mut page = self.call(&attempt, &path, None).await?;
            if let Value::Array(more) = page["items"].take() {
                items.extend(more);
            }
            let text = |field: &str| page["metadata"][field].as_str().unwrap_or_default();
            match text("continue") {
                "" => return Ok((items, text("resourceVersion").to_string())),
                next => token = Some(next.to_string()),
            }
        }
    }

    /// A stream with one item for each change of what is selected, from now on.
    ///
    /// # Errors
    /// The server's refusal of one of the watches.
    pub async fn changes(&self, selections: &[Selection]) -> Result<Changes, Refusal> {
        let opened = join_all(selections.iter().map(|s| self.watch(s))).await;
        let streams: Result<Vec<_>, Refusal> = opened.into_iter().collect();
        Ok(futures::stream::select_all(streams?).boxed())
    }

    async fn watch(&self, selection: &Selection) -> Result<Changes, Refusal> {
        let attempt = of_list(Verb::Watch, selection);
        let refused = |answer| Refusal { attempt: attempt.clone(), answer };
        // From the version of a list of our own: what is older was shown already.
        let (_, version) = self.list_at(selection).await?;
        let path = format!(
            "{}watch=true&timeoutSeconds={WATCH_SECONDS}&resourceVersion={}",
            selection_query(selection),
            encode(&version)
        );
        let request = super::request(attempt.method(), &path, None).map_err(refused)?;
        let opened = self.within(self.client.request_events::<Value>(request)).await;
        let events = opened.map_err(refused)?;
        let change = |event: Result<WatchEvent<Value>, kube::Error>| match event {
            Ok(WatchEvent::Error(status)) => Err(ApiError::from_status(*status)),
            Ok(
                WatchEvent::Added(_)
                | WatchEvent::Modified(_)
                | WatchEvent::Deleted(_)
                | WatchEvent::Bookmark(_),
            ) => Ok(Change::Something),
            Err(error) => Err(ApiError::from(error)),
        };
        let over = futures::stream::once(std::future::ready(Ok(Change::Over)));
        Ok(events.map(change).chain(over).boxed())
    }
}

fn of_list(verb: Verb, selection: &Selection) -> Attempt {
    Attempt::on_kind(verb, selection.resource, selection.namespace.as_deref())
}
