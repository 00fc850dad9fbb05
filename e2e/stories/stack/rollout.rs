//! An upgrade of a Component: an image that does not exist stops at its first pod, and what
//! corrects it reaches all of them, one after the other.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use palladion_api::reasons::Reason;
use palladion_e2e::bed;
use palladion_e2e::bed::condition;
use palladion_e2e::machines::is_ready;
use palladion_e2e::stack::{PATIENCE, Services, document, example};
use palladion_e2e::wait_for;
use serde_json::{Value, json};

/// There is no image of it.
const MISSING: &str = "palladion.dev/tools:404";
const PRESENT: &str = "palladion.dev/tools:dev";

/// Uids of the pods by name.
fn pods(services: &Services) -> BTreeMap<String, String> {
    let all = bed().list(services.namespace, "pods").expect("pods");
    let text = |p: &Value, field: &str| p["metadata"][field].as_str().unwrap_or("").to_owned();
    all.iter().map(|p| (text(p, "name"), text(p, "uid"))).collect()
}

/// Another release of the server.
fn upgrade(services: &Services, image: &str) {
    let container = json!({ "name": "store", "image": image, "command": ["standin"],
        "env": [{ "name": "RELEASE", "value": "two" }] });
    let spec = json!({ "template": { "spec": { "containers": [container] } } });
    services.patch("component", "store", &json!({ "spec": spec }));
}

pub(super) fn stops_at_the_first() {
    let store = document(&example("component"), "  name: store");
    let mut store: Value = serde_yaml::from_str(&store).expect("a Component");
    store["spec"]["replicas"] = json!(3);
    let services = Services::start("stack-rollout", &store.to_string());
    services.wait_ready("component", "store");
    let before = pods(&services);
    assert_eq!(before.len(), 3, "{before:?}");
    upgrade(&services, MISSING);
    let failed = Reason::ImagePullFailed.as_str();
    let said = services.wait_says(("component", "store"), "Degraded", "True", failed);
    assert!(said.contains(MISSING), "{said}");
    thread::sleep(Duration::from_secs(15));
    let now = pods(&services);
    let kept: Vec<&String> =
        before.iter().filter(|(name, uid)| now.get(*name) == Some(uid)).map(|(n, _)| n).collect();
    assert_eq!(kept.len(), 2, "only the first is replaced: {kept:?}");
    for pod in kept {
        services.ask(pod, &["/record"]).expect("it serves");
    }
    let store = services.get("component", "store").expect("the Component");
    assert_eq!(condition(&store, "Available")["status"], "True", "{}", store["status"]);
    let begin = Instant::now();
    upgrade(&services, PRESENT);
    wait_for("all to be of the new release, one after the other", PATIENCE, || {
        let all = bed().list(services.namespace, "pods")?;
        let ready = all.iter().filter(|pod| is_ready(pod)).count();
        assert!(ready >= 2, "only {ready} of three serve");
        let is_new = |pod: &&Value| {
            let container = &pod["spec"]["containers"][0];
            is_ready(pod)
                && container["image"] == PRESENT
                && container["env"].to_string().contains("RELEASE")
        };
        Ok((all.iter().filter(is_new).count() == 3).then_some(()))
    })
    .expect("upgraded");
    let took = begin.elapsed();
    let store = services.wait_ready("component", "store");
    assert_eq!(condition(&store, "Degraded")["status"], "False");
    println!("figure: component: corrected and upgraded in {:.1} s", took.as_secs_f64());
    services.end();
}
