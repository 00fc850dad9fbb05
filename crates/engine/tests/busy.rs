//! A leader that is busy stays the leader, and serves all other owners: in real time,
//! because the threads are what is tested.
#![allow(clippy::unwrap_used)]

mod support;

use palladion_engine::decide::{LONGEST, at_once};
use palladion_engine::leader::evaluate::{LEASE_TIME, RENEW_EVERY};
use palladion_engine::{Engine, EngineError, Options};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use support::fake::Fake;
use support::harness::{elected, made, status, toy};
use support::toy::{AT_ONCE, BEGUN, BUSY, ENDLESS, ToyMind};
use tokio_util::sync::CancellationToken;

/// An engine as the operator runs it, on a thread of the test, that waits for a decision so long.
fn start(
    fake: &Fake,
    stop: &CancellationToken,
    longest: Duration,
) -> JoinHandle<Result<(), EngineError>> {
    let (fake, stop) = (fake.clone(), stop.clone());
    std::thread::spawn(move || {
        let run_time = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let options =
            Options { leadership: elected("one"), namespaces: vec![], settings: BTreeMap::new() };
        let ended = run_time.block_on(async {
            let again = fake.clone();
            Engine::new(fake.client(), vec![Arc::new(ToyMind)], options)
                .keep_lease_apart(Arc::new(move || {
                    let client = again.client();
                    Box::pin(async move { Ok(client) })
                }))
                .decide_within(longest)
                .run(stop)
                .await
        });
        run_time.shutdown_background();
        ended
    })
}

fn degraded(fake: &Fake, name: &str) -> String {
    let conditions = status(fake, name)["conditions"].clone();
    let all = conditions.as_array().into_iter().flatten();
    let degraded = all.filter(|c| c["type"] == "Degraded");
    degraded.map(|c| format!("{} {}", c["status"], c["reason"])).collect()
}

fn has_begun(name: &str) -> bool {
    BEGUN.lock().unwrap().iter().any(|begun| begun == name)
}

/// A toy that says whether it is degraded.
fn behaves(behaviour: &str, value: &str) -> Value {
    json!({"count": 1, "value": value, "degraded": "False", "behaviour": behaviour})
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
    let engine = start(&fake, &stop, LONGEST);
    until("leads", BUSY, || !lease(&fake, "holderIdentity").is_null());
    let holder = lease(&fake, "holderIdentity");
    toy(&fake, "a", json!({"count": 1, "value": "x", "behaviour": "busy"}));
    let began = Instant::now();
    let mut renewed = lease(&fake, "renewTime");
    until("is being decided", BUSY, || has_begun("a"));
    toy(&fake, "b", json!({"count": 1, "value": "y"}));
    let mut renewals = 0;
    let mut served_meanwhile = false;
    while began.elapsed() < BUSY {
        std::thread::sleep(Duration::from_millis(100));
        let now = lease(&fake, "renewTime");
        renewals += u64::from(now != renewed);
        renewed = now;
        served_meanwhile |= made(&fake, "b", 1, "y") && !made(&fake, "a", 1, "x");
    }
    assert!(served_meanwhile, "another owner was not kept waiting");
    assert!(renewals >= BUSY.as_secs() / RENEW_EVERY.as_secs() - 1, "renewed {renewals} times");
    assert_eq!(lease(&fake, "holderIdentity"), holder);
    until("goes on", BUSY, || made(&fake, "a", 1, "x"));
    stop.cancel();
    assert!(engine.join().unwrap().is_ok());
    assert_eq!(lease(&fake, "holderIdentity"), "", "released at the end");
}

