//! The layers of Contrail, from one manifest on nothing: who starts before whom, by three
//! clocks. The kubelet says when gates and containers ended and started, the audit log of the
//! API server when the operator gave each ticket, and each stand-in when it was started.

use std::collections::BTreeMap;
use std::time::Duration;

use palladion_api::gate::TICKET;
use palladion_e2e::bed;
use palladion_e2e::bed::{OPERATOR_USER, condition};
use palladion_e2e::stack::{Services, example};
use palladion_e2e::wait_for;
use palladion_testbed::audit::AuditMark;
use serde_json::Value;

use super::agents::{Labelled, workers};
use super::gates::{millis, started};
use super::manifest::service;

/// Nine servers of three systems are made before the first of the other pods starts.
const LONG: Duration = Duration::from_secs(1_200);

/// The label by which the example selects nodes for its agents.
const ROUTER: &str = "example.com/vrouter";

const SYSTEMS: [(&str, &str); 3] = [
    ("cassandracluster", "cassandra"),
    ("zookeepercluster", "zookeeper"),
    ("rabbitmqcluster", "rabbitmq"),
];
const CONFIG: (&str, &str) = ("component", "config");
const CONTROL: (&str, &str) = ("component", "control");

/// A service with the port of its stand-in, the label of its pods, and what they wait for.
struct Layer {
    name: &'static str,
    label: &'static str,
    pods: usize,
    port: u16,
    below: Vec<(&'static str, &'static str)>,
}

fn layers() -> Vec<Layer> {
    use palladion_api::component::names::OWNER;
    use palladion_api::node_agents::names::OWNER as GROUP;
    let layer = |name, label, pods, port, below| Layer { name, label, pods, port, below };
    let all_and_config = SYSTEMS.into_iter().chain([CONFIG]).collect();
    vec![
        layer("config", OWNER, 2, 8082, SYSTEMS.to_vec()),
        layer("control", OWNER, 2, 8083, SYSTEMS.to_vec()),
        layer("kubemanager", OWNER, 1, 8090, all_and_config),
        layer("webui", OWNER, 1, 8143, vec![SYSTEMS[0], CONFIG]),
        layer("kernel", GROUP, 1, 8085, vec![CONTROL]),
        layer("sriov", GROUP, 1, 8085, vec![CONTROL]),
    ]
}

/// What was seen of a dependency while everything started, in milliseconds since 1970.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// When it was last asked for and not active: no gate above it was open by then.
    away: i64,
    /// When it was first seen active.
    there: Option<i64>,
}

/// Look at every dependency again and again until the whole stack is available.
fn watch(services: &Services) -> BTreeMap<(&'static str, &'static str), Seen> {
    let mut seen: BTreeMap<_, Seen> =
        SYSTEMS.into_iter().chain([CONFIG, CONTROL]).map(|of| (of, Seen::default())).collect();
    let there = wait_for("the whole stack to be available", LONG, || {
        for ((kind, name), seen) in seen.iter_mut().filter(|(_, seen)| seen.there.is_none()) {
            let asked = jiff::Timestamp::now().as_millisecond();
            let object = services.get(kind, name).unwrap_or_default();
            match object["status"]["service"]["active"] == true {
                true => seen.there = Some(jiff::Timestamp::now().as_millisecond()),
                false => seen.away = asked,
            }
        }
        let stack = services.get("stack", "contrail")?;
        Ok((condition(&stack, "Available")["status"] == "True").then_some(()))
    });
    there.unwrap_or_else(|error| {
        let stack = services.get("stack", "contrail").unwrap_or_default();
        panic!("{error:#}: {}", stack["status"]["services"])
    });
    seen
}

/// When the operator first patched each pod, which gave it its ticket, in milliseconds.
fn tickets(namespace: &str, since: AuditMark) -> BTreeMap<String, i64> {
    let asked = bed().cluster.audit_entries(since, OPERATOR_USER).expect("the audit log");
    let mut tickets = BTreeMap::new();
    for entry in asked {
        let is_patch = (entry.verb.as_str(), entry.resource.as_str()) == ("patch", "pods");
        if is_patch && entry.namespace == namespace && entry.code == 200 {
            let time: jiff::Timestamp = entry.time.parse().expect("a time of the audit log");
            tickets.entry(entry.name).or_insert(time.as_millisecond());
        }
    }
    tickets
}

