//! The order in which services start, and how a change below reaches those above.

use std::time::Duration;

use palladion_api::reasons::Reason;
use palladion_e2e::bed::condition;
use palladion_e2e::stack::{Services, document, example};
use palladion_e2e::wait_for;
use serde_json::{Value, json};

/// From the change of what a service depends on until its pods have begun to follow. The
/// times of Kubernetes are cut to whole seconds, so that up to one more is measured.
const SOON: i64 = 5_000 + 999;

/// A time of Kubernetes, in milliseconds since 1970.
pub(super) fn millis(time: &Value) -> i64 {
    let time: jiff::Timestamp = time.as_str().and_then(|t| t.parse().ok()).expect("a time");
    time.as_millisecond()
}

/// When the gate of a pod was passed, and when its container was started.
pub(super) fn started(pod: &Value) -> (i64, i64) {
    let gate = &pod["status"]["initContainerStatuses"][0];
    assert_eq!(gate["name"], "init");
    let containers = pod["status"]["containerStatuses"].as_array().expect("containers");
    let first = containers.iter().map(|c| millis(&c["state"]["running"]["startedAt"])).min();
    (millis(&gate["state"]["terminated"]["finishedAt"]), first.expect("a container"))
}

fn both() -> [(&'static str, &'static str); 2] {
    [("component", "web"), ("component", "api")]
}

pub(super) fn in_order() {
    let all = example("component");
    let first = document(&all, "  name: web") + "\n---\n" + &example("restart");
    let services = Services::start("stack-order", &first);
    for object in both() {
        let waiting = Reason::WaitingForDependency.as_str();
        let said = services.wait_says(object, "DependenciesReady", "False", waiting);
        assert!(said.contains("Component store"), "{said}");
    }
    services.apply(&document(&all, "  name: store"));
    let store = services.wait_ready("component", "store");
    let there = millis(&condition(&store, "Available")["lastTransitionTime"]);
    for (kind, name) in both() {
        services.wait_ready(kind, name);
    }
    for pod in ["web-0", "web-1", "api-0", "api-1"] {
        let (passed, began) = started(&services.pod(pod));
        assert!(there <= passed && passed <= began, "{pod}: {there} {passed} {began}");
    }
    own_texts(&services);
    hears(&services);
    services.end();
}

/// One ConfigMap, a complete text for each pod, and each pod reads its own.
fn own_texts(services: &Services) {
    let map = services.get("configmap", "web-config").expect("the ConfigMap");
    let keys: Vec<&String> = map["data"].as_object().expect("data").keys().collect();
    assert_eq!(keys, ["web-0.web.conf", "web-1.web.conf"]);
    let store = services.get("service", "store-0").expect("a Service");
    for pod in ["web-0", "web-1"] {
        let loads = services.loads(pod).expect("the stand-in");
        let (_, cause, text) = &loads[0];
        let address = services.get("service", pod).expect("a Service");
        let ip = |service: &Value| service["spec"]["clusterIP"].as_str().map(str::to_string);
        let (own, below) = (ip(&address).expect("an address"), ip(&store).expect("an address"));
        let wanted = format!("me = {pod} at {own}:8080\nlog = info\nstores = {below}\n");
        assert_eq!((cause.as_str(), text), ("start", &wanted));
        assert_eq!(map["data"][format!("{pod}.web.conf")], json!(wanted));
    }
}

