//! The engine makes the world as the mind wants it, whatever happens on the way.
#![allow(clippy::unwrap_used)]

mod support;

use serde_json::{Value, json};
use std::time::Duration;
use support::fake::{Action, Fake};
use support::harness::{alone, at_work, made, pass, status, toy, until};

#[tokio::test(start_paused = true)]
async fn it_makes_what_is_wanted_changes_it_and_takes_it_away() {
    let fake = Fake::new();
    let _engine = alone(&fake);
    toy(&fake, "a", json!({"count": 3, "value": "x"}));
    until("three", || made(&fake, "a", 3, "x")).await;
    fake.edit("toys", "n", "a", |t| t["spec"] = json!({"count": 2, "value": "y"}));
    until("two others", || made(&fake, "a", 2, "y")).await;
    assert_eq!(fake.count("configmaps"), 2);
}

#[tokio::test(start_paused = true)]
async fn what_somebody_else_changes_is_put_right() {
    let (fake, _engine) = at_work(2).await;
    fake.edit("configmaps", "n", "a-1", |m| m["data"]["value"] = json!("vandal"));
    until("put right", || made(&fake, "a", 2, "x")).await;
    fake.delete("configmaps", "n", "a-0");
    until("made again", || made(&fake, "a", 2, "x")).await;
}

#[tokio::test(start_paused = true)]
async fn what_somebody_adds_to_a_map_that_is_wholly_ours_goes() {
    let (fake, _engine) = at_work(1).await;
    fake.edit("configmaps", "n", "a-0", |m| {
        m["data"]["theirs"] = json!("added");
        m["data"]["value"] = json!("vandal");
        m["metadata"]["annotations"]["theirs"] = json!("kept");
    });
    let now = || fake.get("configmaps", "n", "a-0").unwrap();
    until("gone", || now()["data"]["theirs"].is_null()).await;
    until("put right", || made(&fake, "a", 1, "x")).await;
    assert_eq!(now()["metadata"]["annotations"]["theirs"], "kept");
    let written = || fake.requests(|s| s.is_write() && s.target.plural == "configmaps");
    let before = written();
    pass(Duration::from_secs(600)).await;
    assert_eq!(written(), before, "at rest nothing is written");
}

#[tokio::test(start_paused = true)]
async fn what_a_webhook_adds_again_is_taken_out_once_and_the_rest_is_put_right() {
    let (fake, _engine) = at_work(1).await;
    fake.state().store.webhook = Some(|kind, object| {
        if kind == "configmaps" {
            object["data"]["injected"] = json!("always");
        }
    });
    let now = || fake.get("configmaps", "n", "a-0").unwrap();
    let written = || fake.requests(|s| s.is_write() && s.target.plural == "configmaps");
    fake.edit("configmaps", "n", "a-0", |m| m["data"]["value"] = json!("vandal"));
    until("put right", || now()["data"]["value"] == "x").await;
    let before = written();
    for round in 0..20 {
        fake.edit("toys", "n", "a", |t| {
            t["metadata"]["annotations"]["round"] = json!(round.to_string())
        });
        pass(Duration::from_secs(60)).await;
    }
    assert_eq!(written(), before, "it is let alone");
    fake.edit("configmaps", "n", "a-0", |m| m["data"]["theirs"] = json!("added"));
    until("gone", || now()["data"]["theirs"].is_null()).await;
    assert_eq!(now()["data"]["injected"], "always");
}

/// As a list that may not be empty: what somebody added alone is valid, and so is all of it.
#[tokio::test(start_paused = true)]
async fn what_cannot_be_taken_out_before_ours_is_there_is_taken_out_afterwards() {
    let (fake, _engine) = at_work(1).await;
    let server = fake.clone();
    fake.fault(move |seen| {
        let is_merge =
            seen.method == http::Method::PATCH && !seen.target.query.contains_key("force");
        let is_empty = || server.get("configmaps", "n", "a-0").unwrap()["data"]["value"].is_null();
        match is_merge && seen.target.plural == "configmaps" && is_empty() {
            true => Action::Refuse(422),
            false => Action::Pass,
        }
    });
    fake.edit("configmaps", "n", "a-0", |m| m["data"] = json!({"theirs": "added"}));
    let data = || fake.get("configmaps", "n", "a-0").unwrap()["data"].clone();
    until("ours alone", || data() == json!({"value": "x"})).await;
    assert!(status(&fake, "a")["failure"].is_null(), "{}", status(&fake, "a"));
}

