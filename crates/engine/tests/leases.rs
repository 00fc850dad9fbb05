//! The region lock in Leases, over a small API server in this process that keeps resourceVersions
//! as a real one does.

#![allow(missing_docs, clippy::unwrap_used)]

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::get;
use palladion_engine::lock::Leases;
use palladion_engine::metrics::Metrics;
use palladion_plan::lock::{
    Claimant, LockKey, LockScope, LockStore, LockToken, Renewed, StoreAway, Taken, Want,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const TTL: Duration = Duration::from_millis(600);

#[derive(Default)]
struct Server {
    leases: BTreeMap<String, Value>,
    version: u64,
    verbs: Vec<&'static str>,
    /// So many writes come after one of somebody else.
    overtaken: u32,
}

impl Server {
    /// Somebody writes the same Lease first, if anybody is to.
    fn another_writes(&mut self, name: &str) {
        if self.overtaken == 0 {
            return;
        }
        self.overtaken -= 1;
        self.version += 1;
        if let Some(lease) = self.leases.get_mut(name) {
            lease["metadata"]["resourceVersion"] = json!(self.version.to_string());
        }
    }
}

type Shared = Arc<Mutex<Server>>;

fn failed(code: StatusCode, reason: &str, name: &str) -> (StatusCode, String) {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason,
        "message": format!("leases {name}: {reason}"), "code": code.as_u16(),
        "details": { "name": name },
    });
    (code, status.to_string())
}

async fn read(State(server): State<Shared>, Path(name): Path<String>) -> (StatusCode, String) {
    let mut server = server.lock().unwrap();
    server.verbs.push("get");
    match server.leases.get(&name) {
        Some(lease) => (StatusCode::OK, lease.to_string()),
        None => failed(StatusCode::NOT_FOUND, "NotFound", &name),
    }
}

async fn create(State(server): State<Shared>, body: String) -> (StatusCode, String) {
    let mut lease: Value = serde_json::from_str(&body).unwrap();
    let name = lease["metadata"]["name"].as_str().unwrap().to_string();
    let mut server = server.lock().unwrap();
    server.verbs.push("create");
    if server.leases.contains_key(&name) {
        return failed(StatusCode::CONFLICT, "AlreadyExists", &name);
    }
    server.version += 1;
    lease["metadata"]["resourceVersion"] = json!(server.version.to_string());
    server.leases.insert(name, lease.clone());
    (StatusCode::CREATED, lease.to_string())
}

async fn replace(
    State(server): State<Shared>,
    Path(name): Path<String>,
    body: String,
) -> (StatusCode, String) {
    let mut lease: Value = serde_json::from_str(&body).unwrap();
    let mut server = server.lock().unwrap();
    server.verbs.push("update");
    server.another_writes(&name);
    let stored = server.leases.get(&name).cloned().unwrap_or_default();
    if stored["metadata"]["resourceVersion"] != lease["metadata"]["resourceVersion"] {
        return failed(StatusCode::CONFLICT, "Conflict", &name);
    }
    server.version += 1;
    lease["metadata"]["resourceVersion"] = json!(server.version.to_string());
    server.leases.insert(name, lease.clone());
    (StatusCode::OK, lease.to_string())
}

struct Hub {
    server: Shared,
    east: Leases,
    west: Leases,
    _directory: std::path::PathBuf,
}

async fn started(name: &str) -> Hub {
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let server = Shared::default();
    let all = "/apis/coordination.k8s.io/v1/namespaces/locks/leases";
    let router = Router::new()
        .route(all, axum::routing::post(create))
        .route(&format!("{all}/{{name}}"), get(read).put(replace))
        .with_state(Arc::clone(&server));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    let directory =
        std::env::temp_dir().join(format!("palladion-leases-{name}-{}", address.port()));
    std::fs::create_dir_all(&directory).unwrap();
    let file = directory.join("kubeconfig");
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "hub",
        "clusters": [{ "name": "hub", "cluster": { "server": format!("http://{address}") } }],
        "users": [{ "name": "east", "user": { "token": "t" } }],
        "contexts": [{ "name": "hub", "context": { "cluster": "hub", "user": "east" } }],
    });
    std::fs::write(&file, config.to_string()).unwrap();
    let leases = || Leases::new(file.clone(), "locks".into(), Arc::new(Metrics::default()));
    Hub { server, east: leases(), west: leases(), _directory: directory }
}