/// Another node of `store`: `web` gets a signal, `api` a restart, within five seconds.
fn hears(services: &Services) {
    let web: Vec<String> = ["web-0", "web-1"].map(|pod| services.uid(pod)).to_vec();
    let api: Vec<String> = ["api-0", "api-1"].map(|pod| services.uid(pod)).to_vec();
    services.patch("component", "store", &json!({ "spec": { "replicas": 2 } }));
    services.wait(("component", "store"), "a second store", |o| {
        o["status"]["service"]["nodes"].as_array().is_some_and(|nodes| nodes.len() == 2)
    });
    // By the kubelet's word, and not by when this test has seen it: a node that is ready is
    // on record from then on.
    let changed = millis(&condition(&services.pod("store-1"), "Ready")["lastTransitionTime"]);
    for pod in ["web-0", "web-1"] {
        let load = wait_for("a signal", Duration::from_secs(30), || {
            let loads = services.loads(pod)?;
            Ok(loads.into_iter().find(|(_, cause, text)| cause == "SIGHUP" && text.contains(',')))
        });
        let (at, ..) = load.expect("a signal");
        eprintln!("{pod} was signalled {} ms after the change", at - changed);
        assert!((0..=SOON).contains(&(at - changed)), "{pod}: {} ms", at - changed);
    }
    assert_eq!(web, ["web-0", "web-1"].map(|pod| services.uid(pod)), "nobody was restarted");
    let told = wait_for("a restart", Duration::from_secs(60), || {
        let pods = ["api-0", "api-1"].map(|pod| services.get("pod", pod).ok());
        let is_new = |(pod, old): (&Option<Value>, &String)| {
            let pod = pod.as_ref()?;
            (pod["metadata"]["uid"] != **old).then(|| millis(&pod["metadata"]["creationTimestamp"]))
        };
        Ok(pods.iter().zip(&api).find_map(is_new))
    });
    // A time of creation has whole seconds.
    let began = told.expect("a restart") - changed;
    eprintln!("the first pod of api was made anew {began} ms after the change");
    assert!((0..=SOON).contains(&began), "{began} ms");
    services.wait_ready("component", "api");
    services.wait_ready("component", "web");
    for pod in ["web-0", "web-1"] {
        let loads = services.loads(pod).expect("the stand-in");
        let causes: Vec<&str> = loads.iter().map(|(_, cause, _)| cause.as_str()).collect();
        assert_eq!(causes, ["start", "SIGHUP"], "{pod} was signalled once");
    }
    for (pod, old) in ["api-0", "api-1"].iter().zip(&api) {
        assert_ne!(services.uid(pod), *old);
        let loads = services.loads(pod).expect("the stand-in");
        assert_eq!(loads.len(), 1, "a new process");
        assert!(loads[0].2.contains(','), "{loads:?}");
    }
    one_key(services);
}

/// A parameter that the text of one pod uses: that pod alone is restarted.
fn one_key(services: &Services) {
    let before = ["api-0", "api-1"].map(|pod| services.uid(pod));
    let map = |key: &str| {
        services.get("configmap", "api-config").expect("the ConfigMap")["data"][key].clone()
    };
    let other = map("api-1.api.conf");
    let patch = json!({ "spec": { "config": { "parameters": { "first": "two" } } } });
    services.patch("component", "api", &patch);
    wait_for("api-0 to be restarted", Duration::from_secs(60), || {
        let pod = services.get("pod", "api-0").ok();
        Ok(pod.filter(|pod| pod["metadata"]["uid"] != before[0]))
    })
    .expect("a restart");
    services.wait_ready("component", "api");
    assert_eq!(services.uid("api-1"), before[1]);
    assert_eq!(map("api-1.api.conf"), other);
    assert!(services.loads("api-0").expect("the stand-in")[0].2.contains("first = two"));
}

pub(super) fn cycle() {
    let component = |name: &str, on: &str| {
        json!({
            "apiVersion": "palladion.dev/v1alpha1", "kind": "Component",
            "metadata": { "name": name },
            "spec": {
                "network": { "ports": [{ "name": "http", "port": 8080 }] },
                "dependsOn": [{ "kind": "Component", "name": on }],
                "template": { "spec": { "containers": [
                    { "name": "c", "image": "palladion.dev/tools:dev", "command": ["standin"] },
                ] } },
            },
        })
    };
    const NAMES: [&str; 3] = ["first", "second", "third"];
    let all = [0, 1, 2].map(|n| component(NAMES[n], NAMES[(n + 1) % 3]));
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": all });
    let services = Services::start("stack-cycle", &list.to_string());
    for name in NAMES {
        let reason = Reason::DependencyCycle.as_str();
        let said = services.wait_says(("component", name), "DependenciesReady", "False", reason);
        for other in NAMES.into_iter().filter(|other| *other != name) {
            assert!(said.contains(other), "{name}: {said}");
        }
    }
    services.end();
}
