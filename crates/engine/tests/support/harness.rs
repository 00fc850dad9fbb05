//! Engines that run on the fake API server and can be crashed, and waiting for
//! the world to become as it should, in virtual time.

use super::fake::Fake;
use super::toy::ToyMind;
use palladion_engine::{Engine, EngineError, Leadership, Options};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub struct Running {
    pub task: JoinHandle<Result<(), EngineError>>,
    pub stop: CancellationToken,
}

impl Running {
    /// As if the process had been killed.
    pub async fn crash(self) {
        self.task.abort();
        let _ = self.task.await;
    }
}

pub fn elected(pod: &str) -> Leadership {
    Leadership::Elected {
        namespace: "system".to_string(),
        name: "engine".to_string(),
        pod: pod.to_string(),
        pod_uid: Some(format!("{pod}-uid")),
    }
}

pub fn start(fake: &Fake, leadership: Leadership) -> Running {
    start_in(fake, leadership, &[])
}

pub fn start_in(fake: &Fake, leadership: Leadership, namespaces: &[&str]) -> Running {
    let options = Options {
        leadership,
        namespaces: namespaces.iter().map(|n| (*n).to_string()).collect(),
        settings: BTreeMap::new(),
    };
    let engine = Engine::new(fake.client(), vec![Arc::new(ToyMind)], options);
    let stop = CancellationToken::new();
    Running { task: tokio::spawn(engine.run(stop.clone())), stop }
}

pub fn alone(fake: &Fake) -> Running {
    start(fake, Leadership::Alone { epoch: 1 })
}

/// An engine that has made so many ConfigMaps for toy `a`; they say `x`.
pub async fn at_work(count: usize) -> (Fake, Running) {
    let fake = Fake::new();
    let engine = alone(&fake);
    toy(&fake, "a", json!({"count": count, "value": "x"}));
    until("made", || made(&fake, "a", count, "x")).await;
    (fake, engine)
}

/// A toy in namespace `n`.
pub fn toy(fake: &Fake, name: &str, spec: Value) {
    fake.put(
        "toys",
        "n",
        name,
        json!({"apiVersion": "engine.test/v1", "kind": "Toy", "spec": spec}),
    );
}

pub fn status(fake: &Fake, name: &str) -> Value {
    fake.get("toys", "n", name).unwrap()["status"].clone()
}

/// Virtual time.
pub async fn pass(time: Duration) {
    tokio::time::sleep(time).await;
}

/// Wait until the world is so; panics after five virtual minutes.
pub async fn until(what: &str, so: impl Fn() -> bool) {
    for _ in 0..30_000 {
        if so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("still waiting: {what}");
}

/// Are there `count` ConfigMaps of the toy that say `value`, and does it say so?
pub fn made(fake: &Fake, name: &str, count: usize, value: &str) -> bool {
    let all = (0..count).all(|n| {
        fake.get("configmaps", "n", &format!("{name}-{n}"))
            .is_some_and(|m| m["data"]["value"] == value)
    });
    let none_more = fake.get("configmaps", "n", &format!("{name}-{count}")).is_none();
    let told = fake.get("toys", "n", name).is_some_and(|t| t["status"]["made"] == json!(count));
    all && none_more && told
}
