//! Agents in the network of their nodes, also of a node that others are kept from, and a change
//! of a profile that reaches one node after the other.

use std::time::{Duration, Instant};

use palladion_e2e::bed;
use palladion_e2e::bed::{condition, text};
use palladion_e2e::machines::is_ready;
use palladion_e2e::stack::{Services, document, example};
use palladion_e2e::wait_for;
use serde_json::{Value, json};

use super::agents::{Labelled, workers};

const LABEL: &str = "example.com/router";
const TAINT: &str = "example.com/maintenance";
/// Agents are made anew on three nodes in turn, and each waits until its kubelet has shown it its
/// ticket.
const LONG: Duration = Duration::from_secs(300);
/// Where the agents listen, on their nodes.
const PORT: u16 = 18_081;

/// A node that takes only pods that tolerate it: it takes all again, however the step ends.
struct Tainted(String);

impl Tainted {
    fn set(node: &str) -> Self {
        let tainted = Self(node.to_string());
        bed().kubectl(&format!("taint node {node} {TAINT}=yes:NoSchedule")).expect("a taint");
        tainted
    }
}

impl Drop for Tainted {
    fn drop(&mut self) {
        if let Err(error) = bed().kubectl(&format!("taint node {} {TAINT}-", self.0)) {
            eprintln!("{} still has its taint: {error:#}", self.0);
        }
    }
}

/// The group of the example with cards, on the network of its nodes.
fn group() -> Value {
    let found = example("node-agents");
    let found = found.split("\n---\n").filter_map(|part| serde_yaml::from_str(part).ok());
    let mut group: Value = found
        .into_iter()
        .find(|o: &Value| o["kind"] == "NodeAgentGroup" && o["metadata"]["name"] == "sriov")
        .expect("the group");
    let spec = &mut group["spec"];
    spec["network"] =
        json!({ "addresses": "HostNetwork", "ports": [{ "name": "http", "port": PORT }] });
    spec["reload"] = json!({ "policy": "Restart" });
    let container = &mut spec["template"]["spec"]["containers"][0];
    container["command"] =
        json!(["standin", "--config", "/configs/sriov.router.conf", "--port", PORT.to_string()]);
    group
}

fn pods(services: &Services) -> Vec<Value> {
    bed().list(services.namespace, "pods").expect("pods")
}

/// The group, once nothing of it is being done.
fn settled(services: &Services) -> Value {
    let found = wait_for("all agents to be ready", LONG, || {
        let group = services.get("nodeagentgroup", "sriov")?;
        let is_done = condition(&group, "Available")["status"] == "True"
            && condition(&group, "Progressing")["status"] == "False"
            && group["status"]["observedGeneration"] == group["metadata"]["generation"];
        Ok(is_done.then_some(group))
    });
    found.expect("ready")
}

/// The nodes with an agent that is ready, in the order of their names.
fn nodes_of(pods: &[Value]) -> Vec<String> {
    let ready = pods.iter().filter(|pod| is_ready(pod));
    let mut nodes: Vec<String> = ready.map(|p| text(p, "/spec/nodeName").to_string()).collect();
    nodes.sort();
    nodes
}

/// The text that each agent has read last. One that was started just now does not answer yet.
fn texts(services: &Services) -> Vec<String> {
    let of = |pod: &Value| {
        let read = wait_for("the stand-in to answer", LONG, || {
            Ok(services.loads_at(text(pod, "/metadata/name"), PORT)?.pop())
        });
        read.expect("it has read its text").2
    };
    pods(services).iter().map(of).collect()
}

pub(super) fn one_after_the_other() {
    let nodes = workers(&bed().cluster);
    assert_eq!(nodes.len(), 3, "{nodes:?}");
    let labelled = Labelled(LABEL);
    nodes.iter().for_each(|node| labelled.set(node, "sriov"));
    let tainted = Tainted::set(&nodes[2]);
    let all = example("node-agents");
    let profiles = ["forwarding", "cards"].map(|name| document(&all, &format!("  name: {name}")));
    let services = Services::start("stack-on-hosts", &profiles.join("\n---\n"));
    services.apply(&group().to_string());
    settled(&services);
    assert_eq!(nodes_of(&pods(&services)), nodes[..2], "nobody is on the node with the taint");
    let tolerated = json!([{ "key": TAINT, "operator": "Exists", "effect": "NoSchedule" }]);
    services.patch("nodeagentgroup", "sriov", &json!({ "spec": { "tolerations": tolerated } }));
    wait_for("an agent on each node", LONG, || {
        Ok((nodes_of(&pods(&services)) == nodes).then_some(()))
    })
    .expect("also on the one with the taint");
    let group = settled(&services);
    on_their_nodes(&services, &group);
    changed_profile(&services);
    services.end();
    drop(tainted);
}

/// Each agent has the address of its node.
fn on_their_nodes(services: &Services, group: &Value) {
    assert_eq!(group["status"]["pods"], "3/3", "{}", group["status"]);
    for pod in pods(services) {
        assert_eq!(pod["spec"]["hostNetwork"], true);
        let node = text(&pod, "/spec/nodeName");
        let found = bed().get("default", "node", node).expect("get").expect("the Node");
        let addresses = found["status"]["addresses"].as_array().expect("addresses");
        let own = addresses.iter().find(|a| a["type"] == "InternalIP").expect("its address");
        assert_eq!(pod["status"]["podIP"], own["address"], "{node}");
    }
}

/// Its text is another one: never are two nodes without their agents.
fn changed_profile(services: &Services) {
    let before: Vec<Value> = pods(services).iter().map(|p| p["metadata"]["uid"].clone()).collect();
    assert!(texts(services).iter().all(|text| text.contains("functions = 4")));
    let begin = Instant::now();
    let spec = json!({ "spec": { "sriovConfiguration": { "numberOfVfs": 8 } } });
    services.patch("nodeagentprofile", "cards", &spec);
    wait_for("all agents to be new, one after the other", LONG, || {
        let now = pods(services);
        let ready = nodes_of(&now).len();
        assert!(ready >= before.len() - 1, "only {ready} of {} agents run", before.len());
        let is_new = now.iter().all(|pod| !before.contains(&pod["metadata"]["uid"]));
        Ok((is_new && ready == before.len()).then_some(()))
    })
    .expect("restarted");
    settled(services);
    let texts = texts(services);
    assert!(texts.iter().all(|text| text.contains("functions = 8")), "{texts:?}");
    println!(
        "figure: groups: another profile on {} nodes in {:.1} s",
        before.len(),
        begin.elapsed().as_secs_f64()
    );
}
