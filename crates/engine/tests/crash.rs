//! Crashes before and after every write, lost answers, and API servers that
//! refuse: the end is always the same.
#![allow(clippy::unwrap_used)]

mod support;

use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use support::fake::{Action, Fake};
use support::harness::{alone, elected, made, pass, start, toy, until};

/// What the toys and their ConfigMaps say, without what the server counts.
fn world(fake: &Fake) -> Vec<(String, Value)> {
    let state = fake.state();
    let kept = |object: &Value| json!([object["spec"], object["data"], object["status"]["made"]]);
    let objects = state
        .store
        .objects
        .iter()
        .filter(|((plural, _, _), _)| plural == "toys" || plural == "configmaps");
    objects.map(|((_, _, name), object)| (name.clone(), kept(object))).collect()
}

/// From nothing to two, then to three others and none: creations, changes, deletions.
async fn story(fake: &Fake) {
    toy(fake, "a", json!({"count": 2, "value": "x"}));
    until("two", || made(fake, "a", 2, "x")).await;
    fake.edit("toys", "n", "a", |t| t["spec"] = json!({"count": 3, "value": "y"}));
    until("three", || made(fake, "a", 3, "y")).await;
    fake.edit("toys", "n", "a", |t| t["spec"] = json!({"count": 1, "value": "y"}));
    until("one", || made(fake, "a", 1, "y")).await;
}

/// Let the `number`-th write of an object hang, done or not, and say so.
fn crash_at(fake: &Fake, number: usize, action: Action) -> Arc<AtomicBool> {
    let (writes, reached) = (AtomicUsize::new(0), Arc::new(AtomicBool::new(false)));
    let told = Arc::clone(&reached);
    fake.fault(move |seen| {
        if !seen.is_write() || !seen.is_object() {
            return Action::Pass;
        }
        if writes.fetch_add(1, Ordering::SeqCst) + 1 == number {
            told.store(true, Ordering::SeqCst);
            return action;
        }
        Action::Pass
    });
    reached
}

async fn crash_everywhere(action: Action) {
    let fake = Fake::new();
    let _engine = alone(&fake);
    story(&fake).await;
    pass(Duration::from_secs(5)).await;
    let (expected, writes) = (world(&fake), fake.writes());
    assert!(writes > 8, "the story has {writes} writes");
    let mut crashes = 0;
    for number in 1..=writes {
        let fake = Fake::new();
        let reached = crash_at(&fake, number, action);
        let engine = alone(&fake);
        let story = story(&fake);
        tokio::pin!(story);
        let mut crashed = None;
        loop {
            tokio::select! {
                () = &mut story => break,
                () = pass(Duration::from_millis(5)) => {}
            }
            if reached.load(Ordering::SeqCst) && crashed.is_none() {
                crashes += 1;
                fake.no_fault();
                crashed = Some(alone(&fake));
                engine.task.abort();
            }
        }
        pass(Duration::from_secs(5)).await;
        assert_eq!(world(&fake), expected, "after a crash at write {number}");
    }
    assert!(crashes >= writes - 2, "only {crashes} of {writes} crashes happened");
}

#[tokio::test(start_paused = true)]
async fn a_crash_before_any_write_leads_to_the_same_end() {
    crash_everywhere(Action::Hang).await;
}

#[tokio::test(start_paused = true)]
async fn a_crash_after_any_write_leads_to_the_same_end() {
    crash_everywhere(Action::HangAfter).await;
}

/// Every third write fails in this way.
async fn with_trouble(action: Action) {
    let fake = Fake::new();
    let writes = AtomicUsize::new(0);
    fake.fault(move |seen| {
        let unlucky =
            seen.is_write() && seen.is_object() && writes.fetch_add(1, Ordering::SeqCst) % 3 == 2;
        if unlucky { action } else { Action::Pass }
    });
    let _engine = alone(&fake);
    story(&fake).await;
}

#[tokio::test(start_paused = true)]
async fn conflicts_are_looked_at_again_and_overcome() {
    with_trouble(Action::Refuse(409)).await;
}