#[tokio::test(start_paused = true)]
async fn a_field_that_is_no_longer_wanted_goes() {
    let fake = Fake::new();
    let _engine = alone(&fake);
    toy(&fake, "a", json!({"count": 1, "value": "x", "extra": "e"}));
    let extra = || fake.get("configmaps", "n", "a-0").unwrap()["data"]["extra"].clone();
    until("made", || made(&fake, "a", 1, "x")).await;
    assert_eq!(extra(), "e");
    fake.edit("toys", "n", "a", |t| t["spec"] = json!({"count": 1, "value": "x"}));
    until("gone", || extra().is_null()).await;
}

#[tokio::test(start_paused = true)]
async fn creating_costs_one_request_for_each_object_and_few_for_the_status() {
    let fake = Fake::new();
    let _engine = alone(&fake);
    toy(&fake, "a", json!({"count": 10, "value": "x"}));
    until("made", || made(&fake, "a", 10, "x")).await;
    pass(Duration::from_secs(60)).await;
    let of =
        |plural: &'static str| fake.requests(move |s| s.is_of_one() && s.target.plural == plural);
    assert_eq!(of("configmaps"), 10, "each written once and none read");
    let written = fake.requests(|s| s.is_write() && s.target.plural == "toys");
    // The epoch, the first and the last status.
    assert!(written <= 3, "{written} writes of status");
}

#[tokio::test(start_paused = true)]
async fn an_object_of_ours_that_no_watch_selects_any_more_is_put_right_under_its_uid() {
    let (fake, engine) = at_work(1).await;
    pass(Duration::from_secs(5)).await;
    engine.crash().await;
    let managed = |m: &Value| m["metadata"]["labels"]["app.kubernetes.io/managed-by"].clone();
    fake.edit("configmaps", "n", "a-0", |m| {
        m["metadata"]["labels"]["app.kubernetes.io/managed-by"] = json!("somebody");
        m["metadata"]["labels"]["theirs"] = json!("kept");
    });
    let before = fake.get("configmaps", "n", "a-0").unwrap();
    let _engine = alone(&fake);
    let now = || fake.get("configmaps", "n", "a-0").unwrap();
    until("put right", || managed(&now()) == "palladion").await;
    assert_eq!(now()["metadata"]["uid"], before["metadata"]["uid"]);
    assert_eq!(now()["metadata"]["labels"]["theirs"], "kept");
}

/// Somebody creates an object of the name after the decision, and before our
/// request arrives.
#[tokio::test(start_paused = true)]
async fn an_object_that_somebody_creates_in_that_very_moment_is_not_touched() {
    let fake = Fake::new();
    let theirs = json!({"metadata": {"name": "a-0", "namespace": "n"}, "data": {"theirs": "1"}});
    let somebody = fake.clone();
    let mut created = false;
    fake.fault(move |seen| {
        let ours = seen.method == http::Method::PATCH && seen.target.plural == "configmaps";
        if ours && !created {
            created = true;
            somebody.put("configmaps", "n", "a-0", theirs.clone());
        }
        Action::Pass
    });
    let _engine = alone(&fake);
    toy(&fake, "a", json!({"count": 1, "value": "x"}));
    until("told", || status(&fake, "a")["failure"]["class"] == "Foreign").await;
    pass(Duration::from_secs(60)).await;
    let found = fake.get("configmaps", "n", "a-0").unwrap();
    assert_eq!(found["data"], json!({"theirs": "1"}));
    assert!(
        found["metadata"]["labels"].is_null() && found["metadata"]["ownerReferences"].is_null()
    );
}

#[tokio::test(start_paused = true)]
async fn what_is_created_once_is_found_by_its_name_and_left_alone() {
    let fake = Fake::new();
    let _engine = alone(&fake);
    let theirs = json!({"metadata": {"name": "theirs", "namespace": "n"}, "data": {"value": "1"}});
    fake.put("configmaps", "n", "theirs", theirs);
    toy(&fake, "a", json!({"once": "theirs", "value": "x"}));
    toy(&fake, "b", json!({"once": "ours", "value": "x"}));
    let value = |name: &str| {
        let map = fake.get("configmaps", "n", name);
        map.map(|m| m["data"]["value"].clone()).unwrap_or_default()
    };
    until("created", || value("ours") == "x").await;
    pass(Duration::from_secs(60)).await;
    assert_eq!(value("theirs"), "1");
    assert!(status(&fake, "a")["failure"].is_null(), "{}", status(&fake, "a"));
    fake.edit("toys", "n", "b", |t| t["spec"]["value"] = json!("y"));
    pass(Duration::from_secs(60)).await;
    assert_eq!(value("ours"), "x", "it is not ours from then on");
}

