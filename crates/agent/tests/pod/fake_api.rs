//! As much of a Kubernetes API as an agent speaks to: list, watch and status
//! patches of one kind of members, kept in memory.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use axum::routing::{get, patch};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;

/// Where objects of the group are.
const GROUP: &str = "/apis/palladion.dev/v1alpha1/namespaces/{namespace}";

/// Which members.
#[derive(Clone, Copy)]
pub struct Kind {
    /// Name of the kind.
    pub name: &'static str,
    /// Its name in paths.
    pub plural: &'static str,
}

#[derive(Default)]
struct World {
    version: u64,
    members: BTreeMap<String, Value>,
    events: Vec<(u64, Value)>,
    status_writes: usize,
}

struct Shared {
    kind: Kind,
    world: Mutex<World>,
    changed: Notify,
}

/// The API, and whether it is there.
pub struct FakeApi {
    shared: Arc<Shared>,
    address: SocketAddr,
    server: Option<tokio::runtime::Runtime>,
}

impl FakeApi {
    /// Started on a free port of this address.
    pub fn start(kind: Kind, ip: &str) -> Self {
        let listener = std::net::TcpListener::bind((ip, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let shared = Shared { kind, world: Mutex::default(), changed: Notify::new() };
        let mut api = Self { shared: Arc::new(shared), address, server: None };
        api.come_back();
        api
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Connections break and new ones are refused.
    pub fn go_away(&mut self) {
        if let Some(server) = self.server.take() {
            server.shutdown_timeout(Duration::from_millis(100));
        }
    }

    pub fn come_back(&mut self) {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let (shared, address) = (self.shared.clone(), self.address);
        let listener = runtime.block_on(tokio::net::TcpListener::bind(address)).unwrap();
        runtime.spawn(async move {
            let plural = shared.kind.plural;
            let router = Router::new()
                .route(&format!("{GROUP}/{plural}"), get(list))
                .route(&format!("{GROUP}/{plural}/{{name}}/status"), patch(patch_status))
                .with_state(shared);
            axum::serve(listener, router).await.unwrap();
        });
        self.server = Some(runtime);
    }

    /// Put a part of a member's spec in the place of what is there.
    #[allow(dead_code, reason = "some of the programs that share this replace nothing")]
    pub fn replace_in_spec(&self, name: &str, key: &str, value: Value) {
        self.change(name, |spec| spec[key] = value);
    }

    /// Merge into a member's spec, making the member where there is none.
    pub fn change_spec(&self, name: &str, spec: Value) {
        self.change(name, |before| merge(before, &spec));
    }

    fn change(&self, name: &str, change: impl FnOnce(&mut Value)) {
        let kind = self.shared.kind.name;
        let mut world = self.shared.world.lock().unwrap();
        let mut member = world.members.get(name).cloned().unwrap_or_else(|| {
            json!({
                "apiVersion": "palladion.dev/v1alpha1",
                "kind": kind,
                "metadata": {"name": name, "namespace": "test", "uid": format!("uid-{name}"), "generation": 0},
                "spec": {},
            })
        });
        change(&mut member["spec"]);
        let generation = member["metadata"]["generation"].as_i64().unwrap() + 1;
        member["metadata"]["generation"] = json!(generation);
        world.put(name, member);
        drop(world);
        self.shared.changed.notify_waiters();
    }

    pub fn status(&self, name: &str) -> Value {
        let world = self.shared.world.lock().unwrap();
        world.members.get(name).map(|m| m["status"].clone()).unwrap_or_default()
    }

    /// Each status that it ever had, the first one first.
    #[allow(dead_code, reason = "some of the programs that share this do not look back")]
    pub fn statuses(&self, name: &str) -> Vec<Value> {
        let world = self.shared.world.lock().unwrap();
        let of = world.events.iter().map(|(_, event)| &event["object"]);
        of.filter(|o| o["metadata"]["name"] == name).map(|o| o["status"].clone()).collect()
    }

    pub fn status_writes(&self) -> usize {
        self.shared.world.lock().unwrap().status_writes
    }
}

impl Drop for FakeApi {
    fn drop(&mut self) {
        self.go_away();
    }
}

impl World {
    fn put(&mut self, name: &str, mut member: Value) {
        self.version += 1;
        member["metadata"]["resourceVersion"] = json!(self.version.to_string());
        let kind = if self.members.contains_key(name) { "MODIFIED" } else { "ADDED" };
        self.events.push((self.version, json!({"type": kind, "object": member})));
        self.members.insert(name.into(), member);
    }
}

fn query(uri: &Uri, name: &str) -> Option<String> {
    let pairs = uri.query().unwrap_or_default().split('&');
    pairs
        .filter_map(|p| p.split_once('='))
        .find(|(n, _)| *n == name)
        .map(|(_, v)| v.replace("%3D", "="))
}

async fn list(State(shared): State<Arc<Shared>>, uri: Uri) -> Response {
    let selector = query(&uri, "fieldSelector").unwrap_or_default();
    // As the RBAC of a member has it: its own object or nothing.
    let Some(name) = selector.strip_prefix("metadata.name=").map(str::to_string) else {
        return answer(StatusCode::FORBIDDEN, json!({"kind": "Status", "code": 403}));
    };
    if query(&uri, "watch").is_some() {
        let since = query(&uri, "resourceVersion").and_then(|v| v.parse().ok()).unwrap_or(0);
        return watch(shared, name, since);
    }
    let world = shared.world.lock().unwrap();
    let items: Vec<Value> = world.members.get(&name).cloned().into_iter().collect();
    answer(
        StatusCode::OK,
        json!({
            "apiVersion": "palladion.dev/v1alpha1",
            "kind": format!("{}List", shared.kind.name),
            "metadata": {"resourceVersion": world.version.to_string()},
            "items": items,
        }),
    )
}

fn watch(shared: Arc<Shared>, name: String, since: u64) -> Response {
    let events = futures::stream::unfold((shared, since), move |(shared, since)| {
        let name = name.clone();
        async move {
            loop {
                let next = {
                    let world = shared.world.lock().unwrap();
                    let ours = |e: &&(u64, Value)| {
                        e.0 > since && e.1["object"]["metadata"]["name"] == name.as_str()
                    };
                    world.events.iter().find(ours).cloned()
                };
                if let Some((version, event)) = next {
                    return Some((
                        Ok::<_, std::io::Error>(format!("{event}\n")),
                        (shared, version),
                    ));
                }
                let _ = tokio::time::timeout(Duration::from_millis(50), shared.changed.notified())
                    .await;
            }
        }
    });
    Response::builder()
        .header("Content-Type", "application/json")
        .body(Body::from_stream(events))
        .unwrap()
}

async fn patch_status(
    State(shared): State<Arc<Shared>>,
    Path((_, name)): Path<(String, String)>,
    body: Bytes,
) -> Response {
    let patch: Value = serde_json::from_slice(&body).unwrap();
    let mut world = shared.world.lock().unwrap();
    let Some(mut member) = world.members.get(&name).cloned() else {
        return answer(
            StatusCode::NOT_FOUND,
            json!({"kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404, "message": "gone"}),
        );
    };
    assert_eq!(
        patch["metadata"]["uid"], member["metadata"]["uid"],
        "a status patch names the object it is for"
    );
    merge(&mut member["status"], &patch["status"]);
    world.status_writes += 1;
    world.put(&name, member.clone());
    let member = world.members[&name].clone();
    drop(world);
    shared.changed.notify_waiters();
    answer(StatusCode::OK, member)
}

fn answer(code: StatusCode, body: Value) -> Response {
    Response::builder()
        .status(code)
        .header("Content-Type", "application/json")
        .body(Body::from(body.to_string()))
        .unwrap()
}

/// RFC 7396.
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    let target = target.as_object_mut().unwrap();
    for (key, value) in patch {
        if value.is_null() {
            target.remove(key);
        } else {
            merge(target.entry(key.clone()).or_insert(Value::Null), value);
        }
    }
}
