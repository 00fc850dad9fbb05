//! A leader that is busy stays the leader: in real time, because the threads
//! are what is tested.
#![allow(clippy::unwrap_used)]

mod support;

use palladion_engine::leader::evaluate::{LEASE_TIME, RENEW_EVERY};
use palladion_engine::{Engine, EngineError, Options};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use support::fake::Fake;
use support::harness::{elected, made, toy};
use support::toy::{BUSY, ToyMind};
use tokio_util::sync::CancellationToken;

/// An engine as the operator runs it, on a thread of the test.
fn start(fake: &Fake, stop: &CancellationToken) -> JoinHandle<Result<(), EngineError>> {
    let (fake, stop) = (fake.clone(), stop.clone());
    std::thread::spawn(move || {
        let run_time = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let options =
            Options { leadership: elected("one"), namespaces: vec![], settings: BTreeMap::new() };
        run_time.block_on(async {
            let again = fake.clone();
            Engine::new(fake.client(), vec![Arc::new(ToyMind)], options)
                .keep_lease_apart(Arc::new(move || {
                    let client = again.client();
                    Box::pin(async move { Ok(client) })
                }))
                .run(stop)
                .await
        })
    })
}

fn lease(fake: &Fake, field: &str) -> Value {
    let lease = fake.get("leases", "system", "engine");
    lease.map(|l| l["spec"][field].clone()).unwrap_or_default()
}

fn until(what: &str, limit: Duration, so: impl Fn() -> bool) {
    let began = Instant::now();
    while !so() {
        assert!(began.elapsed() < limit, "still waiting: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_lease_is_renewed_while_a_decision_takes_longer_than_the_lease() {
    assert!(BUSY > LEASE_TIME);
    let fake = Fake::new();
    let stop = CancellationToken::new();
    let engine = start(&fake, &stop);
    until("leads", BUSY, || !lease(&fake, "holderIdentity").is_null());
    let holder = lease(&fake, "holderIdentity");
    toy(&fake, "a", json!({"count": 1, "value": "x", "behaviour": "busy"}));
    let began = Instant::now();
    let mut renewed = lease(&fake, "renewTime");
    let mut renewals = 0;
    while began.elapsed() < BUSY {
        std::thread::sleep(Duration::from_millis(100));
        let now = lease(&fake, "renewTime");
        renewals += u64::from(now != renewed);
        renewed = now;
    }
    assert!(renewals >= BUSY.as_secs() / RENEW_EVERY.as_secs() - 1, "renewed {renewals} times");
    assert_eq!(lease(&fake, "holderIdentity"), holder);
    until("goes on", BUSY, || made(&fake, "a", 1, "x"));
    stop.cancel();
    assert!(engine.join().unwrap().is_ok());
    assert_eq!(lease(&fake, "holderIdentity"), "", "released at the end");
}
