//! A service that a Stack has and does not activate is left alone; one that it activates and may
//! not create is made by hand.

use std::thread;
use std::time::Duration;

use palladion_api::reasons::Reason;
use palladion_e2e::bed;
use palladion_e2e::bed::condition;
use palladion_e2e::stack::Services;
use serde_json::{Value, json};

use super::manifest::service;
use super::wrong_input::{object, right};

/// What the operator would do it does in this time.
const WATCHED: Duration = Duration::from_secs(10);

/// A Stack with one service, which has two pods.
fn stack(activate: bool) -> String {
    let mut spec = right();
    spec["replicas"] = json!(2);
    let web = json!({ "name": "web", "kind": "Component", "activate": activate, "create": false,
        "spec": spec });
    object("Stack", "all", &json!({ "services": [web] })).to_string()
}

/// The Component as somebody makes it, for the Stack, with one pod.
fn by_hand() -> String {
    let mut made = object("Component", "web", &right());
    made["metadata"]["labels"] = json!({ "palladion.dev/stack": "all" });
    made.to_string()
}

fn replicas(services: &Services) -> Value {
    services.get("component", "web").expect("the Component")["spec"]["replicas"].clone()
}

pub(super) fn left_alone() {
    let services = Services { namespace: "stack-inactive" };
    bed().fresh_namespace(services.namespace).expect("a namespace");
    services.apply(&stack(false));
    let quiet = services.wait(("stack", "all"), "nothing to be said of it", |o| {
        condition(o, "Degraded")["status"] == "False"
            && o["status"]["observedGeneration"] == o["metadata"]["generation"]
    });
    assert_eq!(service(&quiet, "web")["active"], false, "{}", quiet["status"]);
    services.apply(&by_hand());
    services.wait_ready("component", "web");
    thread::sleep(WATCHED);
    assert_eq!(replicas(&services), 1, "the Stack writes nothing of what is not active");
    bed().kubectl("delete component web -n stack-inactive --wait=true").expect("deleted");
    services.apply(&stack(true));
    let absent = Reason::ChildAbsent.as_str();
    let said = services.wait_says(("stack", "all"), "Degraded", "True", absent);
    assert!(said.contains("web does not exist"), "{said}");
    thread::sleep(WATCHED);
    let web = bed().get("stack-inactive", "component", "web").expect("an answer");
    assert!(web.is_none(), "nobody has asked for it");
    services.apply(&by_hand());
    services.wait(("stack", "all"), "the service to be ready", |o| {
        o["status"]["ready"] == "1/1" && condition(o, "Degraded")["status"] == "False"
    });
    assert_eq!(replicas(&services), 2, "it is as the Stack has it");
    services.apply(&stack(false));
    services
        .wait(("stack", "all"), "nothing to be active", |o| service(o, "web")["active"] == false);
    services.patch("component", "web", &json!({ "spec": { "replicas": 1 } }));
    thread::sleep(WATCHED);
    assert_eq!(replicas(&services), 1, "it goes on as its owner has it");
    services.end();
}
