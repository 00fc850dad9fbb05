//! The lock over the JSON gateway of a small server in this process: answers that are lost after
//! their effect, answers that come late, leases that end, and a store that was restored.

#![allow(clippy::unwrap_used, dead_code, missing_docs, reason = "tests")]

mod support;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use palladion_locks::Etcd;
use palladion_plan::lock::{LockStore, Renewed, Taken, Want};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use support::{
    claimant, goes_on_with_the_token, is_broken_by_its_token, is_held_by_one, is_recorded_once,
    key, ours, take, take_for,
};

#[derive(Clone, Debug)]
struct Key {
    value: String,
    created: u64,
    modified: u64,
    lease: u64,
}

#[derive(Clone, Debug, Default)]
struct Content {
    revision: u64,
    keys: BTreeMap<String, Key>,
    leases: BTreeMap<u64, u64>,
}

#[derive(Debug, Default)]
struct Server {
    endpoint: String,
    content: Content,
    drawn: u64,
    /// Calls whose answers are lost after their effect, by the end of their path.
    loses: Vec<&'static str>,
    /// Every answer comes too late.
    is_late: bool,
    calls: Vec<String>,
}

type Shared = Arc<Mutex<Server>>;

fn number(value: &Value) -> u64 {
    value.as_str().and_then(|text| text.parse().ok()).unwrap_or_default()
}

impl Server {
    fn answer(&mut self, path: &str, body: &Value) -> Value {
        let content = &mut self.content;
        match path {
            "/v3/lease/grant" => {
                self.drawn += 1;
                content.leases.insert(self.drawn, number(&body["TTL"]));
                json!({ "ID": self.drawn.to_string(), "TTL": body["TTL"] })
            }
            "/v3/lease/keepalive" => match content.leases.get(&number(&body["ID"])) {
                Some(ttl) => json!({ "result": { "ID": body["ID"], "TTL": ttl.to_string() } }),
                None => json!({ "result": { "ID": body["ID"] } }),
            },
            "/v3/lease/revoke" => {
                content.end_lease(number(&body["ID"]));
                json!({})
            }
            "/v3/kv/range" => content.range(&body["key"]),
            "/v3/kv/txn" => content.transaction(body),
            other => panic!("no such call: {other}"),
        }
    }
}

impl Content {
    fn end_lease(&mut self, lease: u64) {
        self.leases.remove(&lease);
        self.keys.retain(|_, key| key.lease != lease);
    }

    fn range(&self, key: &Value) -> Value {
        match self.keys.get(key.as_str().unwrap()) {
            None => json!({}),
            Some(found) => json!({ "kvs": [{
                "key": key, "value": found.value, "lease": found.lease.to_string(),
                "create_revision": found.created.to_string(),
                "mod_revision": found.modified.to_string(),
            }] }),
        }
    }

    fn transaction(&mut self, body: &Value) -> Value {
        let compare = &body["compare"][0];
        let found = self.keys.get(compare["key"].as_str().unwrap());
        let (seen, wanted) = match compare["target"].as_str().unwrap() {
            "CREATE" => (found.map_or(0, |k| k.created), number(&compare["create_revision"])),
            "MOD" => (found.map_or(0, |k| k.modified), number(&compare["mod_revision"])),
            other => panic!("no such comparison: {other}"),
        };
        if seen != wanted {
            let range = &body["failure"][0]["request_range"]["key"];
            let found = if range.is_null() { json!({}) } else { self.range(range) };
            return json!({ "header": {}, "responses": [{ "response_range": found }] });
        }
        self.revision += 1;
        let success = &body["success"][0];
        if let Some(deleted) = success["request_delete_range"]["key"].as_str() {
            self.keys.remove(deleted);
        } else {
            let put = &success["request_put"];
            let name = put["key"].as_str().unwrap().to_string();
            let created = self.keys.get(&name).map_or(self.revision, |key| key.created);
            let (value, lease) = (put["value"].as_str().unwrap().into(), number(&put["lease"]));
            self.keys.insert(name, Key { value, created, modified: self.revision, lease });
        }
        json!({ "header": { "revision": self.revision.to_string() }, "succeeded": true })
    }
}

async fn serve(State(server): State<Shared>, uri: Uri, body: String) -> (StatusCode, String) {
    let (answer, is_lost, is_late) = {
        let mut server = server.lock().unwrap();
        let path = uri.path().to_string();
        let answer = server.answer(&path, &serde_json::from_str(&body).unwrap());
        let lost = server.loses.iter().position(|end| path.ends_with(end));
        let is_lost = lost.map(|at| server.loses.remove(at)).is_some();
        server.calls.push(path);
        (answer, is_lost, server.is_late)
    };
    if is_late {
        tokio::time::sleep(Duration::from_secs(30)).await;
    }
    match is_lost {
        true => (StatusCode::BAD_GATEWAY, "the answer is lost".to_string()),
        false => (StatusCode::OK, answer.to_string()),
    }
}

/// The server, and stores of two regions that ask it. No Secret is needed in the clear.
async fn started() -> (Shared, Etcd, Etcd) {
    let server = Shared::default();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    server.lock().unwrap().endpoint.clone_from(&endpoint);
    let router = Router::new().fallback(serve).with_state(Arc::clone(&server));
    tokio::spawn(async move { axum::serve(listener, router).await });
    let nothing = std::path::Path::new("/nonexistent");
    (server, support::etcd(&endpoint, nothing), support::etcd(&endpoint, nothing))
}

#[tokio::test]
async fn it_is_held_by_one() {
    let (server, east, west) = started().await;
    is_held_by_one(&east, &west, "a").await;
    goes_on_with_the_token(&east, "b").await;
    is_broken_by_its_token(&east, &west, "c").await;
    is_recorded_once(&east, &west, "d").await;
    let server = server.lock().unwrap();
    assert_eq!(server.content.leases.len(), 1, "leases that hold nothing are given back");
}

