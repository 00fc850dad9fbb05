//! Authorities and what they sign: one Secret, read by name; made once, whatever
//! crashes; bound to their owner.
#![allow(clippy::unwrap_used)]

mod support;

use http::Method;
use k8s_openapi::ByteString;
use palladion_authority::{check, key, request};
use palladion_plan::hash;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use support::fake::{Action, Fake};
use support::harness::{elected, pass, start, status, toy, until};

const SECRET: &str = "palladion-authorities";

/// The chart was installed.
fn with_secret() -> Fake {
    let fake = Fake::new();
    fake.put("secrets", "system", SECRET, json!({"apiVersion": "v1", "kind": "Secret"}));
    fake
}

fn entries(fake: &Fake) -> usize {
    let secret = fake.get("secrets", "system", SECRET).unwrap();
    secret["data"].as_object().map_or(0, serde_json::Map::len)
}

fn certificate(fake: &Fake, toy: &str) -> Option<String> {
    fake.get("toys", "n", toy)?["spec"]["certificate"].as_str().map(str::to_string)
}

fn authority(fake: &Fake, toy: &str) -> Value {
    status(fake, toy)["authorities"]["client-1"].clone()
}

/// A toy `name` that is to be certified.
fn ask(fake: &Fake, name: &str, key: &str, more: Value) {
    let mut spec = json!({"count": 1, "value": "x", "request": request(key, "m").unwrap()});
    spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    toy(fake, name, spec);
}

#[tokio::test(start_paused = true)]
async fn a_certificate_is_signed_with_the_one_secret_and_no_other() {
    let (fake, key) = (with_secret(), key().unwrap());
    let _engine = start(&fake, elected("p"));
    ask(&fake, "a", &key, json!({"certified": "a"}));
    until("signed", || certificate(&fake, "a").is_some()).await;
    let known = authority(&fake, "a");
    let text = |field: &str| known[field].as_str().unwrap().to_string();
    let signed = certificate(&fake, "a").unwrap();
    let held = check(&key, &signed, &text("certificate"), &text("fingerprint"), "a").unwrap();
    let life = held.not_before.duration_until(held.not_after);
    assert_eq!(life, jiff::SignedDuration::from_hours(25), "a day, and an hour for clocks");
    pass(Duration::from_secs(60)).await;
    let state = fake.state();
    let of_secrets: Vec<_> = state.seen.iter().filter(|s| s.target.plural == "secrets").collect();
    assert!(!of_secrets.is_empty());
    for seen in of_secrets {
        assert_eq!(seen.target.name.as_deref(), Some(SECRET));
        assert_eq!(seen.target.namespace, "system");
        assert!([Method::GET, Method::PATCH].contains(&seen.method), "{seen:?}");
    }
    let everything = format!(
        "{:?}",
        state.store.objects.iter().filter(|((p, _, _), _)| p != "secrets").collect::<Vec<_>>()
    );
    assert!(!everything.contains("PRIVATE"), "the key is in the Secret alone");
}

#[tokio::test(start_paused = true)]
async fn at_rest_the_secret_is_not_read() {
    let fake = with_secret();
    let _engine = start(&fake, elected("p"));
    ask(&fake, "a", &key().unwrap(), json!({}));
    until("signed", || certificate(&fake, "a").is_some()).await;
    pass(Duration::from_secs(5)).await;
    let reads =
        |fake: &Fake| fake.state().seen.iter().filter(|s| s.target.plural == "secrets").count();
    let before = reads(&fake);
    pass(Duration::from_secs(600)).await;
    assert_eq!(reads(&fake), before);
}

#[tokio::test(start_paused = true)]
async fn without_the_secret_all_else_is_carried_out_and_the_next_step_is_told() {
    let fake = Fake::new();
    let _engine = start(&fake, elected("p"));
    ask(&fake, "a", &key().unwrap(), json!({}));
    until("made", || fake.get("configmaps", "n", "a-0").is_some()).await;
    pass(Duration::from_secs(30)).await;
    assert!(authority(&fake, "a").is_null() && certificate(&fake, "a").is_none());
    let told = format!("{:?}", fake.state().store.objects);
    assert!(told.contains("helm upgrade"), "the event has the next step");
    fake.put("secrets", "system", SECRET, json!({"apiVersion": "v1", "kind": "Secret"}));
    until("signed", || certificate(&fake, "a").is_some()).await;
}

