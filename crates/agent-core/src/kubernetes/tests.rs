//! When an agent has heard the API server: over real connections, to one that answers, one
//! that refuses, and one that takes a request and says nothing.

use super::{Contact, News, ask, watch};
use crate::metrics::Common;
use axum::Router;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use k8s_openapi::api::core::v1::Pod;
use kube::core::{ApiResource, DynamicObject};
use kube::{Api, Client, Config};
use serde_json::json;
use std::future::pending;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch::channel;
use tokio::time::timeout;

/// How the API server treats a request to list; no watch of it ever tells anything.
#[derive(Clone, Copy)]
enum Lists {
    Pod { version: u64 },
    Nothing,
    Error,
    Never,
}

async fn answer(lists: Lists, uri: Uri) -> Response {
    if uri.query().is_some_and(|query| query.contains("watch=")) {
        return pending().await;
    }
    let pod = |version: &u64| {
        json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": { "name": "demo-0", "uid": "u", "resourceVersion": version.to_string() },
        })
    };
    let list = |items: Vec<serde_json::Value>| {
        let metadata = json!({ "resourceVersion": "9" });
        let list =
            json!({ "apiVersion": "v1", "kind": "PodList", "metadata": metadata, "items": items });
        ([("content-type", "application/json")], list.to_string()).into_response()
    };
    match lists {
        Lists::Pod { version } => list(vec![pod(&version)]),
        Lists::Nothing => list(Vec::new()),
        Lists::Error => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        Lists::Never => pending().await,
    }
}

async fn server(lists: Lists) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new().fallback(get(move |uri| answer(lists, uri)));
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    address
}

/// One that nobody listens at.
async fn nobody() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    listener.local_addr().unwrap()
}

fn pods(at: SocketAddr) -> Api<DynamicObject> {
    let config = Config::new(format!("http://{at}").parse().unwrap());
    let client = Client::try_from(config).unwrap();
    Api::namespaced_with(client, "test", &ApiResource::erase::<Pod>(&()))
}

/// What a watch of a second makes of it.
async fn watched(at: SocketAddr) -> (Contact, News<Pod>, Common) {
    let (contact, metrics) = (Contact::default(), Common::default());
    let (news, known) = channel(News::<Pod>::Unknown);
    let watching = watch(pods(at), "demo-0".into(), news, &contact, metrics.clone());
    let _ = timeout(Duration::from_millis(1_500), watching).await;
    let known = known.borrow().clone();
    (contact, known, metrics)
}

#[tokio::test]
async fn a_request_that_is_not_answered_is_no_word_of_the_api_server() {
    for (what, at) in [
        ("refuses", nobody().await),
        ("fails", server(Lists::Error).await),
        ("hangs", server(Lists::Never).await),
    ] {
        let (contact, _, metrics) = watched(at).await;
        assert!(metrics.api_connections.get() > 0, "one that {what} was tried");
        assert_eq!(contact.last(), None, "one that {what} was not heard");
    }
}

#[tokio::test]
async fn a_list_is_the_word_of_the_api_server() {
    let (contact, known, _) = watched(server(Lists::Pod { version: 7 }).await).await;
    assert!(matches!(known, News::Present(_)), "{known:?}");
    assert!(contact.last().is_some());
    let (contact, known, _) = watched(server(Lists::Nothing).await).await;
    assert!(matches!(known, News::Absent), "{known:?}");
    assert!(contact.last().is_some(), "that there is none is an answer");
}

/// What somebody learns who asks because the watch is silent, and knew this version.
async fn asked(at: SocketAddr, known: u64) -> (Contact, Option<u64>) {
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": "demo-0", "resourceVersion": known.to_string() },
    });
    let (news, heard) = channel(News::<Pod>::read(serde_json::from_value(pod).unwrap()));
    let (contact, metrics) = (Contact::default(), Common::default());
    let (_needed, is_needed) = channel(true);
    let asking = ask(pods(at), "demo-0".into(), news, &contact, is_needed, metrics);
    let _ = timeout(Duration::from_millis(1_000), asking).await;
    let version = match &*heard.borrow() {
        News::Present(pod) => pod.metadata.resource_version.clone(),
        other => panic!("{other:?}"),
    };
    (contact, version.and_then(|version| version.parse().ok()))
}

#[tokio::test]
async fn whoever_asks_learns_what_is_newer_and_nothing_older() {
    let at = server(Lists::Pod { version: 7 }).await;
    for (known, then) in [(6, 7), (7, 7), (8, 8)] {
        let (contact, version) = asked(at, known).await;
        assert_eq!(version, Some(then), "known: {known}");
        assert!(contact.last().is_some(), "it was answered");
    }
    for at in [server(Lists::Never).await, nobody().await, server(Lists::Nothing).await] {
        let (contact, version) = asked(at, 6).await;
        assert_eq!((contact.last(), version), (None, Some(6)));
    }
}

#[tokio::test]
async fn nothing_is_asked_where_nobody_needs_to_know() {
    let (contact, metrics) = (Contact::default(), Common::default());
    let (news, _) = channel(News::<Pod>::Unknown);
    let (_needed, is_needed) = channel(false);
    let at = server(Lists::Pod { version: 7 }).await;
    let asking = ask(pods(at), "demo-0".into(), news, &contact, is_needed, metrics);
    assert!(timeout(Duration::from_millis(300), asking).await.is_err());
    assert_eq!(contact.last(), None);
}