#[tokio::test]
async fn whoever_does_not_hear_that_it_was_taken_has_it_with_the_next_try() {
    let (server, east, west) = started().await;
    server.lock().unwrap().loses = vec!["/kv/txn"];
    take_for(&east, "a", "east", Want::Take, support::TTL).await.expect_err("no answer");
    let first = match take(&west, "a", "west", Want::Take).await {
        Taken::By(holder) => holder.token,
        other => panic!("two hold it: {other:?}"),
    };
    let (token, session) = ours(take(&east, "a", "east", Want::Take).await);
    assert_eq!(token, first);
    assert_eq!(east.renew(&key("a"), &token, &session).await, Ok(Renewed::Yes));
    // The same of a release and of a record.
    server.lock().unwrap().loses = vec!["/kv/txn", "/kv/txn"];
    east.release(&key("a"), &token).await.expect_err("no answer");
    east.release(&key("a"), &token).await.expect("it is released");
    east.record_once(&key("a"), &claimant("east")).await.expect_err("no answer");
    let recorded = east.record_once(&key("a"), &claimant("east")).await.unwrap();
    assert_eq!(recorded, claimant("east"));
}

/// The first endpoint does it, and its answer is lost; the second finds it done.
#[tokio::test]
async fn a_lock_that_another_endpoint_has_taken_meanwhile_is_kept() {
    let (server, _, west) = started().await;
    let endpoint = server.lock().unwrap().endpoint.clone();
    let nothing = palladion_locks::Credentials::in_directory(std::path::Path::new("/nonexistent"));
    let east = Etcd::new(vec![endpoint.clone(), endpoint], nothing);
    server.lock().unwrap().loses = vec!["/kv/txn"];
    let (first, _) = ours(take(&east, "a", "east", Want::Take).await);
    // A new leader of the region goes on with it.
    server.lock().unwrap().loses = vec!["/kv/txn"];
    let (token, session) = ours(take(&east, "a", "east", Want::Take).await);
    assert_eq!(token, first);
    assert_eq!(east.renew(&key("a"), &token, &session).await, Ok(Renewed::Yes));
    assert!(matches!(take(&west, "a", "west", Want::Take).await, Taken::By(_)));
}

#[tokio::test]
async fn an_answer_that_is_late_is_none() {
    let (server, east, _) = started().await;
    server.lock().unwrap().is_late = true;
    let late = take_for(&east, "a", "east", Want::Take, support::TTL).await.unwrap_err();
    assert!(late.to_string().ends_with("did not answer within 3 s"), "{late}");
}

#[tokio::test]
async fn a_lease_that_has_ended_is_not_renewed() {
    let (server, east, west) = started().await;
    let (token, session) = ours(take(&east, "a", "east", Want::Take).await);
    server.lock().unwrap().content.end_lease(session.parse().unwrap());
    assert_eq!(east.renew(&key("a"), &token, &session).await, Ok(Renewed::Lost));
    assert!(!east.check(&key("a"), &token).await.unwrap());
    ours(take(&west, "a", "west", Want::Take).await);
}

#[tokio::test]
async fn a_store_that_was_restored_draws_no_token_twice() {
    let (server, east, west) = started().await;
    let older = server.lock().unwrap().content.clone();
    let (lost, session) = ours(take(&east, "a", "east", Want::Take).await);
    server.lock().unwrap().content = older;
    // The revisions are those of before again: only the nonce tells the holdings apart.
    let (token, _) = ours(take(&west, "a", "west", Want::Take).await);
    let revision = |token: &palladion_plan::lock::LockToken| {
        token.as_str().split_once('-').map(|(revision, _)| revision.to_string())
    };
    assert_eq!(revision(&token), revision(&lost));
    assert_ne!(token, lost);
    assert!(!east.check(&key("a"), &lost).await.unwrap());
    assert_eq!(east.renew(&key("a"), &lost, &session).await, Ok(Renewed::Lost));
}

#[tokio::test]
async fn what_is_not_ours_is_neither_taken_nor_removed() {
    let (server, east, _) = started().await;
    let name = STANDARD.encode("/palladion/rings/namespaces/shop/a/lock");
    let foreign = Key { value: STANDARD.encode("mine"), created: 1, modified: 1, lease: 0 };
    server.lock().unwrap().content.keys.insert(name.clone(), foreign);
    let why = take_for(&east, "a", "east", Want::Take, support::TTL).await.unwrap_err();
    assert!(why.to_string().contains("was not written by Palladion"), "{why}");
    east.release(&key("a"), &"1-a".into()).await.unwrap();
    assert!(server.lock().unwrap().content.keys.contains_key(&name));
}

#[tokio::test]
async fn a_password_is_not_sent_in_the_clear_and_the_next_endpoint_is_asked() {
    let (server, _, _) = started().await;
    let directory = tempfile::tempdir().unwrap();
    for file in ["username", "password"] {
        std::fs::write(directory.path().join(file), "east").unwrap();
    }
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let router = Router::new().fallback(serve).with_state(Arc::clone(&server));
    tokio::spawn(async move { axum::serve(listener, router).await });
    let why = support::etcd(&endpoint, directory.path()).check(&key("a"), &"1-a".into()).await;
    let why = why.unwrap_err().to_string();
    assert!(why.contains("no password is sent there"), "{why}");
    assert!(server.lock().unwrap().calls.is_empty());
    let nothing = palladion_locks::Credentials::in_directory("/nonexistent");
    let two = Etcd::new(vec!["http://127.0.0.1:1".into(), endpoint], nothing);
    assert!(!two.check(&key("a"), &"1-a".into()).await.unwrap());
}