#[tokio::test(start_paused = true)]
async fn a_status_that_was_copied_from_another_owner_signs_nothing() {
    let fake = with_secret();
    let _engine = start(&fake, elected("p"));
    ask(&fake, "a", &key().unwrap(), json!({}));
    until("signed", || certificate(&fake, "a").is_some()).await;
    let copied = json!({ "client-1": authority(&fake, "a") });
    ask(&fake, "b", &key().unwrap(), json!({"request": null}));
    until("made", || fake.get("configmaps", "n", "b-0").is_some()).await;
    let asked = request(&key().unwrap(), "m").unwrap();
    fake.edit("toys", "n", "b", |toy| {
        toy["status"]["authorities"] = copied.clone();
        toy["spec"]["request"] = json!(asked);
    });
    pass(Duration::from_secs(60)).await;
    assert_eq!(certificate(&fake, "b"), None);
    assert_eq!(entries(&fake), 1);
    // Also when the other owner has a key of its own.
    fake.edit("toys", "n", "b", |toy| toy["status"]["authorities"] = Value::Null);
    until("signed", || certificate(&fake, "b").is_some()).await;
    assert_ne!(authority(&fake, "b")["fingerprint"], authority(&fake, "a")["fingerprint"]);
    fake.edit("toys", "n", "b", |toy| toy["status"]["authorities"] = copied.clone());
    fake.edit("toys", "n", "b", |toy| {
        toy["spec"].as_object_mut().unwrap().remove("certificate");
    });
    pass(Duration::from_secs(60)).await;
    assert_eq!(certificate(&fake, "b"), None, "the record is another one than the key's");
}

#[tokio::test(start_paused = true)]
async fn an_owner_of_the_same_name_gets_another_authority() {
    let fake = with_secret();
    let _engine = start(&fake, elected("p"));
    let key = key().unwrap();
    ask(&fake, "a", &key, json!({}));
    until("signed", || certificate(&fake, "a").is_some()).await;
    let first = authority(&fake, "a")["fingerprint"].clone();
    fake.delete("toys", "n", "a");
    fake.delete("configmaps", "n", "a-0");
    pass(Duration::from_secs(60)).await;
    ask(&fake, "a", &key, json!({}));
    until("signed", || certificate(&fake, "a").is_some()).await;
    assert_ne!(authority(&fake, "a")["fingerprint"], first);
    assert_eq!(entries(&fake), 1, "what its predecessor had is removed");
}

/// What the Secret has of toys that were deleted long ago, in namespace `gone`.
fn left_over(fake: &Fake, kind: &str, count: usize) {
    fake.edit("secrets", "system", SECRET, |secret| {
        for number in 0..count {
            let (name, uid) = (format!("old-{number}"), format!("uid-{number}"));
            let entry = json!({
                "namespace": "gone", "owner": name, "uid": uid, "authority": "client-1",
                "madeAt": "2026-01-01T00:00:00Z", "certificate": "", "key": "",
            });
            let place = hash::of(&json!([kind, "gone", name, uid]));
            let bytes = ByteString(serde_json::to_vec(&entry).unwrap());
            secret["data"][format!("{place}.client-1")] = json!(bytes);
        }
    });
}

