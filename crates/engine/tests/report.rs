//! What people see: status and events, on change only, and about the right object.
#![allow(clippy::unwrap_used)]

mod support;

use serde_json::{Value, json};
use std::time::Duration;
use support::fake::{Action, Fake};
use support::harness::{alone, at_work, made, pass, status, toy, until};

fn events(fake: &Fake, reason: &str) -> Vec<Value> {
    let state = fake.state();
    let objects = state.store.objects.iter().filter(|((plural, _, _), _)| plural == "events");
    objects.map(|(_, o)| o.clone()).filter(|o| o["reason"] == reason).collect()
}

#[tokio::test(start_paused = true)]
async fn a_condition_that_changes_is_one_event_about_the_owner() {
    let (fake, _engine) = at_work(2).await;
    pass(Duration::from_secs(60)).await;
    let told = events(&fake, "UpToDate");
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["regarding"]["name"], "a");
    assert_eq!(told[0]["regarding"]["kind"], "Toy");
    assert_eq!(told[0]["note"], "2 of 2");
    assert_eq!(told[0]["type"], "Normal");
}

#[tokio::test(start_paused = true)]
async fn an_event_is_told_of_the_object_that_it_names_too_and_once() {
    let fake = Fake::new();
    let _engine = alone(&fake);
    toy(&fake, "a", json!({"count": 1, "value": "x", "about": "a-0", "wakeSeconds": 5}));
    pass(Duration::from_secs(60)).await;
    let told = events(&fake, "Synced");
    let about = |kind: &str| told.iter().find(|e| e["regarding"]["kind"] == kind);
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(about("Toy").map(|e| &e["regarding"]["name"]), Some(&json!("a")));
    let map = about("ConfigMap").expect("the ConfigMap is named");
    assert_eq!(map["regarding"]["name"], "a-0");
    assert!(map["regarding"]["uid"].is_string());
}

#[tokio::test(start_paused = true)]
async fn a_failed_step_is_one_warning_for_as_long_as_it_fails_in_the_same_way() {
    let fake = Fake::new();
    fake.fault(|seen| {
        let map = seen.is_write() && seen.target.plural == "configmaps";
        if map { Action::Refuse(403) } else { Action::Pass }
    });
    let _engine = alone(&fake);
    toy(&fake, "a", json!({"count": 2, "value": "x"}));
    pass(Duration::from_secs(600)).await;
    let told = events(&fake, "ErrSyncFailed");
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["type"], "Warning");
    assert_eq!(told[0]["note"], "cannot apply ConfigMap a-0: injected");
}

#[tokio::test(start_paused = true)]
async fn a_conflict_is_not_told_unless_it_goes_on() {
    let fake = Fake::new();
    fake.fault(|seen| {
        let map = seen.is_write() && seen.target.plural == "configmaps";
        if map { Action::Refuse(409) } else { Action::Pass }
    });
    let _engine = alone(&fake);
    toy(&fake, "a", json!({"count": 1, "value": "x"}));
    pass(Duration::from_secs(3)).await;
    assert!(events(&fake, "ErrSyncFailed").is_empty());
    pass(Duration::from_secs(60)).await;
    assert_eq!(events(&fake, "ErrSyncFailed").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_field_of_status_that_the_server_does_not_store_is_not_written_for_ever() {
    let fake = Fake::new();
    let _engine = alone(&fake);
    toy(&fake, "a", json!({"count": 1, "value": "x", "pruned": "yes", "wakeSeconds": 10}));
    until("made", || made(&fake, "a", 1, "x")).await;
    pass(Duration::from_secs(60)).await;
    let before = fake.writes();
    pass(Duration::from_secs(600)).await;
    assert_eq!(fake.writes(), before);
}

#[tokio::test(start_paused = true)]
async fn a_status_that_is_only_worded_differently_is_written_every_five_seconds() {
    let (fake, _engine) = at_work(1).await;
    pass(Duration::from_secs(10)).await;
    let before = fake.writes();
    for number in 0..50 {
        fake.edit("toys", "n", "a", |o| o["spec"]["words"] = json!(format!(", {number}")));
        pass(Duration::from_millis(100)).await;
    }
    let meanwhile = fake.writes() - before;
    assert!((1..=2).contains(&meanwhile), "{meanwhile} writes in five seconds");
    pass(Duration::from_secs(6)).await;
    let said = &status(&fake, "a")["conditions"][0]["message"];
    assert_eq!(said, "1 of 1, 49", "the last words are written in any case");
    // A state is told at once.
    fake.edit("toys", "n", "a", |o| o["spec"]["words"] = json!(", more"));
    pass(Duration::from_millis(100)).await;
    fake.put("nodes", "", "node", json!({}));
    pass(Duration::from_millis(500)).await;
    assert_eq!(status(&fake, "a")["nodes"], 1);
    pass(Duration::from_secs(6)).await;
    let before = fake.writes();
    pass(Duration::from_secs(600)).await;
    assert_eq!(fake.writes(), before, "and then nothing more");
}

/// The status subresource of a custom resource ignores a uid in a patch.
#[tokio::test(start_paused = true)]
async fn a_status_does_not_end_up_on_an_object_that_was_made_again_under_the_name() {
    let (fake, _engine) = at_work(2).await;
    pass(Duration::from_secs(5)).await;
    // The engine does not see that the owner is another one now.
    fake.hold("toys");
    fake.delete("toys", "n", "a");
    toy(&fake, "a", json!({"count": 0, "value": "y"}));
    fake.put("nodes", "", "node", json!({}));
    pass(Duration::from_secs(20)).await;
    assert!(status(&fake, "a").is_null(), "{}", status(&fake, "a"));
    let tries = fake.requests(|s| s.is_write() && s.target.plural == "toys");
    assert!(tries < 20, "{tries} tries in twenty seconds");
    fake.release("toys");
    until("decided anew", || status(&fake, "a")["nodes"] == 1).await;
}
