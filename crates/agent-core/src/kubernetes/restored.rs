//! etcd is restored from a backup while an agent runs: its member is an older one, and what
//! it has reported since is lost. Over real connections.

use super::{Contact, News, members, report, watch};
use crate::metrics::Common;
use axum::Router;
use axum::extract::Request;
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use palladion_api::member::{
    AgentStatus, CassandraMember, CassandraMemberSpec, CassandraMemberStatus,
};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch::{Sender, channel};

/// The API server: one member, and watches that end when its store is another one.
#[derive(Clone)]
struct Server {
    store: Arc<Mutex<Store>>,
    restored: Sender<u32>,
}

#[derive(Clone)]
struct Store {
    version: u64,
    status: Value,
    patches: usize,
}

impl Server {
    fn object(&self) -> Value {
        let store = self.store.lock().unwrap();
        let mut object = json!(CassandraMember::new("demo-0", CassandraMemberSpec::default()));
        object["metadata"]["uid"] = json!("u");
        object["metadata"]["resourceVersion"] = json!(store.version.to_string());
        object["status"] = store.status.clone();
        object
    }

    async fn answer(self, request: Request) -> Response {
        let (head, body) = request.into_parts();
        if head.method == Method::PATCH {
            let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
            let patch: Value = serde_json::from_slice(&bytes).unwrap();
            let mut store = self.store.lock().unwrap();
            for (field, value) in patch["status"].as_object().unwrap() {
                store.status[field] = value.clone();
            }
            store.version += 1;
            store.patches += 1;
            drop(store);
            return said(StatusCode::OK, &self.object());
        }
        if parameter(&head.uri, "watch").is_some() {
            return self.watch(&head.uri).await;
        }
        let version = self.store.lock().unwrap().version.to_string();
        let list = json!({
            "apiVersion": "palladion.dev/v1alpha1", "kind": "CassandraMemberList",
            "metadata": { "resourceVersion": version }, "items": [self.object()],
        });
        said(StatusCode::OK, &list)
    }

    async fn watch(&self, uri: &Uri) -> Response {
        let from = parameter(uri, "resourceVersion").and_then(|from| from.parse().ok());
        let version = self.store.lock().unwrap().version;
        if from > Some(version) {
            let cause = json!({ "reason": "ResourceVersionTooLarge", "message": "" });
            let status = json!({
                "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 504,
                "reason": "Timeout", "message": "Timeout: Too large resource version",
                "details": { "causes": [cause] },
            });
            return said(StatusCode::GATEWAY_TIMEOUT, &status);
        }
        let _ = self.restored.subscribe().changed().await;
        StatusCode::OK.into_response()
    }
}

fn said(code: StatusCode, what: &Value) -> Response {
    (code, [("content-type", "application/json")], what.to_string()).into_response()
}

fn parameter(uri: &Uri, name: &str) -> Option<String> {
    let mut pairs = uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value.to_string())
}

async fn serve(server: Server) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new().fallback(move |request| server.clone().answer(request));
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    address
}

/// Wait until so many writes of the status have come.
async fn patched(server: &Server, times: usize) -> bool {
    for _ in 0..1_200 {
        if server.store.lock().unwrap().patches == times {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    false
}

/// A minute at the most, of real time.
#[tokio::test]
async fn what_was_reported_since_the_backup_is_reported_again() {
    let store = Store { version: 20, status: json!({}), patches: 0 };
    let server = Server { store: Arc::new(Mutex::new(store.clone())), restored: channel(0).0 };
    let at = serve(server.clone()).await;
    let members = members::<CassandraMember>(Some(&format!("http://{at}")), "test").unwrap();
    let (contact, metrics) = (Contact::default(), Common::default());
    let (news, heard) = channel(News::<CassandraMember>::Unknown);
    let agent = AgentStatus { version: "1".into(), ..AgentStatus::default() };
    let status = CassandraMemberStatus { agent: Some(agent), ..CassandraMemberStatus::default() };
    let (_wanted, wanted) = channel(Some(status));
    let watching = watch(members.clone(), "demo-0".into(), news, &contact, metrics.clone());
    let reporting = report(members, "demo-0".into(), wanted, heard, &contact, metrics);
    let story = async {
        assert!(patched(&server, 1).await, "it reports");
        // From before that.
        *server.store.lock().unwrap() = Store { version: 10, patches: 1, ..store };
        server.restored.send_modify(|times| *times += 1);
        assert!(patched(&server, 2).await, "it reports again");
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert!(patched(&server, 2).await, "and once");
    };
    tokio::select! {
        () = watching => panic!("a watch ends never"),
        () = reporting => panic!("nor does a reporter"),
        () = story => {}
    }
}