#[tokio::test(start_paused = true)]
async fn at_rest_nothing_is_read_and_nothing_is_written() {
    let fake = Fake::new();
    let _engine = alone(&fake);
    for name in ["a", "b", "c"] {
        toy(&fake, name, json!({"count": 3, "value": "x"}));
    }
    until("made", || ["a", "b", "c"].iter().all(|n| made(&fake, n, 3, "x"))).await;
    pass(Duration::from_secs(60)).await;
    let before = fake.requests(|_| true);
    pass(Duration::from_secs(600)).await;
    assert_eq!(fake.requests(|_| true), before);
}

#[tokio::test(start_paused = true)]
async fn a_restart_at_rest_writes_nothing() {
    let (fake, engine) = at_work(3).await;
    pass(Duration::from_secs(10)).await;
    engine.crash().await;
    let before = fake.writes();
    let _engine = alone(&fake);
    pass(Duration::from_secs(60)).await;
    assert_eq!(fake.writes(), before);
}

#[tokio::test(start_paused = true)]
async fn an_object_of_the_name_that_is_somebody_elses_is_not_touched() {
    let fake = Fake::new();
    let _engine = alone(&fake);
    let theirs =
        fake.put("configmaps", "n", "a-1", json!({"metadata": {}, "data": {"value": "theirs"}}));
    toy(&fake, "a", json!({"count": 3, "value": "x"}));
    until("told", || status(&fake, "a")["failure"]["class"] == "Foreign").await;
    let words = status(&fake, "a")["failure"]["message"].as_str().unwrap().to_string();
    assert_eq!(words, "ConfigMap a-1 already exists and was not created by Palladion");
    pass(Duration::from_secs(120)).await;
    assert_eq!(fake.get("configmaps", "n", "a-1"), Some(theirs));
    // Cured without a word to the operator.
    fake.delete("configmaps", "n", "a-1");
    until("made", || made(&fake, "a", 3, "x")).await;
    assert!(status(&fake, "a")["failure"].is_null());
}

#[tokio::test(start_paused = true)]
async fn an_object_that_its_owner_gives_away_by_a_label_is_written() {
    let fake = Fake::new();
    let _engine = alone(&fake);
    let theirs = json!({"metadata": {"labels": {"team": "theirs"}}, "data": {"value": "theirs"}});
    fake.put("configmaps", "n", "a-1", theirs);
    toy(&fake, "a", json!({"count": 3, "value": "x"}));
    until("told", || status(&fake, "a")["failure"]["class"] == "Foreign").await;
    fake.edit("configmaps", "n", "a-1", |m| {
        m["metadata"]["labels"]["engine.test/toy"] = json!("a");
    });
    until("made", || made(&fake, "a", 3, "x")).await;
    assert_eq!(fake.get("configmaps", "n", "a-1").unwrap()["metadata"]["labels"]["team"], "theirs");
    assert!(status(&fake, "a")["failure"].is_null());
}

#[tokio::test(start_paused = true)]
async fn a_wake_up_is_kept_and_writes_nothing_by_itself() {
    let fake = Fake::new();
    let _engine = alone(&fake);
    toy(&fake, "a", json!({"count": 1, "value": "x", "wakeSeconds": 30}));
    until("made", || made(&fake, "a", 1, "x")).await;
    pass(Duration::from_secs(10)).await;
    let before = fake.requests(|_| true);
    pass(Duration::from_secs(300)).await;
    assert_eq!(fake.requests(|_| true), before);
}

#[tokio::test(start_paused = true)]
async fn an_owner_that_is_gone_is_not_worked_for_though_the_watch_does_not_say_so() {
    let (fake, _engine) = at_work(1).await;
    pass(Duration::from_secs(10)).await;
    fake.hold("toys");
    fake.delete("toys", "n", "a");
    // A failure, which is to be told in the status of what is gone.
    fake.fault(|seen| match seen.is_write() && seen.target.plural == "configmaps" {
        true => Action::Refuse(422),
        false => Action::Pass,
    });
    fake.edit("configmaps", "n", "a-0", |m| m["data"]["value"] = json!("vandal"));
    pass(Duration::from_secs(5)).await;
    fake.no_fault();
    let before = fake.writes();
    fake.edit("configmaps", "n", "a-0", |m| m["data"]["value"] = json!("again"));
    pass(Duration::from_secs(30)).await;
    assert_eq!(fake.writes(), before);
    fake.release("toys");
    pass(Duration::from_secs(300)).await;
    assert_eq!(fake.writes(), before);
}
