//! At most one engine writes, and a former leader that wakes writes nothing.
#![allow(clippy::unwrap_used)]

mod support;

use palladion_engine::EngineError;
use serde_json::{Value, json};
use std::time::Duration;
use support::fake::{Action, Fake};
use support::harness::{at_work, elected, made, pass, start, status, toy, until};

fn lease(fake: &Fake) -> Option<Value> {
    fake.get("leases", "system", "engine").map(|l| l["spec"].clone())
}

fn holder(fake: &Fake) -> String {
    lease(fake).and_then(|l| l["holderIdentity"].as_str().map(str::to_string)).unwrap_or_default()
}

#[tokio::test(start_paused = true)]
async fn of_two_one_leads_and_the_other_follows_when_it_is_killed() {
    let fake = Fake::new();
    let first = start(&fake, elected("one"));
    until("leads", || holder(&fake).starts_with("one")).await;
    let _second = start(&fake, elected("two"));
    toy(&fake, "a", json!({"count": 1, "value": "x"}));
    until("made", || made(&fake, "a", 1, "x")).await;
    pass(Duration::from_secs(120)).await;
    assert!(holder(&fake).starts_with("one"), "a live lease is not taken");
    first.crash().await;
    let began = tokio::time::Instant::now();
    until("follows", || holder(&fake).starts_with("two")).await;
    let took = began.elapsed();
    assert!(took > Duration::from_secs(9) && took < Duration::from_secs(18), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_graceful_stop_hands_over_within_about_a_second() {
    let fake = Fake::new();
    let first = start(&fake, elected("one"));
    until("leads", || holder(&fake).starts_with("one")).await;
    let _second = start(&fake, elected("two"));
    pass(Duration::from_secs(3)).await;
    first.stop.cancel();
    assert!(first.task.await.unwrap().is_ok());
    let began = tokio::time::Instant::now();
    until("follows", || holder(&fake).starts_with("two")).await;
    assert!(began.elapsed() < Duration::from_millis(1500), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_container_that_is_restarted_in_its_pod_leads_again_at_once_with_a_new_epoch() {
    let fake = Fake::new();
    let first = start(&fake, elected("one"));
    until("leads", || holder(&fake).starts_with("one")).await;
    let (old, epoch) = (holder(&fake), lease(&fake).unwrap()["leaseTransitions"].as_i64().unwrap());
    first.crash().await;
    let _again = start(&fake, elected("one"));
    let began = tokio::time::Instant::now();
    until("leads again", || holder(&fake) != old).await;
    assert!(began.elapsed() < Duration::from_secs(1));
    assert_eq!(lease(&fake).unwrap()["leaseTransitions"], epoch + 1);
}

/// The pod of an engine, of whose container the kubelet says this.
fn pod(fake: &Fake, name: &str, state: Value) {
    let uid = format!("{name}-uid");
    let mut pod = fake.put(
        "pods",
        "system",
        name,
        json!({
            "spec": {"containers": [{"name": "operator"}]},
            "status": {"containerStatuses": [{"name": "operator", "state": state}]},
        }),
    );
    pod["metadata"]["uid"] = json!(uid);
    fake.put("pods", "system", name, pod);
}

fn terminated_a_moment_ago() -> Value {
    // The kubelet counts whole seconds; times of the fake machines are real ones.
    let now = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(1);
    json!({"terminated": {"exitCode": 137, "finishedAt": format!("{now:.0}")}})
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_the_kubelet_saw_end_is_followed_at_once() {
    let fake = Fake::new();
    let first = start(&fake, elected("one"));
    until("leads", || holder(&fake).starts_with("one")).await;
    pod(&fake, "one", json!({"running": {}}));
    let second = start(&fake, elected("two"));
    pass(Duration::from_secs(120)).await;
    let asked = fake.requests(|s| s.target.plural == "pods");
    assert_eq!(asked, 1, "a leader that lives is asked for once, when a standby comes");
    first.crash().await;
    pod(&fake, "one", terminated_a_moment_ago());
    let began = tokio::time::Instant::now();
    until("follows", || holder(&fake).starts_with("two")).await;
    assert!(began.elapsed() < Duration::from_secs(9), "{:?}", began.elapsed());
    // One that comes when it has happened already does not wait at all.
    let third = start(&fake, elected("three"));
    pass(Duration::from_secs(3)).await;
    third.crash().await;
    second.crash().await;
    pod(&fake, "two", terminated_a_moment_ago());
    let _third = start(&fake, elected("four"));
    let began = tokio::time::Instant::now();
    until("follows", || holder(&fake).starts_with("four")).await;
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_leader_whose_pod_is_gone_may_run_on_and_is_not_followed_before_its_time() {
    let fake = Fake::new();
    let first = start(&fake, elected("one"));
    until("leads", || holder(&fake).starts_with("one")).await;
    first.crash().await;
    // No pod of the name: deleted by force, its machine out of reach.
    let _second = start(&fake, elected("two"));
    let began = tokio::time::Instant::now();
    until("follows", || holder(&fake).starts_with("two")).await;
    let took = began.elapsed();
    assert!(took >= Duration::from_secs(15) && took < Duration::from_secs(18), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_leader_of_whose_pod_nothing_can_be_read_is_followed_in_its_time() {
    let fake = Fake::new();
    let first = start(&fake, elected("one"));
    until("leads", || holder(&fake).starts_with("one")).await;
    first.crash().await;
    fake.fault(
        |seen| if seen.target.plural == "pods" { Action::Refuse(403) } else { Action::Pass },
    );
    let _second = start(&fake, elected("two"));
    until("follows", || holder(&fake).starts_with("two")).await;
}

#[tokio::test(start_paused = true)]
async fn a_leader_whose_lease_is_taken_stops_writing_and_ends() {
    let fake = Fake::new();
    let first = start(&fake, elected("one"));
    toy(&fake, "a", json!({"count": 1, "value": "x"}));
    until("made", || made(&fake, "a", 1, "x")).await;
    fake.edit("leases", "system", "engine", |l| l["spec"]["holderIdentity"] = json!("thief"));
    let ended = first.task.await.unwrap();
    assert!(matches!(ended, Err(EngineError::LeadershipLost(_))));
    let before = fake.writes();
    fake.edit("toys", "n", "a", |t| t["spec"]["value"] = json!("y"));
    pass(Duration::from_secs(60)).await;
    assert_eq!(fake.writes(), before);
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_cannot_renew_stops_before_its_lease_runs_out() {
    let fake = Fake::new();
    let first = start(&fake, elected("one"));
    toy(&fake, "a", json!({"count": 1, "value": "x"}));
    until("made", || made(&fake, "a", 1, "x")).await;
    fake.fault(|seen| {
        let renewal = seen.target.plural == "leases";
        if renewal { Action::Refuse(503) } else { Action::Pass }
    });
    let began = tokio::time::Instant::now();
    let ended = first.task.await.unwrap();
    assert!(matches!(ended, Err(EngineError::LeadershipLost(_))));
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_short_failure_of_the_renewal_costs_nothing() {
    let fake = Fake::new();
    let first = start(&fake, elected("one"));
    until("leads", || holder(&fake).starts_with("one")).await;
    let mut left = 3;
    fake.fault(move |seen| {
        if seen.target.plural == "leases" && left > 0 {
            left -= 1;
            return Action::Refuse(503);
        }
        Action::Pass
    });
    pass(Duration::from_secs(60)).await;
    assert!(!first.task.is_finished());
}

/// The fence: the write of a leader that was frozen between its decision and
/// its request meets the epoch of its successor.
#[tokio::test(start_paused = true)]
async fn the_epoch_fences_a_frozen_leader() {
    let fake = Fake::new();
    let _first = start(&fake, elected("one"));
    toy(&fake, "a", json!({"count": 1, "value": "x"}));
    until("made", || made(&fake, "a", 1, "x")).await;
    pass(Duration::from_secs(5)).await;
    // A successor has raised the epoch; the first one's cache does not show it.
    fake.hold("toys");
    let epoch = status(&fake, "a")["epoch"].as_i64().unwrap();
    fake.edit("toys", "n", "a", |t| t["status"]["epoch"] = json!(epoch + 1));
    let before = fake.requests(|s| s.is_write() && s.target.plural == "configmaps");
    fake.edit("configmaps", "n", "a-0", |m| m["data"]["value"] = json!("successor"));
    pass(Duration::from_secs(120)).await;
    assert_eq!(fake.get("configmaps", "n", "a-0").unwrap()["data"]["value"], "successor");
    let tried = fake.requests(|s| s.is_write() && s.target.plural == "configmaps");
    assert_eq!(tried, before, "the fence stands before the write");
}

#[tokio::test(start_paused = true)]
async fn each_fence_of_a_step_stands_before_its_write() {
    let fake = Fake::new();
    let _first = start(&fake, elected("one"));
    let other = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "other", "namespace": "n"}});
    fake.put("configmaps", "n", "other", other);
    toy(&fake, "a", json!({"count": 1, "value": "x", "unless": "other"}));
    pass(Duration::from_secs(60)).await;
    assert!(!exists(&fake, 0), "the epoch is its own, and the other object is there");
    fake.delete("configmaps", "n", "other");
    until("made", || made(&fake, "a", 1, "x")).await;
}

/// Its Lease is renewed all the while, so that nothing else tells it how long it
/// has hung: here in the looks at its fence.
#[tokio::test(start_paused = true)]
async fn what_was_proven_before_a_leader_hung_is_decided_again() {
    let (fake, _engine) = at_work(3).await;
    fake.fault(|seen| {
        let fence = !seen.is_write() && seen.target.plural == "toys" && seen.is_of_one();
        if fence { Action::Late(Duration::from_secs(6)) } else { Action::Pass }
    });
    let deleted = || 3 - (0..3).filter(|n| exists(&fake, *n)).count();
    fake.edit("toys", "n", "a", |t| t["spec"] = json!({"count": 0, "behaviour": "proven"}));
    pass(Duration::from_secs(8)).await;
    assert_eq!(deleted(), 1, "a proof of six seconds ago");
    pass(Duration::from_secs(6)).await;
    assert_eq!(deleted(), 1, "and one of twelve");
    fake.no_fault();
    until("made", || made(&fake, "a", 0, "x")).await;
}

fn exists(fake: &Fake, number: usize) -> bool {
    fake.get("configmaps", "n", &format!("a-{number}")).is_some()
}

#[tokio::test(start_paused = true)]
async fn of_two_engines_without_election_only_the_higher_epoch_writes() {
    let fake = Fake::new();
    let old = start(&fake, palladion_engine::Leadership::Alone { epoch: 1 });
    toy(&fake, "a", json!({"count": 1, "value": "x"}));
    until("made", || made(&fake, "a", 1, "x")).await;
    let _new = start(&fake, palladion_engine::Leadership::Alone { epoch: 2 });
    until("epoch", || status(&fake, "a")["epoch"] == 2).await;
    fake.edit("toys", "n", "a", |t| t["spec"]["value"] = json!("y"));
    until("made", || made(&fake, "a", 1, "y")).await;
    assert!(!old.task.is_finished());
}