/// `contrail.yaml` on nothing: each layer starts when what is below it is available.
pub(super) fn contrail() {
    let nodes = workers(&bed().cluster);
    let labelled = Labelled(ROUTER);
    labelled.set(&nodes[0], "kernel");
    labelled.set(&nodes[1], "sriov");
    let mark = bed().cluster.audit_mark().expect("the audit log");
    let services = Services::start("stack-contrail", &example("contrail"));
    let seen = watch(&services);
    let stack = services.get("stack", "contrail").expect("the Stack");
    for (name, layer) in [
        ("cassandra", 0),
        ("zookeeper", 0),
        ("rabbitmq", 0),
        ("config", 1),
        ("control", 1),
        ("kubemanager", 2),
        ("webui", 2),
        ("kernel", 2),
        ("sriov", 2),
    ] {
        assert_eq!(service(&stack, name)["layer"], layer, "{name}");
    }
    let tickets = tickets(services.namespace, mark);
    let pods = bed().list(services.namespace, "pods").expect("pods");
    for layer in layers() {
        let own: Vec<&Value> = pods
            .iter()
            .filter(|pod| pod["metadata"]["labels"][layer.label] == layer.name)
            .collect();
        assert_eq!(own.len(), layer.pods, "pods of {}", layer.name);
        for pod in own {
            in_order(&services, &layer, pod, &tickets, &seen);
        }
    }
    registered(&services, &nodes);
    services.end();
}

/// Ticket, gate, container, process: each after the one before, and the ticket after all
/// that is below.
fn in_order(
    services: &Services,
    layer: &Layer,
    pod: &Value,
    tickets: &BTreeMap<String, i64>,
    seen: &BTreeMap<(&'static str, &'static str), Seen>,
) {
    let name = pod["metadata"]["name"].as_str().expect("a name");
    assert!(pod["metadata"]["labels"][TICKET].is_string(), "{name} has no ticket");
    let ticket = *tickets.get(name).unwrap_or_else(|| panic!("nobody gave {name} a ticket"));
    let (passed, began) = started(pod);
    let record = services.ask_at(name, layer.port, &["/record"]).expect("the stand-in");
    let process = record["started"].as_i64().expect("when it was started");
    println!("{name}: ticket {ticket}, gate {passed}, container {began}, process {process}");
    // The kubelet cuts its times to whole seconds, the others do not.
    assert!(ticket / 1000 * 1000 <= passed, "{name} passed its gate without a ticket");
    assert!(passed <= began, "a container of {name} started before its gate was passed");
    assert!(began <= process, "the process of {name} is older than its container");
    assert!(ticket <= process, "the process of {name} is older than its ticket");
    for below in &layer.below {
        let found = seen[below];
        let first = found.there.unwrap_or_else(|| panic!("{} was never seen active", below.1));
        assert!(found.away <= ticket, "{name} got its ticket while {} was away", below.1);
        let object = services.get(below.0, below.1).expect("the dependency");
        let since = millis(&condition(&object, "Available")["lastTransitionTime"]);
        // One that was away since has a later time, which says nothing of the first.
        if since <= first {
            assert!(since <= ticket, "{name} got its ticket before {} was available", below.1);
        }
    }
}

/// Two controls, and the agents by their nodes.
fn registered(services: &Services, nodes: &[String]) {
    let done = services.wait(("registration", "nodes"), "all four to be registered", |o| {
        o["status"]["registered"] == "4/4"
    });
    let entries = done["status"]["entries"].as_array().cloned().unwrap_or_default();
    let mut names: Vec<&str> = entries.iter().filter_map(|e| e["name"].as_str()).collect();
    names.sort_unstable();
    let mut wanted = vec!["control-0", "control-1", nodes[0].as_str(), nodes[1].as_str()];
    wanted.sort_unstable();
    assert_eq!(names, wanted);
    // Each stand-in keeps what it was told itself.
    let mut known: Vec<String> = Vec::new();
    for pod in ["config-0", "config-1"] {
        let all = services.ask_at(pod, 8082, &["/nodes"]).expect("the register");
        let all = all.as_array().cloned().unwrap_or_default();
        known.extend(all.iter().filter_map(|n| n["name"].as_str().map(str::to_string)));
    }
    for name in wanted {
        assert!(known.iter().any(|k| k == name), "config does not know {name}: {known:?}");
    }
}