#[tokio::test(start_paused = true)]
async fn an_overloaded_api_server_only_makes_it_slower() {
    with_trouble(Action::Refuse(429)).await;
    with_trouble(Action::Refuse(503)).await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_lost_is_no_harm() {
    with_trouble(Action::Lose(504)).await;
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_never_answered_does_not_hold_a_key_for_ever() {
    with_trouble(Action::Hang).await;
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_told_at_once_and_tried_again_every_half_minute() {
    let fake = Fake::new();
    fake.fault(|seen| {
        let map = seen.is_write() && seen.target.plural == "configmaps";
        if map { Action::Refuse(403) } else { Action::Pass }
    });
    let _engine = alone(&fake);
    toy(&fake, "a", json!({"count": 1, "value": "x"}));
    let class = || fake.get("toys", "n", "a").unwrap()["status"]["failure"]["class"].clone();
    until("told", || class() == "Refused").await;
    pass(Duration::from_secs(300)).await;
    let tries = fake.requests(|s| s.is_write() && s.target.plural == "configmaps");
    assert!((9..=25).contains(&tries), "{tries} tries in five minutes");
    let told = fake.requests(|s| s.is_write() && s.target.plural == "toys");
    assert!(told <= 3, "{told} writes of status");
    let events = fake.requests(|s| s.target.plural == "events");
    assert!(events <= 4, "{events} events");
    fake.no_fault();
    until("made", || made(&fake, "a", 1, "x")).await;
}

/// The API server takes no write of the first object of toy `a`.
fn refuse_the_first(fake: &Fake) {
    fake.fault(|seen| {
        let first = seen.is_write() && seen.target.name.as_deref() == Some("a-0");
        if first { Action::Refuse(422) } else { Action::Pass }
    });
}

#[tokio::test(start_paused = true)]
async fn what_stands_alone_and_is_refused_holds_up_nothing_else() {
    let fake = Fake::new();
    refuse_the_first(&fake);
    let _engine = alone(&fake);
    toy(&fake, "a", json!({"count": 3, "value": "x", "behaviour": "alone"}));
    let exists = |number| fake.get("configmaps", "n", &format!("a-{number}")).is_some();
    until("the others are made", || exists(1) && exists(2)).await;
    let class = || fake.get("toys", "n", "a").unwrap()["status"]["failure"]["class"].clone();
    until("told", || class() == "Refused").await;
    pass(Duration::from_secs(300)).await;
    let tries = fake.requests(|s| s.is_write() && s.target.name.as_deref() == Some("a-0"));
    assert!((9..=25).contains(&tries), "{tries} tries in five minutes");
    assert!(!exists(0) && class() == "Refused");
    fake.no_fault();
    until("made", || made(&fake, "a", 3, "x")).await;
}

#[tokio::test(start_paused = true)]
async fn every_object_that_is_refused_is_a_fact() {
    let fake = Fake::new();
    fake.fault(|seen| {
        let name = seen.target.name.as_deref();
        let is_one = seen.is_write() && matches!(name, Some("a-0" | "a-2"));
        if is_one { Action::Refuse(422) } else { Action::Pass }
    });
    let _engine = alone(&fake);
    toy(&fake, "a", json!({"count": 4, "value": "x", "behaviour": "alone"}));
    let all = || fake.get("toys", "n", "a").unwrap()["status"]["failure"]["all"].clone();
    until("told", || all() == json!(["ConfigMap a-0", "ConfigMap a-2"])).await;
    fake.no_fault();
    until("made", || made(&fake, "a", 4, "x")).await;
    until("forgotten", || all().is_null()).await;
}

#[tokio::test(start_paused = true)]
async fn what_supposes_a_refused_step_is_left_out_with_it() {
    let fake = Fake::new();
    refuse_the_first(&fake);
    let _engine = alone(&fake);
    toy(&fake, "a", json!({"count": 3, "value": "x", "behaviour": "pairs"}));
    let exists = |number| fake.get("configmaps", "n", &format!("a-{number}")).is_some();
    until("the rest is made", || exists(2)).await;
    pass(Duration::from_secs(60)).await;
    assert!(!exists(0) && !exists(1), "the next supposes the first");
    fake.no_fault();
    until("made", || made(&fake, "a", 3, "x")).await;
}

#[tokio::test(start_paused = true)]
async fn one_owner_that_cannot_be_served_does_not_delay_the_others() {
    let fake = Fake::new();
    fake.fault(|seen| {
        let slow = seen.target.name.as_deref().is_some_and(|n| n.starts_with("slow"));
        if slow && seen.is_write() { Action::Hang } else { Action::Pass }
    });
    let _engine = alone(&fake);
    for n in 0..10 {
        toy(&fake, &format!("slow{n}"), json!({"count": 5, "value": "x"}));
    }
    pass(Duration::from_secs(1)).await;
    toy(&fake, "quick", json!({"count": 1, "value": "x"}));
    let began = tokio::time::Instant::now();
    until("quick", || made(&fake, "quick", 1, "x")).await;
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_killed_leader_is_followed_by_one_with_a_higher_epoch() {
    let fake = Fake::new();
    let mut epochs = Vec::new();
    toy(&fake, "a", json!({"count": 2, "value": "first"}));
    for round in 0..4 {
        let engine = start(&fake, elected(&format!("pod-{round}")));
        let value = format!("v{round}");
        fake.edit("toys", "n", "a", |t| t["spec"]["value"] = json!(value));
        until("made", || made(&fake, "a", 2, &value)).await;
        epochs.push(fake.get("toys", "n", "a").unwrap()["status"]["epoch"].as_i64().unwrap());
        engine.crash().await;
    }
    assert!(epochs.windows(2).all(|w| w[0] < w[1]), "{epochs:?}");
}