#[tokio::test(start_paused = true)]
async fn what_deleted_owners_have_left_is_removed_when_another_authority_is_made() {
    let fake = with_secret();
    let _engine = start(&fake, elected("p"));
    ask(&fake, "a", &key().unwrap(), json!({}));
    until("signed", || certificate(&fake, "a").is_some()).await;
    left_over(&fake, "Toy", 40);
    pass(Duration::from_secs(600)).await;
    assert_eq!(entries(&fake), 41, "at rest nothing is looked at");
    ask(&fake, "b", &key().unwrap(), json!({}));
    until("signed", || certificate(&fake, "b").is_some()).await;
    let of_old = |fake: &Fake| {
        let state = fake.state();
        state.seen.iter().filter(|s| s.target.namespace == "gone").count()
    };
    assert!((15..=16).contains(&of_old(&fake)), "{} owners were asked for", of_old(&fake));
    assert_eq!(entries(&fake), 42 - of_old(&fake));
    for name in ["c", "d"] {
        ask(&fake, name, &key().unwrap(), json!({}));
        until("signed", || certificate(&fake, name).is_some()).await;
    }
    assert_eq!(entries(&fake), 4, "those that live");
    let before = authority(&fake, "a");
    fake.edit("toys", "n", "a", |toy| {
        toy["spec"].as_object_mut().unwrap().remove("certificate");
    });
    until("signed", || certificate(&fake, "a").is_some()).await;
    assert_eq!(authority(&fake, "a"), before, "who lives keeps its key");
}

