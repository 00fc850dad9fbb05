//! Many services from one manifest.

use palladion_api::reasons::Reason;
use palladion_e2e::bed;
use palladion_e2e::stack::{Services, condition, document, example};
use serde_json::{Value, json};

fn service(stack: &Value, name: &str) -> Value {
    let all = stack["status"]["services"].as_array().cloned().unwrap_or_default();
    all.into_iter().find(|s| s["name"] == name).unwrap_or_default()
}

pub(super) fn given() {
    // Somebody's own, of a name that the Stack has as well.
    let own = document(&example("component"), "  name: store")
        .replace("replicas: 1", "replicas: 0");
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
    services.end();
}

/// `contrail.yaml` on nothing: each layer starts when what is below it is available.
pub(super) fn contrail() {
    let services = Services::start("stack-contrail", &example("contrail"));
    for name in ["config", "control", "kubemanager", "webui"] {
        services.wait_long("component", name);
    }
    let stack = services.wait(("stack", "contrail"), "the Stack to be available", |o| {
        condition(o, "Available")["status"] == "True"
    });
    let layers = ["cassandra", "zookeeper", "config", "control", "kubemanager", "webui"]
        .map(|name| service(&stack, name)["layer"].clone());
    assert_eq!(layers.to_vec(), json!([0, 0, 1, 1, 2, 2]).as_array().cloned().unwrap_or_default());
    let millis = |time: &Value| {
        let time: jiff::Timestamp = time.as_str().and_then(|t| t.parse().ok()).expect("a time");
        time.as_millisecond()
    };
    let available = |kind: &str, name: &str| {
        let object = services.get(kind, name).expect("the service");
        millis(&condition(&object, "Available")["lastTransitionTime"])
    };
    let below = available("cassandracluster", "cassandra")
        .max(available("zookeepercluster", "zookeeper"));
    let config = available("component", "config");
    let after = [("config-0", below), ("control-0", below), ("kubemanager-0", config), ("webui-0", config)];
    for (pod, there) in after {
        let pod_object = services.pod(pod);
        let began = &pod_object["status"]["containerStatuses"][0]["state"]["running"]["startedAt"];
        assert!(millis(began) >= there, "{pod} started at {began}");
    }
    services.end();
}