impl Drop for Hub {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self._directory);
    }
}

fn key() -> LockKey {
    LockKey { scope: LockScope::Namespace("shop".into()), ring: "orders".into() }
}

fn claimant(region: &str) -> Claimant {
    Claimant { region: region.into(), uid: palladion_api::ids::Uid::new(format!("of-{region}")) }
}

async fn take(store: &Leases, region: &str, want: Want) -> Result<Taken, StoreAway> {
    let nonce = uuid::Uuid::new_v4().to_string();
    store.take(&key(), &claimant(region), want, TTL, &nonce).await
}

fn ours(taken: Result<Taken, StoreAway>) -> (LockToken, String) {
    match taken {
        Ok(Taken::Ours { token, session }) => (token, session),
        other => panic!("it is not ours: {other:?}"),
    }
}

#[tokio::test]
async fn one_region_holds_a_lease_and_it_is_never_deleted() {
    let hub = started("one").await;
    assert_eq!(take(&hub.east, "east", Want::Keep).await, Ok(Taken::Free));
    let (token, session) = ours(take(&hub.east, "east", Want::Take).await);
    let Ok(Taken::By(holder)) = take(&hub.west, "west", Want::Take).await else {
        panic!("two hold it");
    };
    assert_eq!((&holder.token, holder.region.as_str()), (&token, "east"));
    assert_eq!(hub.east.check(&key(), &token).await, Ok(true));
    assert_eq!(hub.east.renew(&key(), &token, &session).await, Ok(Renewed::Yes));
    hub.west.release(&key(), &"1-other".into()).await.unwrap();
    assert_eq!(hub.east.check(&key(), &token).await, Ok(true), "another token takes nothing");
    hub.east.release(&key(), &token).await.unwrap();
    assert_eq!(hub.east.renew(&key(), &token, &session).await, Ok(Renewed::Lost));
    let (other, _) = ours(take(&hub.west, "west", Want::Take).await);
    let count = |token: &LockToken| token.as_str().split_once('-').map(|(n, _)| n.to_string());
    assert_eq!((count(&token), count(&other)), (Some("1".into()), Some("2".into())));
    let verbs = hub.server.lock().unwrap().verbs.clone();
    assert!(verbs.iter().all(|verb| ["get", "create", "update"].contains(verb)), "{verbs:?}");
}

#[tokio::test]
async fn it_is_taken_when_it_has_not_changed_for_its_whole_time() {
    let hub = started("expiry").await;
    let (token, session) = ours(take(&hub.east, "east", Want::Take).await);
    for _ in 0..4 {
        tokio::time::sleep(TTL / 3).await;
        assert!(matches!(take(&hub.west, "west", Want::Take).await, Ok(Taken::By(_))));
        assert_eq!(hub.east.renew(&key(), &token, &session).await, Ok(Renewed::Yes));
    }
    assert!(matches!(take(&hub.west, "west", Want::Take).await, Ok(Taken::By(_))));
    // Leases have whole seconds; less than one counts as the time that is asked for.
    tokio::time::sleep(TTL + TTL / 4).await;
    let (other, _) = ours(take(&hub.west, "west", Want::Take).await);
    assert_ne!(token, other);
    assert_eq!(hub.east.check(&key(), &token).await, Ok(false));
    assert_eq!(hub.east.renew(&key(), &token, &session).await, Ok(Renewed::Lost));
}