#[test]
fn a_decision_that_takes_too_long_is_told_and_another_spec_is_decided() {
    let limit = Duration::from_secs(1);
    let fake = Fake::new();
    let stop = CancellationToken::new();
    let engine = start(&fake, &stop, limit);
    toy(&fake, "without-end", behaves("well", "x"));
    until("made", BUSY, || made(&fake, "without-end", 1, "x"));
    fake.edit("toys", "n", "without-end", |t| t["spec"] = behaves("endless", "y"));
    let began = Instant::now();
    until("told", BUSY, || degraded(&fake, "without-end") == r#""True" "DecisionTimeout""#);
    assert!(began.elapsed() < ENDLESS, "nobody waited for its end");
    assert!(has_begun("without-end"));
    let events = || {
        let state = fake.state();
        let all = state.store.objects.iter();
        all.filter(|((p, _, _), o)| p == "events" && o["reason"] == "DecisionTimeout").count()
    };
    until("an event", BUSY, || events() == 1);
    // Meanwhile its thread ends, and it is tried again.
    std::thread::sleep(ENDLESS * 3);
    let version =
        fake.get("toys", "n", "without-end").unwrap()["metadata"]["resourceVersion"].clone();
    toy(&fake, "b", json!({"count": 1, "value": "z"}));
    until("another one is served", BUSY, || made(&fake, "b", 1, "z"));
    let begun = BEGUN.lock().unwrap().iter().filter(|name| *name == "without-end").count();
    assert!(begun > 1, "it was tried again");
    let told = fake.get("toys", "n", "without-end").unwrap();
    assert_eq!(told["metadata"]["resourceVersion"], version, "it is told once");
    assert!(made(&fake, "without-end", 1, "x"), "what was made is left as it is");
    fake.edit("toys", "n", "without-end", |t| t["spec"] = behaves("well", "y"));
    until("cured by its manifest", BUSY, || made(&fake, "without-end", 1, "y"));
    until("taken back", BUSY, || degraded(&fake, "without-end") == r#""False" "UpToDate""#);
    stop.cancel();
    assert!(engine.join().unwrap().is_ok());
}

#[test]
fn a_decision_that_was_slow_once_is_made_again_by_itself() {
    let fake = Fake::new();
    let stop = CancellationToken::new();
    let engine = start(&fake, &stop, Duration::from_secs(3));
    // Only the first decision takes long, as in a process that was stopped for a while.
    toy(&fake, "slow", behaves("busy", "x"));
    until("decided again", BUSY * 3, || made(&fake, "slow", 1, "x"));
    stop.cancel();
    assert!(engine.join().unwrap().is_ok());
}

#[test]
fn nobody_waits_for_a_decision_when_the_process_is_to_end() {
    let fake = Fake::new();
    let stop = CancellationToken::new();
    let engine = start(&fake, &stop, LONGEST);
    toy(&fake, "late", behaves("busy", "x"));
    until("is being decided", BUSY, || has_begun("late"));
    let began = Instant::now();
    stop.cancel();
    assert!(engine.join().unwrap().is_ok());
    assert!(began.elapsed() < BUSY / 2, "it ended after {:?}", began.elapsed());
    assert_eq!(lease(&fake, "holderIdentity"), "", "released at the end");
    assert!(!made(&fake, "late", 1, "x"), "what came of it is carried out by nobody");
}

#[test]
fn a_process_with_too_many_decisions_without_end_begins_again() {
    let fake = Fake::new();
    let stop = CancellationToken::new();
    let engine = start(&fake, &stop, Duration::from_millis(100));
    (0..40).for_each(|n| toy(&fake, &format!("t{n}"), behaves("endless", "x")));
    until("ended", BUSY, || engine.is_finished());
    assert!(matches!(engine.join().unwrap(), Err(EngineError::TooManyLate)));
}

#[test]
fn no_more_decisions_are_made_at_once_than_there_are_places() {
    let fake = Fake::new();
    let stop = CancellationToken::new();
    (0..40).for_each(|n| toy(&fake, &format!("c{n}"), behaves("counted", "x")));
    let engine = start(&fake, &stop, LONGEST);
    until("made", BUSY * 2, || (0..40).all(|n| made(&fake, &format!("c{n}"), 1, "x")));
    let (_, most) = *AT_ONCE.lock().unwrap();
    assert!((2..=at_once()).contains(&most), "{most} at once");
    stop.cancel();
    assert!(engine.join().unwrap().is_ok());
}

#[test]
fn decisions_that_take_long_hold_no_places() {
    let fake = Fake::new();
    let stop = CancellationToken::new();
    let engine = start(&fake, &stop, LONGEST);
    until("leads", BUSY, || !lease(&fake, "holderIdentity").is_null());
    let slow: Vec<String> = (0..3 * at_once()).map(|n| format!("hostile{n}")).collect();
    slow.iter().for_each(|name| toy(&fake, name, behaves("endless", "x")));
    until("are being decided", BUSY, || has_begun(&slow[at_once()]));
    toy(&fake, "honest", json!({"count": 1, "value": "x"}));
    let began = Instant::now();
    until("made", BUSY, || made(&fake, "honest", 1, "x"));
    // With the places held they would take turns: all of them before it.
    assert!(began.elapsed() < ENDLESS * 2, "after {:?}", began.elapsed());
    stop.cancel();
    assert!(engine.join().unwrap().is_ok());
}
