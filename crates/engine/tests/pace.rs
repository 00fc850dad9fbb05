//! An API server that has too much to do is asked less, by everybody, and what
//! was begun goes before what is new.
#![allow(clippy::unwrap_used)]

mod support;

use serde_json::json;
use std::time::Duration;
use support::fake::{Action, Fake, Seen};
use support::harness::{alone, at_work, made, pass, toy, until};

const TOYS: usize = 100;

fn is_of_objects(seen: &Seen) -> bool {
    seen.is_write() && seen.is_object()
}

/// Toys `t0` and so on that each want a ConfigMap.
fn toys(fake: &Fake, count: usize) {
    for number in 0..count {
        toy(fake, &format!("t{number}"), json!({"count": 1, "value": "x"}));
    }
}

fn all_made(fake: &Fake, count: usize) -> bool {
    let all = |number| made(fake, &format!("t{number}"), 1, "x");
    // The cheap look first.
    fake.count("configmaps") >= count && (0..count).all(all)
}

#[tokio::test(start_paused = true)]
async fn while_no_write_is_answered_all_back_off_together_and_one_at_a_time_asks() {
    let fake = Fake::new();
    fake.fault(|seen| if is_of_objects(seen) { Action::Hang } else { Action::Pass });
    toys(&fake, TOYS);
    let _engine = alone(&fake);
    pass(Duration::from_secs(180)).await;
    let before = fake.writes();
    pass(Duration::from_secs(300)).await;
    let asked = fake.writes() - before;
    assert!(asked <= 30, "{asked} writes in 300 s that nobody answers");
    assert!(asked >= 5, "it is tried all the same: {asked}");
    fake.no_fault();
    until("made", || all_made(&fake, TOYS)).await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_says_when_to_come_again_is_left_alone_until_then() {
    for code in [429, 503] {
        let fake = Fake::new();
        fake.fault(move |seen| match is_of_objects(seen) {
            true => Action::Busy(code, 20),
            false => Action::Pass,
        });
        toys(&fake, TOYS);
        let _engine = alone(&fake);
        pass(Duration::from_secs(180)).await;
        let before = fake.writes();
        pass(Duration::from_secs(300)).await;
        let asked = fake.writes() - before;
        assert!(asked <= 32, "{code}: {asked} writes in 300 s, asked to wait 20 s each time");
        assert!(asked >= 5, "{code}: it is tried all the same: {asked}");
        fake.no_fault();
        until("made", || all_made(&fake, TOYS)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn one_object_whose_writes_hang_holds_up_nobody_else() {
    let fake = Fake::new();
    toy(&fake, "bad", json!({"count": 1, "value": "x"}));
    fake.fault(|seen| {
        let bad = seen.target.name.as_deref().is_some_and(|name| name.starts_with("bad"));
        if is_of_objects(seen) && bad { Action::Hang } else { Action::Pass }
    });
    let _engine = alone(&fake);
    pass(Duration::from_secs(120)).await;
    let began = tokio::time::Instant::now();
    toys(&fake, TOYS);
    until("made", || all_made(&fake, TOYS)).await;
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}

/// At which of the writes of objects each of these came.
fn place(fake: &Fake, wanted: impl Fn(&Seen) -> bool) -> usize {
    let state = fake.state();
    let mut writes = state.seen.iter().filter(|s| is_of_objects(s));
    writes.position(wanted).unwrap()
}

#[tokio::test(start_paused = true)]
async fn what_was_begun_goes_before_all_that_is_new() {
    let (fake, _engine) = at_work(1).await;
    // A turn is open.
    fake.edit("toys", "n", "a", |t| t["status"]["turn"] = json!("of a"));
    pass(Duration::from_secs(10)).await;
    let late = Duration::from_millis(500);
    fake.fault(move |seen| if seen.is_write() { Action::Late(late) } else { Action::Pass });
    fake.state().seen.clear();
    toys(&fake, 200);
    fake.delete("configmaps", "n", "a-0");
    until("made", || all_made(&fake, 200)).await;
    let named = |seen: &Seen| seen.target.name.as_deref() == Some("a-0");
    let place = place(&fake, named);
    assert!(place <= 130, "write {place} is for the one that was begun");
}

#[tokio::test(start_paused = true)]
async fn what_is_new_has_its_share_while_much_is_begun() {
    let fake = Fake::new();
    let _engine = alone(&fake);
    toys(&fake, 150);
    until("made", || all_made(&fake, 150)).await;
    for number in 0..150 {
        fake.edit("toys", "n", &format!("t{number}"), |t| t["status"]["turn"] = json!("open"));
    }
    pass(Duration::from_secs(10)).await;
    let late = Duration::from_millis(500);
    fake.fault(move |seen| if seen.is_write() { Action::Late(late) } else { Action::Pass });
    fake.state().seen.clear();
    for number in 0..150 {
        fake.delete("configmaps", "n", &format!("t{number}-0"));
    }
    toy(&fake, "new", json!({"count": 1, "value": "x"}));
    until("made", || all_made(&fake, 150) && made(&fake, "new", 1, "x")).await;
    let place = place(&fake, |seen| seen.target.name.as_deref() == Some("new"));
    assert!(place <= 130, "the first write for the new one is write {place}");
}