#[tokio::test(start_paused = true)]
async fn an_owner_that_cannot_be_read_keeps_what_the_secret_has_of_it() {
    // No right, no answer, a server that is ill, and a kind that this server does not serve.
    for answer in [Action::Refuse(403), Action::Hang, Action::Refuse(503), Action::Refuse(404)] {
        let fake = with_secret();
        left_over(&fake, "Toy", 3);
        fake.fault(move |seen| match seen.target.namespace.as_str() {
            "gone" => answer,
            _ => Action::Pass,
        });
        let _engine = start(&fake, elected("p"));
        ask(&fake, "a", &key().unwrap(), json!({}));
        until("signed", || certificate(&fake, "a").is_some()).await;
        assert_eq!(entries(&fake), 4, "{answer:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_the_secret_has_of_another_kind_or_what_is_damaged_stays() {
    let fake = with_secret();
    left_over(&fake, "Ring", 2);
    fake.edit("secrets", "system", SECRET, |secret| {
        secret["data"]["damaged.client-1"] = json!(ByteString(b"{".to_vec()));
        secret["data"]["other"] = json!("no base64");
    });
    let _engine = start(&fake, elected("p"));
    ask(&fake, "a", &key().unwrap(), json!({}));
    until("signed", || certificate(&fake, "a").is_some()).await;
    assert_eq!(entries(&fake), 5);
}

#[tokio::test(start_paused = true)]
async fn a_name_that_is_not_the_members_is_not_certified() {
    let fake = with_secret();
    let _engine = start(&fake, elected("p"));
    ask(&fake, "a", &key().unwrap(), json!({"certified": "kubernetes.default.svc"}));
    until("made", || !authority(&fake, "a").is_null()).await;
    pass(Duration::from_secs(60)).await;
    assert_eq!(certificate(&fake, "a"), None);
}

#[tokio::test(start_paused = true)]
async fn an_authority_that_is_forgotten_is_off_the_record_and_its_key_is_removed() {
    let fake = with_secret();
    let _engine = start(&fake, elected("p"));
    ask(&fake, "a", &key().unwrap(), json!({}));
    ask(&fake, "b", &key().unwrap(), json!({}));
    until("signed", || ["a", "b"].iter().all(|toy| certificate(&fake, toy).is_some())).await;
    fake.edit("toys", "n", "a", |toy| toy["spec"]["forget"] = json!("another one"));
    pass(Duration::from_secs(60)).await;
    assert_eq!(entries(&fake), 2, "another one of its name stays");
    assert!(!authority(&fake, "a").is_null());
    let known = authority(&fake, "a")["fingerprint"].clone();
    fake.edit("toys", "n", "a", |toy| toy["spec"]["forget"] = known.clone());
    until("forgotten", || authority(&fake, "a").is_null()).await;
    assert_eq!(entries(&fake), 1);
    assert!(!authority(&fake, "b").is_null(), "those of others stay");
}

#[tokio::test(start_paused = true)]
async fn a_next_authority_never_takes_a_key_that_an_earlier_attempt_has_left() {
    for (since, is_new) in [("2020-01-01T00:00:00Z", false), ("2100-01-01T00:00:00Z", true)] {
        let fake = with_secret();
        let _engine = start(&fake, elected("p"));
        ask(&fake, "a", &key().unwrap(), json!({}));
        until("signed", || certificate(&fake, "a").is_some()).await;
        let before = authority(&fake, "a")["fingerprint"].clone();
        fake.edit("toys", "n", "a", |toy| {
            toy["status"]["authorities"] = Value::Null;
            toy["spec"]["since"] = json!(since);
        });
        until("made", || !authority(&fake, "a").is_null()).await;
        let next = authority(&fake, "a");
        assert_eq!(next["fingerprint"] != before, is_new, "{since}");
        assert_eq!((&next["rotation"], entries(&fake)), (&json!("of a toy"), 1));
    }
}

/// At each write of the story the engine hangs, done or not, and another one goes on.
async fn crash_everywhere(action: Action) {
    let key = key().unwrap();
    for number in 1.. {
        let fake = with_secret();
        let (writes, reached) = (AtomicUsize::new(0), Arc::new(AtomicBool::new(false)));
        let told = Arc::clone(&reached);
        fake.fault(move |seen| {
            let counts = seen.is_write() && seen.is_object();
            if counts && writes.fetch_add(1, Ordering::SeqCst) + 1 == number {
                told.store(true, Ordering::SeqCst);
                return action;
            }
            Action::Pass
        });
        let engine = start(&fake, elected("p"));
        ask(&fake, "a", &key, json!({}));
        for _ in 0..2_000 {
            pass(Duration::from_millis(10)).await;
            if reached.load(Ordering::SeqCst) || certificate(&fake, "a").is_some() {
                break;
            }
        }
        if !reached.load(Ordering::SeqCst) {
            assert!(number > 4, "the story has too few writes: {number}");
            return;
        }
        fake.no_fault();
        engine.crash().await;
        let _next = start(&fake, elected("q"));
        until("signed", || certificate(&fake, "a").is_some()).await;
        assert_eq!(entries(&fake), 1, "crash at write {number}");
        let (known, signed) = (authority(&fake, "a"), certificate(&fake, "a").unwrap());
        check_signed(&key, &signed, &known);
    }
}

/// It is of the recorded authority; these toys have no name in their certificates.
fn check_signed(key: &str, signed: &str, known: &Value) {
    let text = |field: &str| known[field].as_str().unwrap().to_string();
    let by_name = check(key, signed, &text("certificate"), &text("fingerprint"), "none");
    assert!(
        matches!(by_name, Err(palladion_authority::words::Refused::Unnamed { .. })),
        "{by_name:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn an_authority_is_made_once_though_the_operator_ends_after_any_write() {
    crash_everywhere(Action::HangAfter).await;
}

#[tokio::test(start_paused = true)]
async fn an_authority_is_made_once_though_the_operator_ends_before_any_write() {
    crash_everywhere(Action::Hang).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_before_keeps_nothing_from_being_signed() {
    let fake = with_secret();
    fake.fault(|seen| match (seen.is_write(), seen.target.plural.as_str()) {
        (true, "configmaps") => Action::Refuse(422),
        _ => Action::Pass,
    });
    let _engine = start(&fake, elected("p"));
    ask(&fake, "a", &key().unwrap(), json!({}));
    until("signed", || certificate(&fake, "a").is_some()).await;
    assert_eq!(status(&fake, "a")["failure"]["class"], "Refused", "it is told all the same");
    // What holds for all, or is decided anew, ends a plan.
    for code in [503, 409] {
        let fake = with_secret();
        fake.fault(move |seen| match (seen.is_write(), seen.target.plural.as_str()) {
            (true, "configmaps") => Action::Refuse(code),
            _ => Action::Pass,
        });
        let _engine = start(&fake, elected("p"));
        ask(&fake, "a", &key().unwrap(), json!({}));
        pass(Duration::from_secs(120)).await;
        assert_eq!(certificate(&fake, "a"), None, "{code}");
    }
}
