//! Pods that are registered with a service by calls to its API.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::Result;
use palladion_api::reasons::Reason;
use palladion_e2e::bed::{OPERATOR_NAMESPACE, bed, condition, text};
use palladion_e2e::stack::{PATIENCE, Services, document, example};
use palladion_e2e::wait_for;
use palladion_testbed::faults::Victim;
use serde_json::{Value, json};

use super::gates::millis;

const REGISTER: &str = "register-0";
/// So long the service takes to say that it has done a call, in milliseconds: long enough for
/// an operator to be killed meanwhile, and less than the ten seconds that it waits.
const SLOW_MS: u32 = 6_000;

/// How often each pod is in the register.
fn registered(services: &Services) -> BTreeMap<String, usize> {
    let nodes = services.ask(REGISTER, &["/nodes"]).expect("the register");
    let mut counts = BTreeMap::new();
    for node in nodes.as_array().expect("a list") {
        let name = node["name"].as_str().unwrap_or_default().to_string();
        *counts.entry(name).or_default() += 1;
    }
    counts
}

fn each_once(names: &[&str]) -> BTreeMap<String, usize> {
    names.iter().map(|name| ((*name).to_string(), 1)).collect()
}

fn faults(services: &Services, faults: &Value) {
    let text = faults.to_string();
    services.ask(REGISTER, &["-X", "POST", "-d", &text, "/faults"]).expect("the register");
}

/// The services of the example, both ready, and nobody registered.
fn services(namespace: &'static str) -> Services {
    let all = example("registration");
    let both = document(&all, "  name: register") + "\n---\n" + web(&all).as_str();
    let services = Services::start(namespace, &both);
    services.wait_ready("component", "register");
    services.wait_ready("component", "web");
    services
}

fn web(all: &str) -> String {
    let parts: Vec<&str> = all.split("\n---\n").collect();
    parts[1].to_string()
}

fn registration() -> String {
    document(&example("registration"), "kind: Registration")
}

fn wait_registered(services: &Services, of: &str) -> Value {
    services.wait(("registration", "web"), &format!("{of} to be registered"), |o| {
        let entries = o["status"]["entries"].as_array().cloned().unwrap_or_default();
        let is_done = |e: &Value| e["state"] == "Registered" && e["call"].is_null();
        o["status"]["registered"] == of && entries.iter().all(is_done)
    })
}

pub(super) fn once() {
    let services = services("stack-register");
    // Two of the calls are done, and nobody hears of it.
    faults(&services, &json!({ "lose": 2 }));
    services.apply(&registration());
    let done = wait_registered(&services, "3/3");
    assert_eq!(registered(&services), each_once(&["web-0", "web-1", "web-2"]));
    for entry in done["status"]["entries"].as_array().expect("entries") {
        assert!(entry["captured"]["id"].is_string(), "{entry}");
    }
    services.patch("registration", "web", &json!({ "spec": { "removedAfterSeconds": 2 } }));
    services.patch("component", "web", &json!({ "spec": { "replicas": 2 } }));
    wait_for("web-2 to be taken out", PATIENCE, || {
        Ok((registered(&services) == each_once(&["web-0", "web-1"])).then_some(()))
    })
    .expect("a removal");
    wait_registered(&services, "2/2");
    // One that comes back is told of once more, and taken out once more.
    services.patch("component", "web", &json!({ "spec": { "replicas": 3 } }));
    wait_registered(&services, "3/3");
    assert_eq!(registered(&services), each_once(&["web-0", "web-1", "web-2"]));
    services.patch("component", "web", &json!({ "spec": { "replicas": 2 } }));
    wait_for("web-2 to be taken out again", PATIENCE, || {
        Ok((registered(&services) == each_once(&["web-0", "web-1"])).then_some(()))
    })
    .expect("another removal");
    // A pod that restarts is the same: its address is that of its Service.
    let before = registered(&services);
    bed().delete("stack-register", "pod", "web-0").expect("delete");
    services.wait_ready("component", "web");
    let left = wait_registered(&services, "2/2");
    assert_eq!(left["status"]["entries"].as_array().map(Vec::len), Some(2));
    assert_eq!(registered(&services), before);
    services.end();
}

/// Kill the operator in the middle of a call: the service has done it and not answered yet, so
/// that nobody records what came of it. `met` are calls in which it died before.
fn kill_in_a_call(services: &Services, met: &mut BTreeSet<String>) {
    let open = || -> Result<Vec<(String, String)>> {
        let object = services.get("registration", "web")?;
        let entries = object["status"]["entries"].as_array().cloned().unwrap_or_default();
        // A lookup is answered at once.
        let open = entries.iter().filter(|e| e["call"]["kind"].as_str().is_some_and(is_delayed));
        let both = |e: &Value| {
            (text(e, "/name").to_string(), format!("{}{}", e["name"], e["call"]["nonce"]))
        };
        Ok(open.map(both).collect())
    };
    // One that is being started again after the last time is waited for.
    let calls = wait_for("the operator to be killed in a call", PATIENCE, || {
        let mut open = open()?;
        open.retain(|(_, nonce)| !met.contains(nonce));
        Ok((!open.is_empty() && kill_operators() > 0).then_some(open))
    })
    .expect("killed in a call");
    let after = open().expect("the record");
    let cut_short: Vec<&(String, String)> = calls.iter().filter(|c| after.contains(c)).collect();
    assert!(!cut_short.is_empty(), "{calls:?} had ended before the operator died: {after:?}");
    println!("the operator died in calls for {cut_short:?}");
    met.extend(calls.into_iter().map(|(_, nonce)| nonce));
}

