//! Agents on nodes.

use palladion_api::reasons::Reason;
use palladion_e2e::bed;
use palladion_e2e::bed::condition;
use palladion_e2e::stack::{Services, example};
use palladion_testbed::Cluster;
use serde_json::Value;

const LABEL: &str = "example.com/router";

fn workers(cluster: &Cluster) -> Vec<String> {
    let text = cluster.kubectl(&["get", "nodes", "-o", "json"]).expect("nodes");
    let nodes: Value = serde_json::from_str(&text).expect("JSON");
    let names = nodes["items"].as_array().into_iter().flatten();
    let taintless = names.filter(|node| node["spec"]["taints"].is_null());
    taintless.filter_map(|node| node["metadata"]["name"].as_str().map(str::to_string)).collect()
}

/// Takes the labels off again, however the step ends.
struct Labelled;

impl Labelled {
    fn set(&self, node: &str, value: &str) {
        let words = format!("label node {node} {LABEL}={value} --overwrite");
        bed().kubectl(&words).expect("a label");
    }
}

impl Drop for Labelled {
    fn drop(&mut self) {
        if let Err(error) = bed().kubectl(&format!("label nodes --all {LABEL}-")) {
            eprintln!("cannot take the labels off: {error:#}");
        }
    }
}

pub(super) fn one_each() {
    let nodes = workers(&bed().cluster);
    let labelled = Labelled;
    labelled.set(&nodes[0], "kernel");
    labelled.set(&nodes[1], "sriov");
    let services = Services::start("stack-agents", &example("node-agents"));
    for name in ["kernel", "sriov"] {
        services.wait_ready("nodeagentgroup", name);
    }
    let map = services.get("configmap", "sriov-config").expect("the ConfigMap");
    assert_eq!(map["data"]["sriov.router.conf"], "gateway = 192.0.2.1\nfunctions = 4\n");
    // The other group takes the first node as well: nobody is evicted, and both say so.
    let all = r#"{"spec": {"nodeSelector": {"kubernetes.io/hostname": "NODE", "example.com/router": null}}}"#;
    let patch = serde_json::from_str(&all.replace("NODE", &nodes[0])).expect("JSON");
    services.patch("nodeagentgroup", "sriov", &patch);
    let overlap = Reason::GroupsOverlap.as_str();
    for name in ["kernel", "sriov"] {
        let group = services.wait(("nodeagentgroup", name), "the overlap to be told", |o| {
            condition(o, "Degraded")["reason"] == overlap
        });
        assert_eq!(group["status"]["overlaps"][0]["node"], nodes[0].as_str());
    }
    let pods = bed().list(services.namespace, "pods").expect("pods");
    let running = pods.iter().filter(|pod| {
        pod["spec"]["nodeName"] == nodes[0].as_str() && pod["status"]["phase"] == "Running"
    });
    assert_eq!(running.count(), 1, "a node runs one agent");
    services.end();
}
