//! What is not known is not guessed: watches that fail, come late, are cut or
//! have to begin anew.
#![allow(clippy::unwrap_used)]

mod support;

use palladion_engine::Leadership;
use serde_json::json;
use std::time::Duration;
use support::fake::{Action, Fake, Future, Seen};
use support::harness::{alone, at_work, made, pass, start_in, status, toy, until};

fn is_watch_of(seen: &Seen, plural: &str) -> bool {
    seen.method == http::Method::GET && seen.target.name.is_none() && seen.target.plural == plural
}

#[tokio::test(start_paused = true)]
async fn nothing_is_decided_before_the_first_list() {
    let fake = Fake::new();
    fake.put("configmaps", "n", "a-7", json!({
        "metadata": {"labels": {"engine.test/toy": "a", "app.kubernetes.io/managed-by": "palladion"}},
    }));
    fake.fault(|seen| if is_watch_of(seen, "nodes") { Action::Hang } else { Action::Pass });
    toy(&fake, "a", json!({"count": 1, "value": "x"}));
    let _engine = alone(&fake);
    pass(Duration::from_secs(10)).await;
    assert_eq!(fake.writes(), 0);
    fake.no_fault();
    until("made", || made(&fake, "a", 1, "x")).await;
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_fails_for_long_makes_its_objects_unknown_until_it_succeeds() {
    let (fake, _engine) = at_work(2).await;
    fake.fault(
        |seen| {
            if is_watch_of(seen, "configmaps") { Action::Refuse(403) } else { Action::Pass }
        },
    );
    fake.cut_watches();
    pass(Duration::from_secs(20)).await;
    assert!(status(&fake, "a")["unknown"].is_null(), "a short failure is none");
    until("unknown", || status(&fake, "a")["unknown"].is_string()).await;
    let words = status(&fake, "a")["unknown"].as_str().unwrap().to_string();
    assert!(words.contains("cannot watch configmaps"), "{words}");
    // Nothing is made or deleted in the dark.
    let before = fake.requests(|s| s.is_write() && s.target.plural == "configmaps");
    fake.edit("toys", "n", "a", |t| t["spec"] = json!({"count": 0, "value": "y"}));
    pass(Duration::from_secs(60)).await;
    assert_eq!(fake.requests(|s| s.is_write() && s.target.plural == "configmaps"), before);
    assert_eq!(fake.count("configmaps"), 2);
    fake.no_fault();
    until("healed", || made(&fake, "a", 0, "y")).await;
    assert!(status(&fake, "a")["unknown"].is_null());
}

#[tokio::test(start_paused = true)]
async fn an_object_that_is_nested_deeply_stops_nobody_else() {
    let (fake, engine) = at_work(1).await;
    let deep = (0..200).fold(json!(1), |inner, _| json!({ "a": inner }));
    toy(&fake, "b", json!({"count": 1, "value": "x", "more": deep}));
    pass(Duration::from_secs(60)).await;
    fake.edit("toys", "n", "a", |t| t["spec"] = json!({"count": 2, "value": "y"}));
    until("goes on by its watch", || made(&fake, "a", 2, "y")).await;
    assert_eq!(fake.count("configmaps"), 2, "nothing is made of the other");
    // The same for one that begins with it, by a list.
    engine.crash().await;
    let _engine = alone(&fake);
    fake.edit("toys", "n", "a", |t| t["spec"] = json!({"count": 1, "value": "z"}));
    until("goes on by a list", || made(&fake, "a", 1, "z")).await;
}

#[tokio::test(start_paused = true)]
async fn an_object_that_cannot_be_read_is_unknown_to_its_owner_and_nobody_else_waits() {
    let (fake, engine) = at_work(1).await;
    toy(&fake, "b", json!({"count": 1, "value": "x"}));
    until("made", || made(&fake, "b", 1, "x")).await;
    fake.edit("configmaps", "n", "b-0", |m| {
        m["metadata"]["creationTimestamp"] = json!("yesterday")
    });
    until("unknown", || status(&fake, "b")["unknown"].is_string()).await;
    let words = status(&fake, "b")["unknown"].as_str().unwrap().to_string();
    assert!(words.starts_with("cannot read ConfigMap n/b-0: "), "{words}");
    let lists = fake.requests(|s| is_watch_of(s, "configmaps"));
    fake.edit("toys", "n", "a", |t| t["spec"] = json!({"count": 2, "value": "y"}));
    until("goes on", || made(&fake, "a", 2, "y")).await;
    pass(Duration::from_secs(60)).await;
    assert_eq!(
        fake.requests(|s| is_watch_of(s, "configmaps")),
        lists,
        "and nothing is listed again"
    );
    // The same for one that begins with it, by a list.
    engine.crash().await;
    let _engine = alone(&fake);
    fake.edit("toys", "n", "a", |t| t["spec"] = json!({"count": 1, "value": "z"}));
    until("goes on after a restart", || made(&fake, "a", 1, "z")).await;
    fake.edit("toys", "n", "b", |t| t["spec"] = json!({"count": 0, "value": "x"}));
    pass(Duration::from_secs(60)).await;
    assert!(fake.get("configmaps", "n", "b-0").is_some(), "nothing is decided in the dark");
    fake.edit("configmaps", "n", "b-0", |m| {
        m["metadata"]["creationTimestamp"] = json!("2026-01-01T00:00:00Z");
    });
    until("read again", || made(&fake, "b", 0, "x")).await;
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_never_succeeded_makes_its_objects_unknown_and_not_empty() {
    let fake = Fake::new();
    fake.fault(
        |seen| {
            if is_watch_of(seen, "configmaps") { Action::Refuse(403) } else { Action::Pass }
        },
    );
    let _engine = alone(&fake);
    toy(&fake, "a", json!({"count": 2, "value": "x"}));
    until("unknown", || status(&fake, "a")["unknown"].is_string()).await;
    assert_eq!(fake.count("configmaps"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_is_cut_goes_on_where_it_was_and_lists_nothing_again() {
    let (fake, _engine) = at_work(1).await;
    pass(Duration::from_secs(10)).await;
    let lists = |s: &Seen| {
        s.target.parameter("sendInitialEvents") == "true" || s.target.query.contains_key("limit")
    };
    let before = fake.requests(lists);
    for round in 0..50 {
        fake.cut_watches();
        pass(Duration::from_millis(300)).await;
        fake.edit("toys", "n", "a", |t| t["spec"]["value"] = json!(format!("v{round}")));
    }
    until("made", || made(&fake, "a", 1, "v49")).await;
    assert_eq!(fake.requests(lists), before);
}

#[tokio::test(start_paused = true)]
async fn a_version_that_the_server_has_forgotten_means_a_new_list_and_no_lost_deletion() {
    let (fake, _engine) = at_work(2).await;
    pass(Duration::from_secs(5)).await;
    fake.hold("configmaps");
    fake.delete("configmaps", "n", "a-0");
    fake.compact();
    fake.cut_watches();
    fake.release("configmaps");
    until("made again", || fake.get("configmaps", "n", "a-0").is_some()).await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_stream_lists_is_asked_page_by_page() {
    let fake = Fake::new();
    fake.fault(|seen| {
        let streamed = seen.target.parameter("sendInitialEvents") == "true";
        if streamed { Action::Refuse(422) } else { Action::Pass }
    });
    let _engine = alone(&fake);
    toy(&fake, "a", json!({"count": 2, "value": "x"}));
    until("made", || made(&fake, "a", 2, "x")).await;
    fake.delete("configmaps", "n", "a-0");
    until("made again", || made(&fake, "a", 2, "x")).await;
}

#[tokio::test(start_paused = true)]
async fn a_key_waits_for_its_own_writes_to_come_back() {
    let (fake, _engine) = at_work(1).await;
    pass(Duration::from_secs(5)).await;
    fake.hold("configmaps");
    fake.edit("toys", "n", "a", |t| t["spec"] = json!({"count": 3, "value": "y"}));
    pass(Duration::from_secs(5)).await;
    let written = fake.requests(|s| s.is_write() && s.target.plural == "configmaps");
    // Other news must not lead to a decision on a store that lacks the writes.
    for node in 0..5 {
        fake.put("nodes", "", &format!("node-{node}"), json!({}));
        pass(Duration::from_secs(1)).await;
    }
    assert_eq!(fake.requests(|s| s.is_write() && s.target.plural == "configmaps"), written);
    assert_eq!(status(&fake, "a")["nodes"], 0, "not decided meanwhile");
    fake.release("configmaps");
    until("decided", || status(&fake, "a")["nodes"] == 5).await;
    assert_eq!(
        fake.requests(|s| s.is_write() && s.target.plural == "configmaps"),
        written,
        "and nothing written twice"
    );
}

#[tokio::test(start_paused = true)]
async fn own_writes_that_never_come_back_are_not_waited_for_for_ever() {
    let (fake, _engine) = at_work(1).await;
    pass(Duration::from_secs(5)).await;
    fake.hold("configmaps");
    fake.edit("toys", "n", "a", |t| t["spec"] = json!({"count": 2, "value": "y"}));
    pass(Duration::from_secs(5)).await;
    fake.put("nodes", "", "node", json!({}));
    pass(Duration::from_secs(5)).await;
    assert_eq!(status(&fake, "a")["nodes"], 0);
    until("decided with what there is", || status(&fake, "a")["nodes"] == 1).await;
}

#[tokio::test(start_paused = true)]
async fn an_object_that_an_owner_names_is_watched_for_as_long_as_it_does() {
    let fake = Fake::new();
    let _engine = alone(&fake);
    let reference = || status(&fake, "a")["reference"].clone();
    toy(&fake, "a", json!({"count": 0, "reference": "settings"}));
    until("missing", || reference() == "missing").await;
    fake.put("configmaps", "n", "settings", json!({"data": {"value": "one"}}));
    until("read", || reference() == "one").await;
    fake.edit("configmaps", "n", "settings", |m| m["data"]["value"] = json!("two"));
    until("read again", || reference() == "two").await;
    fake.delete("configmaps", "n", "settings");
    until("missing again", || reference() == "missing").await;
    fake.edit("toys", "n", "a", |t| t["spec"] = json!({"count": 0}));
    until("named no more", || reference().is_null()).await;
    fake.put("configmaps", "n", "settings", json!({"data": {"value": "three"}}));
    pass(Duration::from_secs(1)).await;
    let named = |s: &Seen| s.target.parameter("fieldSelector") == "metadata.name=settings";
    assert_eq!(fake.requests(named), 1, "one watch, which has ended");
}

#[tokio::test(start_paused = true)]
async fn only_the_named_namespaces_are_seen() {
    let fake = Fake::new();
    let _engine = start_in(&fake, Leadership::Alone { epoch: 1 }, &["n", "other"]);
    toy(&fake, "a", json!({"count": 1, "value": "x"}));
    fake.put("toys", "hidden", "b", json!({"spec": {"count": 1, "value": "x"}}));
    until("made", || made(&fake, "a", 1, "x")).await;
    pass(Duration::from_secs(5)).await;
    assert!(fake.get("configmaps", "hidden", "b-0").is_none());
    let everywhere = |s: &Seen| is_watch_of(s, "toys") && s.target.namespace.is_empty();
    assert_eq!(fake.requests(everywhere), 0);
}

#[tokio::test(start_paused = true)]
async fn a_mind_that_panics_takes_nobody_with_it() {
    let fake = Fake::new();
    let _engine = alone(&fake);
    toy(&fake, "mad", json!({"behaviour": "panic"}));
    toy(&fake, "a", json!({"count": 1, "value": "x"}));
    until("made", || made(&fake, "a", 1, "x")).await;
    fake.edit("toys", "n", "mad", |t| t["spec"] = json!({"count": 1, "value": "x"}));
    until("cured", || made(&fake, "mad", 1, "x")).await;
}

fn degraded(fake: &Fake) -> String {
    let status = status(fake, "a");
    let mut all = status["conditions"].as_array().into_iter().flatten();
    let degraded = all.find(|c| c["type"] == "Degraded").cloned().unwrap_or_default();
    let text = |field: &str| degraded[field].as_str().unwrap_or_default().to_string();
    format!("{} {}", text("status"), text("reason"))
}

#[tokio::test(start_paused = true)]
async fn a_mind_that_panics_is_told_in_the_conditions_until_it_decides_again() {
    let fake = Fake::new();
    let _engine = alone(&fake);
    let spec = |behaviour: &str| json!({"count": 1, "value": "x", "degraded": "False", "behaviour": behaviour});
    toy(&fake, "a", spec("well"));
    until("made", || made(&fake, "a", 1, "x")).await;
    assert_eq!(degraded(&fake), "False UpToDate");
    fake.edit("toys", "n", "a", |t| t["spec"] = spec("panic"));
    until("told", || degraded(&fake) == "True MindPanicked").await;
    let version = |fake: &Fake| fake.get("toys", "n", "a").unwrap()["metadata"].clone();
    let told = version(&fake);
    pass(Duration::from_secs(600)).await;
    assert_eq!(version(&fake), told, "written once");
    fake.edit("toys", "n", "a", |t| t["spec"] = spec("well"));
    until("taken back", || degraded(&fake) == "False UpToDate").await;
}

#[tokio::test(start_paused = true)]
async fn a_mind_that_panics_at_once_is_told_in_the_conditions_too() {
    let fake = Fake::new();
    let _engine = alone(&fake);
    let spec = |behaviour: &str| json!({"count": 1, "value": "x", "degraded": "False", "behaviour": behaviour});
    toy(&fake, "a", spec("panic"));
    until("told", || degraded(&fake) == "True MindPanicked").await;
    fake.edit("toys", "n", "a", |t| t["spec"] = spec("well"));
    until("taken back", || degraded(&fake) == "False UpToDate").await;
}

#[tokio::test(start_paused = true)]
async fn a_plan_that_breaks_a_safety_rule_is_told_and_not_carried_out() {
    let fake = Fake::new();
    fake.put("pods", "n", "precious", json!({}));
    let _engine = alone(&fake);
    toy(&fake, "a", json!({"behaviour": "lawless"}));
    until("told", || status(&fake, "a")["told"] == "yes").await;
    pass(Duration::from_secs(120)).await;
    assert_eq!(fake.count("pods"), 1);
    assert_eq!(fake.requests(|s| s.target.plural == "pods"), 0);
    until("an event", || {
        fake.state()
            .store
            .objects
            .iter()
            .any(|((p, _, _), o)| p == "events" && o["reason"] == "PlanVetoed")
    })
    .await;
}

/// etcd is restored from a backup that is older than what was read since.
async fn goes_back(future: Future) {
    let (fake, _engine) = at_work(1).await;
    let backup = fake.state().store.clone();
    fake.edit("toys", "n", "a", |t| t["spec"] = json!({"count": 3, "value": "y"}));
    until("made", || made(&fake, "a", 3, "y")).await;
    fake.restore(backup, future);
    pass(Duration::from_secs(60)).await;
    assert!(status(&fake, "a")["unknown"].is_null(), "{}", status(&fake, "a"));
    // From here on it goes as ever.
    fake.edit("toys", "n", "a", |t| t["spec"] = json!({"count": 2, "value": "z"}));
    until("made", || made(&fake, "a", 2, "z")).await;
    let lists = fake.requests(|s| is_watch_of(s, "configmaps"));
    pass(Duration::from_secs(600)).await;
    assert_eq!(fake.requests(|s| is_watch_of(s, "configmaps")), lists, "listed once");
}

#[tokio::test(start_paused = true)]
async fn a_store_that_goes_back_and_says_so_is_listed_anew() {
    goes_back(Future::Refused).await;
}

#[tokio::test(start_paused = true)]
async fn a_store_that_goes_back_without_a_word_is_listed_anew() {
    goes_back(Future::Silent).await;
}

/// One of several API servers may lag by seconds: nothing is listed for that.
#[tokio::test(start_paused = true)]
async fn a_server_that_lags_for_a_moment_is_waited_for() {
    let (fake, _engine) = at_work(1).await;
    let ahead = fake.state().store.clone();
    let lists = |s: &Seen| {
        is_watch_of(s, "configmaps") && s.target.parameter("sendInitialEvents") == "true"
    };
    let before = fake.requests(lists);
    fake.state().store.version = ahead.version - 1;
    fake.cut_watches();
    pass(Duration::from_secs(4)).await;
    fake.state().store = ahead;
    pass(Duration::from_secs(60)).await;
    assert_eq!(fake.requests(lists), before);
    fake.edit("toys", "n", "a", |t| t["spec"] = json!({"count": 2, "value": "z"}));
    until("made", || made(&fake, "a", 2, "z")).await;
}
