//! Agents on nodes.

use std::time::{Duration, Instant};

use palladion_api::node_agents::names::OWNER as GROUP;
use palladion_api::reasons::Reason;
use palladion_e2e::bed;
use palladion_e2e::bed::condition;
use palladion_e2e::stack::{PATIENCE, Services, example};
use palladion_e2e::wait_for;
use palladion_testbed::Cluster;
use serde_json::Value;

const LABEL: &str = "example.com/router";

pub(super) fn workers(cluster: &Cluster) -> Vec<String> {
    let text = cluster.kubectl(&["get", "nodes", "-o", "json"]).expect("nodes");
    let nodes: Value = serde_json::from_str(&text).expect("JSON");
    let names = nodes["items"].as_array().into_iter().flatten();
    let taintless = names.filter(|node| node["spec"]["taints"].is_null());
    taintless.filter_map(|node| node["metadata"]["name"].as_str().map(str::to_string)).collect()
}

/// A label of nodes: taken off again, however the step ends.
pub(super) struct Labelled(pub(super) &'static str);

impl Labelled {
    pub(super) fn set(&self, node: &str, value: &str) {
        let words = format!("label node {node} {}={value} --overwrite", self.0);
        bed().kubectl(&words).expect("a label");
    }
}

impl Drop for Labelled {
    fn drop(&mut self) {
        if let Err(error) = bed().kubectl(&format!("label nodes --all {}-", self.0)) {
            eprintln!("cannot take the labels off: {error:#}");
        }
    }
}

pub(super) fn one_each() {
    let nodes = workers(&bed().cluster);
    let labelled = Labelled(LABEL);
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
    // The pod of the second one is there, and finds no place: that alone shows that it is kept
    // from the node, and not only that nobody has tried yet.
    let pods = || bed().list(services.namespace, "pods").expect("pods");
    let kept_out = || {
        let all = pods();
        let mut of_sriov = all.iter().filter(|pod| pod["metadata"]["labels"][GROUP] == "sriov");
        of_sriov.find(|pod| is_kept_out(pod, &nodes[0])).cloned()
    };
    let waiting = wait_for("the second agent to find no place", PATIENCE, || Ok(kept_out()));
    let uid = waiting.expect("a pod that waits")["metadata"]["uid"].clone();
    std::thread::sleep(Duration::from_secs(20));
    let still = kept_out().expect("it still waits");
    assert_eq!(still["metadata"]["uid"], uid, "the same pod still waits");
    let all = pods();
    let running: Vec<&Value> = all
        .iter()
        .filter(|pod| {
            pod["spec"]["nodeName"] == nodes[0].as_str() && pod["status"]["phase"] == "Running"
        })
        .collect();
    assert_eq!(running.len(), 1, "a node runs one agent");
    assert_eq!(running[0]["metadata"]["labels"][GROUP], "kernel", "the one that was there");
    services.end();
}

/// A node goes from one group to the other: its agent ends before the next one starts.
pub(super) fn moved() {
    let nodes = workers(&bed().cluster);
    let labelled = Labelled(LABEL);
    labelled.set(&nodes[0], "kernel");
    labelled.set(&nodes[1], "sriov");
    let all = example("node-agents");
    // An agent that takes its time to end.
    let command = "command: [standin, --config, /configs/kernel.router.conf]";
    let slow = format!("{command}\n          lifecycle: {{preStop: {{sleep: {{seconds: 8}}}}}}");
    let (grace, longer) = ("terminationGracePeriodSeconds: 1", "terminationGracePeriodSeconds: 20");
    assert!(all.contains(command) && all.contains(grace), "the example has both");
    let manifest = all.replace(command, &slow).replace(grace, longer);
    let services = Services::start("stack-moved", &manifest);
    for name in ["kernel", "sriov"] {
        services.wait_ready("nodeagentgroup", name);
    }
    // Each time that somebody looks, one at the most: those that end count until their last
    // container has ended.
    let begin = Instant::now();
    let (mut looks, mut was_without) = (0_usize, false);
    labelled.set(&nodes[0], "sriov");
    wait_for("the agent of the other group", PATIENCE, || {
        let pods = bed().list(services.namespace, "pods")?;
        let has_ended =
            |pod: &Value| matches!(pod["status"]["phase"].as_str(), Some("Succeeded" | "Failed"));
        let here: Vec<&Value> = pods
            .iter()
            .filter(|pod| pod["spec"]["nodeName"] == nodes[0].as_str() && !has_ended(pod))
            .collect();
        let groups: Vec<&Value> = here.iter().map(|p| &p["metadata"]["labels"][GROUP]).collect();
        assert!(here.len() <= 1, "two agents on {}: {groups:?}", nodes[0]);
        looks += 1;
        was_without |= here.is_empty();
        let is_there = |pod: &&Value| {
            pod["metadata"]["labels"][GROUP] == "sriov"
                && condition(pod, "Ready")["status"] == "True"
        };
        Ok(here.iter().any(is_there).then_some(()))
    })
    .expect("it starts");
    println!(
        "figure: groups: another agent after {:.1} s, never two in {looks} looks; seen without any: {was_without}",
        begin.elapsed().as_secs_f64()
    );
    for name in ["kernel", "sriov"] {
        let group = services.wait(("nodeagentgroup", name), "no overlap", |o| {
            condition(o, "Degraded")["status"] == "False"
        });
        assert!(group["status"]["overlaps"].as_array().is_none_or(Vec::is_empty), "{name}");
    }
    services.end();
}

/// Is it for this node alone, and kept from it by the scheduler?
fn is_kept_out(pod: &Value, node: &str) -> bool {
    let required =
        &pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
    let terms = required["nodeSelectorTerms"].as_array().into_iter().flatten();
    let mut fields = terms.flat_map(|term| term["matchFields"].as_array().into_iter().flatten());
    let scheduled = condition(pod, "PodScheduled");
    fields.any(|field| field["values"][0] == node)
        && pod["spec"]["nodeName"].is_null()
        && scheduled["status"] == "False"
        && scheduled["reason"] == "Unschedulable"
        && scheduled["message"].as_str().is_some_and(|said| said.contains("anti-affinity"))
}
