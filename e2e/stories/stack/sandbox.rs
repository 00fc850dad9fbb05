//! A gate opens once: with the dependency away a new sandbox of the same pod waits, and the
//! label with which the pod was let in before opens nothing.

use std::thread;
use std::time::{Duration, Instant};

use palladion_api::gate::TICKET;
use palladion_api::reasons::Reason;
use palladion_e2e::bed;
use palladion_e2e::bed::condition;
use palladion_e2e::stack::{Services, document, example};
use palladion_e2e::zookeeper::Ensemble;
use serde_json::{Value, json};

use super::gates::{millis, started};

/// The service that waits, and the pod of it that is watched.
const WEB: (&str, &str) = ("component", "web");
const POD: &str = "web-0";
/// For so long it must wait.
const WAITS: Duration = Duration::from_secs(60);

fn label(pod: &Value, name: &str) -> Value {
    pod["metadata"]["labels"][name].clone()
}

/// Does this pod wait at its gate, with no other container started?
fn is_waiting(pod: &Value, uid: &str) -> bool {
    let init = &pod["status"]["initContainerStatuses"][0];
    let mut containers = pod["status"]["containerStatuses"].as_array().into_iter().flatten();
    init["state"]["running"].is_object()
        && pod["metadata"]["uid"] == uid
        && containers.all(|c| c["state"]["running"].is_null())
}

/// What `goes` takes away `comes_back` gives again, and says since when it is there, in
/// milliseconds. In between the pod waits in a new sandbox.
fn waits_meanwhile<T>(
    services: &Services,
    goes: impl FnOnce() -> T,
    comes_back: impl FnOnce(T) -> i64,
) {
    let uid = services.uid(POD);
    let ticket = label(&services.pod(POD), TICKET);
    assert!(ticket.is_string(), "it was let in by a ticket");
    let away = goes();
    let reason = Reason::WaitingForDependency.as_str();
    services.wait_says(WEB, "DependenciesReady", "False", reason);
    bed().cluster.kill_sandbox(services.namespace, POD).expect("its sandbox ends");
    services.wait(("pod", POD), "the gate to wait in the new sandbox", |pod| is_waiting(pod, &uid));
    let ends = Instant::now() + WAITS;
    while Instant::now() < ends {
        let pod = services.pod(POD);
        assert!(is_waiting(&pod, &uid), "{}", pod["status"]);
        thread::sleep(Duration::from_secs(1));
    }
    assert_eq!(label(&services.pod(POD), "status"), "");
    let there = comes_back(away);
    services.wait_ready(WEB.0, WEB.1);
    let pod = services.pod(POD);
    assert_eq!(pod["metadata"]["uid"], uid, "the same pod");
    assert!(label(&pod, TICKET).is_string());
    assert_ne!(label(&pod, TICKET), ticket, "a ticket of its own");
    let (passed, began) = started(&pod);
    assert!(there <= passed && passed <= began, "{there} {passed} {began}");
    println!(
        "figure: gate-sandbox: {} s behind the gate, passed {:.1} s after the dependency was there",
        WAITS.as_secs(),
        Duration::from_millis(u64::try_from(passed - there).unwrap_or_default()).as_secs_f64()
    );
}

/// Since when is this available?
fn available_since(object: &Value) -> i64 {
    millis(&condition(object, "Available")["lastTransitionTime"])
}

pub(super) fn of_a_component() {
    let services = Services::start("stack-sandbox", &example("component"));
    services.wait_ready(WEB.0, WEB.1);
    let replicas = |replicas: u32| {
        let patch = json!({ "spec": { "replicas": replicas } });
        services.patch("component", "store", &patch);
    };
    let comes_back = |()| {
        replicas(1);
        available_since(&services.wait_ready("component", "store"))
    };
    waits_meanwhile(&services, || replicas(0), comes_back);
    services.end();
}

/// The quorum of an ensemble is taken, and given back.
pub(super) fn of_an_ensemble() {
    let ensemble = Ensemble::form_apart("stack-quorum", 3);
    let services = Services { namespace: ensemble.name };
    let below = format!("{{kind: ZookeeperCluster, name: {}, alias: store}}", ensemble.name);
    let web = document(&example("component"), "  name: web");
    let above = web.replace("{kind: Component, name: store}", &below);
    assert_ne!(above, web, "it depends on the ensemble");
    services.apply(&above);
    services.wait_ready(WEB.0, WEB.1);
    let comes_back = |away| {
        drop(away);
        ensemble.wait_servers(3);
        available_since(&ensemble.service().owner().expect("the ensemble"))
    };
    waits_meanwhile(&services, || ensemble.service().keep_away(&[1, 2]), comes_back);
    services.end();
}
