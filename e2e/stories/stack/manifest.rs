//! Many services from one manifest.

use palladion_api::reasons::Reason;
use palladion_e2e::bed;
use palladion_e2e::bed::condition;
use palladion_e2e::stack::{Services, document, example};
use serde_json::{Value, json};

const VERSION: &str = "palladion.dev/v1alpha1";

pub(super) fn service(stack: &Value, name: &str) -> Value {
    let all = stack["status"]["services"].as_array().cloned().unwrap_or_default();
    all.into_iter().find(|s| s["name"] == name).unwrap_or_default()
}

pub(super) fn given() {
    // Somebody's own, of a name that the Stack has as well.
    let own =
        document(&example("component"), "  name: store").replace("replicas: 1", "replicas: 0");
    let services = Services::start("stack-given", &own);
    services.apply(&example("small"));
    let refused = Reason::NotOfThisStack.as_str();
    let said = services.wait_says(("stack", "small"), "Degraded", "True", refused);
    assert!(said.contains("palladion.dev/stack=small"), "{said}");
    let store = services.get("component", "store").expect("the Component");
    assert_eq!(store["spec"]["replicas"], 0, "it is as its owner made it");
    assert!(store["metadata"]["labels"].get("palladion.dev/stack").is_none());
    let web = services.get("component", "web").expect("what it created");
    assert_eq!(web["metadata"]["labels"]["palladion.dev/stack"], "small");
    // The way out that it names.
    bed()
        .kubectl("label component store palladion.dev/stack=small -n stack-given")
        .expect("the label is set");
    services.patch("component", "store", &json!({ "spec": { "replicas": 1 } }));
    let stack = services.wait(("stack", "small"), "all services to be ready", |o| {
        o["status"]["ready"] == "2/2" && condition(o, "Degraded")["status"] == "False"
    });
    assert_eq!(service(&stack, "store")["layer"], 0);
    assert_eq!(service(&stack, "web")["layer"], 1);
    assert_eq!(service(&stack, "store")["created"], false);
    every_kind(&services);
    services.end();
}

/// A cluster of each system that is given to a Stack, and a service of each other kind
/// that it creates. Nothing of them runs: what is tried is what is written.
fn every_kind(services: &Services) {
    let given = |kind: &str, spec: Value| {
        let meta = json!({ "name": "given", "labels": { "palladion.dev/stack": "every" } });
        json!({ "apiVersion": VERSION, "kind": kind, "metadata": meta, "spec": spec })
    };
    let ring = json!({
        "paused": true, "version": "5.0.5", "repository": "palladion.dev/cassandra",
        "datacenter": { "name": "dc1", "racks": [{ "name": "r1", "members": 1, "storage": {
            "volumeClaimTemplates": [{ "metadata": { "name": "data" }, "spec": {
                "storageClassName": "local", "resources": { "requests": { "storage": "1Gi" } } } }],
        } }] },
    });
    let ensemble = json!({ "paused": true, "version": "3.9.3", "servers": 1 });
    let messages = json!({ "paused": true, "version": "3.10.8", "nodes": 1 });
    let items = [
        given("CassandraCluster", ring),
        given("ZookeeperCluster", ensemble),
        given("RabbitmqCluster", messages),
    ];
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": items });
    services.apply(&list.to_string());
    let active = |name: &str, kind: &str, create: bool, spec: Value| json!({ "name": name, "kind": kind, "activate": true, "create": create, "spec": spec });
    let call = json!({ "path": "/nodes" });
    let group = json!({
        "agent": "nobody", "nodeSelector": { "example.com/router": "nowhere" },
        "template": { "spec": { "containers": [{ "name": "a", "image": "palladion.dev/tools:dev" }] } },
    });
    let registration = json!({
        "target": { "component": "store", "port": "http" }, "register": call, "deregister": call,
        "select": [{ "kind": "NodeAgentGroup", "name": "nobody" }],
    });
    let all = [
        active("given", "CassandraCluster", false, json!({ "heapSize": "300Mi" })),
        active("given", "ZookeeperCluster", false, json!({ "heapSize": "300Mi" })),
        active("given", "RabbitmqCluster", false, json!({ "terminationGracePeriodSeconds": 90 })),
        active("forwarding", "NodeAgentProfile", true, json!({ "kernelModeConfiguration": {} })),
        active("nobody", "NodeAgentGroup", true, group),
        active("nobody", "Registration", true, registration),
    ];
    let stack = json!({ "apiVersion": VERSION, "kind": "Stack", "metadata": { "name": "every" },
        "spec": { "services": all } });
    services.apply(&stack.to_string());
    for (kind, field, value) in [
        ("cassandracluster", "heapSize", json!("300Mi")),
        ("zookeepercluster", "heapSize", json!("300Mi")),
        ("rabbitmqcluster", "terminationGracePeriodSeconds", json!(90)),
    ] {
        services.wait((kind, "given"), "the Stack to write it", |o| {
            o["spec"][field] == value && o["spec"]["paused"] == true
        });
    }
    services.wait(("registration", "nobody"), "nobody to be registered", |o| {
        condition(o, "Available")["status"] == "True"
    });
    services.wait(("nodeagentgroup", "nobody"), "a group of no nodes", |o| {
        condition(o, "Accepted")["status"] == "True"
    });
    let stack = services.get("stack", "every").expect("the Stack");
    assert_eq!(service(&stack, "forwarding")["created"], true);
}
