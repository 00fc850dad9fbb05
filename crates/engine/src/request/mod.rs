//! Requests to the API server, for kinds that are only known by their
//! [`Resource`]. Every request has a time limit and is counted; none is
//! repeated here, because the queue repeats whole decisions.

mod answer;
mod nested;
pub mod path;

use crate::error::ApiError;
use crate::metrics::{Metrics, Verb};
use crate::pace::Pace;
use crate::words::Unanswered;
use futures::{Stream, StreamExt};
use http::request::Builder;
use http::{Method, Request};
use kube::Client;
use kube::api::WatchEvent;
use nested::Nested;
use palladion_plan::{ObjectKey, Resource, Subresource};
use path::{collection_path, encode, object_path, selection_query};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

pub use path::Selection;

/// Longest time for one request. A healthy API server answers within 1 s; its
/// own limit is 60 s, too long to hold a key.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(15);
/// Our one field manager.
pub const FIELD_MANAGER: &str = palladion_api::labels::PALLADION;
/// Objects of one list page.
const PAGE: u32 = 500;

const JSON: &str = "application/json";
const MERGE_PATCH: &str = "application/merge-patch+json";
const APPLY_PATCH: &str = "application/apply-patch+yaml";

fn plain(event: WatchEvent<Nested>) -> WatchEvent<Value> {
    match event {
        WatchEvent::Added(Nested(object)) => WatchEvent::Added(object),
        WatchEvent::Modified(Nested(object)) => WatchEvent::Modified(object),
        WatchEvent::Deleted(Nested(object)) => WatchEvent::Deleted(object),
        WatchEvent::Bookmark(bookmark) => WatchEvent::Bookmark(bookmark),
        WatchEvent::Error(status) => WatchEvent::Error(status),
    }
}

/// May an apply take fields from other managers?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflicts {
    /// The object is ours: take the field back.
    Take,
    /// Answer with a conflict.
    Refuse,
}

/// Where a watch begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start<'a> {
    /// With all objects, as they are now (a consistent read, streamed).
    InitialEvents,
    /// After this resourceVersion.
    After(&'a str),
}

/// The API server.
#[derive(Clone)]
pub struct Api {
    client: Client,
    metrics: Arc<Metrics>,
    pace: Arc<Pace>,
}

impl Api {
    /// Requests through this client, counted in these metrics.
    pub fn new(client: Client, metrics: Arc<Metrics>) -> Self {
        Self { client, metrics, pace: Arc::default() }
    }

    /// The same, whose answers this pace follows.
    pub fn paced(self, pace: Arc<Pace>) -> Self {
        Self { pace, ..self }
    }

    /// The same without a part in its pace: for what must not wait, and does not
    /// tell how the rest fares.
    pub fn apart(&self) -> Self {
        self.clone().paced(Arc::default())
    }

    /// How much the server may be asked.
    pub fn pace(&self) -> &Pace {
        &self.pace
    }