#[tokio::test]
async fn a_later_process_of_the_region_goes_on_with_the_token() {
    let hub = started("adopt").await;
    let (token, earlier) = ours(take(&hub.east, "east", Want::Take).await);
    let (same, later) = ours(take(&hub.east, "east", Want::Keep).await);
    assert_eq!(same, token);
    assert_eq!(hub.east.renew(&key(), &token, &earlier).await, Ok(Renewed::Lost));
    assert_eq!(hub.east.renew(&key(), &token, &later).await, Ok(Renewed::Yes));
}

#[tokio::test]
async fn who_initializes_is_recorded_once_and_outlives_the_holding() {
    let hub = started("record").await;
    let (token, _) = ours(take(&hub.east, "east", Want::Take).await);
    assert_eq!(hub.east.record_once(&key(), &claimant("east")).await, Ok(claimant("east")));
    hub.east.release(&key(), &token).await.unwrap();
    ours(take(&hub.west, "west", Want::Take).await);
    assert_eq!(hub.west.record_once(&key(), &claimant("west")).await, Ok(claimant("east")));
}

#[tokio::test]
async fn who_is_overtaken_by_another_write_looks_again() {
    let hub = started("overtaken").await;
    let overtake = |times: u32| hub.server.lock().unwrap().overtaken = times;
    let (token, session) = ours(take(&hub.east, "east", Want::Take).await);
    overtake(1);
    assert_eq!(hub.east.renew(&key(), &token, &session).await, Ok(Renewed::Yes));
    overtake(2);
    assert_eq!(hub.east.record_once(&key(), &claimant("east")).await, Ok(claimant("east")));
    overtake(1);
    hub.east.release(&key(), &token).await.unwrap();
    assert_eq!(hub.east.check(&key(), &token).await, Ok(false), "it is released");
    overtake(1);
    let (other, _) = ours(take(&hub.west, "west", Want::Take).await);
    overtake(u32::MAX);
    let why = hub.west.release(&key(), &other).await.unwrap_err().to_string();
    assert!(why.contains("was changed by others at each of 3 tries"), "{why}");
    overtake(0);
    assert_eq!(hub.west.check(&key(), &other).await, Ok(true), "nothing was written");
}

#[tokio::test]
async fn two_regions_that_make_the_lease_at_once_are_one_holder_and_one_who_waits() {
    let hub = started("at-once").await;
    let (east, west) =
        tokio::join!(take(&hub.east, "east", Want::Take), take(&hub.west, "west", Want::Take));
    let both = [east.unwrap(), west.unwrap()];
    let ours = both.iter().filter(|taken| matches!(taken, Taken::Ours { .. })).count();
    let waits = both.iter().filter(|taken| matches!(taken, Taken::By(_))).count();
    assert_eq!((ours, waits), (1, 1), "{both:?}");
}

#[tokio::test]
async fn what_is_not_ours_is_not_written() {
    let hub = started("foreign").await;
    let (token, _) = ours(take(&hub.east, "east", Want::Take).await);
    let name = hub.server.lock().unwrap().leases.keys().next().unwrap().clone();
    let foreign = json!({ "metadata": { "name": name, "resourceVersion": "9" }, "spec": {} });
    hub.server.lock().unwrap().leases.insert(name, foreign);
    let why = take(&hub.east, "east", Want::Take).await.unwrap_err().to_string();
    assert!(why.contains("was not written by Palladion"), "{why}");
    assert!(hub.east.check(&key(), &token).await.is_err());
}

#[tokio::test]
async fn without_a_kubeconfig_it_says_so() {
    let nowhere = Leases::new("/nonexistent/kubeconfig".into(), "locks".into(), Arc::default());
    let why = nowhere.check(&key(), &"1-a".into()).await.unwrap_err().to_string();
    assert!(why.starts_with("cannot use /nonexistent/kubeconfig"), "{why}");
}