/// Kill all processes of the operator; says how many there were.
fn kill_operators() -> usize {
    let pods = bed().list(OPERATOR_NAMESPACE, "pods").expect("the operator's pods");
    let names = pods.iter().map(|pod| text(pod, "/metadata/name"));
    let cluster = &bed().cluster;
    let killed = names.filter(|pod| {
        let killed = cluster.kill(OPERATOR_NAMESPACE, pod, "operator", &Victim::Init);
        killed.inspect_err(|error| eprintln!("the operator was not killed: {error:#}")).is_ok()
    });
    killed.count()
}

fn is_delayed(kind: &str) -> bool {
    kind == "Register" || kind == "Deregister"
}

/// The operator dies between a call and its record: twice while pods are registered, and once
/// while they are taken out.
pub(super) fn killed() {
    let services = services("stack-killed");
    let replicas = |replicas: u32| {
        services.patch("component", "web", &json!({ "spec": { "replicas": replicas } }));
    };
    replicas(8);
    services.wait_ready("component", "web");
    faults(&services, &json!({ "delay": SLOW_MS }));
    let mut met = BTreeSet::new();
    services.apply(&registration());
    kill_in_a_call(&services, &mut met);
    kill_in_a_call(&services, &mut met);
    faults(&services, &json!({ "delay": 0 }));
    wait_registered(&services, "8/8");
    let all: Vec<String> = (0..8).map(|n| format!("web-{n}")).collect();
    let names: Vec<&str> = all.iter().map(String::as_str).collect();
    assert_eq!(registered(&services), each_once(&names));
    faults(&services, &json!({ "delay": SLOW_MS }));
    services.patch("registration", "web", &json!({ "spec": { "removedAfterSeconds": 2 } }));
    replicas(6);
    kill_in_a_call(&services, &mut met);
    faults(&services, &json!({ "delay": 0 }));
    wait_registered(&services, "6/6");
    assert_eq!(registered(&services), each_once(&names[..6]));
    services.end();
}

/// Until the service is there everybody waits, in the order of the queue.
pub(super) fn waits_for_its_target() {
    let services = services("stack-queued");
    let replicas = |replicas: u32| {
        let patch = json!({ "spec": { "replicas": replicas } });
        services.patch("component", "register", &patch);
    };
    replicas(0);
    services.wait(("component", "register"), "the service to be away", |o| {
        o["status"]["service"]["active"] == false
    });
    services.apply(&registration());
    let reason = Reason::WaitingForTarget.as_str();
    let said = services.wait_says(("registration", "web"), "Progressing", "True", reason);
    assert!(said.contains("register"), "{said}");
    std::thread::sleep(Duration::from_secs(5));
    let status = services.get("registration", "web").expect("it")["status"].take();
    assert_eq!(status["registered"], "0/3");
    let entries = status["entries"].as_array().expect("entries");
    assert_eq!(entries.len(), 3, "{entries:?}");
    for entry in entries {
        assert_eq!(entry["state"], "Queued", "{entry}");
        assert!(entry["call"].is_null() && entry["attempts"] == 0, "nobody was called: {entry}");
    }
    replicas(1);
    let back = services.wait_ready("component", "register");
    let there = millis(&condition(&back, "Available")["lastTransitionTime"]);
    wait_registered(&services, "3/3");
    let took = jiff::Timestamp::now().as_millisecond() - there;
    assert_eq!(registered(&services), each_once(&["web-0", "web-1", "web-2"]));
    println!("figure: d1-reg: three registered {took} ms after the service was there");
    services.end();
}

/// A wrong password is quoted, and registers nobody; the right one is used without a word.
pub(super) fn wrong_password() {
    let services = services("stack-password");
    faults(&services, &json!({ "login": "palladion:change-me" }));
    let secret = example("registration-credentials");
    let wrong = secret.replace("change-me", "not-this-one");
    assert_ne!(wrong, secret, "another password");
    services.apply(&wrong);
    services.apply(&format!("{}  auth: {{secretName: register-api}}\n", registration()));
    let reason = Reason::RegistrationFailed.as_str();
    let said = services.wait_says(("registration", "web"), "Degraded", "True", reason);
    assert!(said.contains("401"), "it quotes the answer: {said}");
    // The answer repeats the password, as it is and encoded.
    assert!(!said.contains("not-this-one"), "and no password: {said}");
    assert_eq!(said.matches("[hidden]").count(), 2, "{said}");
    assert!(registered(&services).is_empty(), "nobody is registered");
    let begin = std::time::Instant::now();
    services.apply(&secret);
    wait_registered(&services, "3/3");
    assert_eq!(registered(&services), each_once(&["web-0", "web-1", "web-2"]));
    let well = services.get("registration", "web").expect("it");
    assert_eq!(condition(&well, "Degraded")["status"], "False");
    println!(
        "figure: d1-reg: registered {:.1} s after the password was right",
        begin.elapsed().as_secs_f64()
    );
    services.end();
}

pub(super) fn credentials() {
    let services = services("stack-secret");
    let with_auth = format!("{}  auth: {{secretName: register-api}}\n", registration());
    services.apply(&with_auth);
    let reason = Reason::CredentialsUnreadable.as_str();
    let said = services.wait_says(("registration", "web"), "Degraded", "True", reason);
    for word in ["register-api", "Role", "stack-secret"] {
        assert!(said.contains(word), "{said}");
    }
    assert!(registered(&services).is_empty(), "nobody is called without credentials");
    services.apply(&example("registration-credentials"));
    wait_registered(&services, "3/3");
    assert_eq!(registered(&services), each_once(&["web-0", "web-1", "web-2"]));
    services.end();
}