    /// The client itself, for what is no request for an object.
    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// One object as it is now; `None` if it does not exist.
    pub async fn get(&self, key: &ObjectKey) -> Result<Option<Value>, ApiError> {
        let request = (Method::GET, object_path(key), None);
        match self.send(Verb::Get, key.resource, request).await {
            Ok(object) => Ok(Some(object)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Is the object with this uid gone for good? Only where the server says so of this very
    /// object, or has another one of its name.
    pub async fn is_gone(&self, key: &ObjectKey, uid: &str) -> Result<bool, ApiError> {
        let request = (Method::GET, object_path(key), None);
        match self.send(Verb::Get, key.resource, request).await {
            Ok(object) => Ok(object["metadata"]["uid"].as_str().is_some_and(|other| other != uid)),
            Err(error) if error.says_absent() => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Server-side apply of a whole object.
    pub async fn apply(
        &self,
        key: &ObjectKey,
        object: &Value,
        conflicts: Conflicts,
    ) -> Result<Value, ApiError> {
        let force = conflicts == Conflicts::Take;
        let path = format!("{}?fieldManager={FIELD_MANAGER}&force={force}", object_path(key));
        self.send(Verb::Apply, key.resource, (Method::PATCH, path, Some((APPLY_PATCH, object))))
            .await
    }

    /// Merge patch of an object or of its status.
    pub async fn merge(
        &self,
        key: &ObjectKey,
        part: Subresource,
        patch: &Value,
    ) -> Result<Value, ApiError> {
        let subresource = match part {
            Subresource::None => "",
            Subresource::Status => "/status",
        };
        let path = format!("{}{subresource}?fieldManager={FIELD_MANAGER}", object_path(key));
        self.send(Verb::Patch, key.resource, (Method::PATCH, path, Some((MERGE_PATCH, patch))))
            .await
    }

    /// Create an object.
    pub async fn create(
        &self,
        resource: Resource,
        namespace: &str,
        object: &Value,
    ) -> Result<Value, ApiError> {
        let path =
            format!("{}?fieldManager={FIELD_MANAGER}", collection_path(&resource, Some(namespace)));
        self.send(Verb::Create, resource, (Method::POST, path, Some((JSON, object)))).await
    }

    /// Replace an object at the resourceVersion that it carries.
    pub async fn replace(&self, key: &ObjectKey, object: &Value) -> Result<Value, ApiError> {
        let path = format!("{}?fieldManager={FIELD_MANAGER}", object_path(key));
        self.send(Verb::Update, key.resource, (Method::PUT, path, Some((JSON, object)))).await
    }

    /// Delete an object; `options` are the `DeleteOptions` with preconditions.
    pub async fn delete(&self, key: &ObjectKey, options: &Value) -> Result<Value, ApiError> {
        self.send(
            Verb::Delete,
            key.resource,
            (Method::DELETE, object_path(key), Some((JSON, options))),
        )
        .await
    }

    /// Evict a pod; `options` are the `DeleteOptions` with preconditions. 429 =
    /// a PodDisruptionBudget does not allow it now.
    pub async fn evict(&self, key: &ObjectKey, options: &Value) -> Result<Value, ApiError> {
        let eviction = json!({
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": { "name": key.name, "namespace": key.namespace },
            "deleteOptions": options,
        });
        let path = format!("{}/eviction", object_path(key));
        self.send(Verb::Create, key.resource, (Method::POST, path, Some((JSON, &eviction)))).await
    }

    /// One page of a list that is as fresh as the storage itself.
    pub async fn list(&self, selection: &Selection, page: Option<&str>) -> Result<Value, ApiError> {
        let mut path = format!("{}limit={PAGE}", selection_query(selection));
        if let Some(token) = page {
            path.push_str(&format!("&continue={}", encode(token)));
        }
        self.send(Verb::List, selection.resource, (Method::GET, path, None)).await
    }

    /// Open a watch. Returns as soon as the server has accepted it.
    pub async fn watch(
        &self,
        selection: &Selection,
        start: Start<'_>,
        timeout: Duration,
    ) -> Result<impl Stream<Item = Result<WatchEvent<Value>, ApiError>> + Send + use<>, ApiError>
    {
        let mut path = format!(
            "{}watch=true&allowWatchBookmarks=true&timeoutSeconds={}",
            selection_query(selection),
            timeout.as_secs()
        );
        match start {
            Start::InitialEvents => {
                path.push_str("&sendInitialEvents=true&resourceVersionMatch=NotOlderThan")
            }
            Start::After(version) => {
                path.push_str(&format!("&resourceVersion={}", encode(version)))
            }
        }
        let request = build(Method::GET, &path, None)?;
        let asked = Instant::now();
        let open = self.client.request_events::<Nested>(request);
        let answer = match tokio::time::timeout(REQUEST_TIMEOUT, open).await {
            Ok(answer) => answer.map_err(ApiError::from),
            Err(_) => Err(ApiError::timeout(REQUEST_TIMEOUT)),
        };
        self.metrics.request(Verb::Watch, selection.resource.kind, &answer);
        self.pace.ended(asked, &answer);
        Ok(answer?.map(|event| event.map(plain).map_err(ApiError::from)))
    }

    async fn send(
        &self,
        verb: Verb,
        resource: Resource,
        request: Call<'_>,
    ) -> Result<Value, ApiError> {
        let (method, path, body) = request;
        let request = build(method, &path, body)?;
        let asked = Instant::now();
        let answered = answer::to(&self.client, request);
        let answer = match tokio::time::timeout(REQUEST_TIMEOUT, answered).await {
            Ok(answer) => answer,
            Err(_) => Err(ApiError::timeout(REQUEST_TIMEOUT)),
        };
        self.metrics.request(verb, resource.kind, &answer);
        if !is_held(&path, &answer) {
            self.pace.ended(asked, &answer);
        }
        answer
    }
}

/// Is it a disruption budget that says no? It says so with the code of a server
/// that has too much to do.
fn is_held(path: &str, answer: &Result<Value, ApiError>) -> bool {
    let code = answer.as_ref().err().and_then(|error| error.code);
    path.ends_with("/eviction") && code == Some(429)
}

type Call<'a> = (Method, String, Body<'a>);

/// Media type and content of a request.
pub(crate) type Body<'a> = Option<(&'static str, &'a Value)>;

fn build(method: Method, path: &str, body: Body<'_>) -> Result<Request<Vec<u8>>, ApiError> {
    let request = Request::builder().method(method).uri(path).header("accept", JSON);
    with_body(request, path, body)
}

/// The request to this path with its body, if there is one.
pub(crate) fn with_body(
    mut request: Builder,
    path: &str,
    body: Body<'_>,
) -> Result<Request<Vec<u8>>, ApiError> {
    let mut bytes = Vec::new();
    if let Some((media, value)) = body {
        request = request.header("content-type", media);
        bytes = value.to_string().into_bytes();
    }
    request.body(bytes).map_err(|error| {
        let (path, why) = (path.to_string(), error.to_string());
        ApiError::unanswered(&Unanswered::NoRequest { path, why })
    })
}
