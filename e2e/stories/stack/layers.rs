//! The layers of Contrail, from one manifest on nothing: who starts before whom, by three
//! clocks. The kubelet says when gates and containers ended and started, the audit log of the
//! API server when the operator gave each ticket, and each stand-in when it was started.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use palladion_api::component::names::OWNER;
use palladion_api::gate::TICKET;
use palladion_api::node_agents::names::OWNER as GROUP;
use palladion_e2e::bed;
use palladion_e2e::bed::{OPERATOR_USER, condition, text};
use palladion_e2e::stack::{Services, example};
use palladion_e2e::wait_for;
use palladion_testbed::audit::AuditMark;
use serde_json::{Value, json};

use super::agents::{Labelled, workers};
use super::gates::{millis, started};
use super::manifest::service;
use super::scale::{
    AGENT, CONTROL as CONTROL_PORT, ONLY_ONE, Standin, heard_once, pods, wait_signalled,
};

/// Nine servers of three systems are made before the first of the other pods starts.
const LONG: Duration = Duration::from_secs(1_200);
/// The example asks for each pod again every minute.
const AFTER_RESYNC: Duration = Duration::from_secs(150);

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
    let all = bed().list(services.namespace, "pods").expect("pods");
    for layer in layers() {
        let own: Vec<&Value> =
            all.iter().filter(|pod| pod["metadata"]["labels"][layer.label] == layer.name).collect();
        assert_eq!(own.len(), layer.pods, "pods of {}", layer.name);
        let compare = |pod: &Value| in_order(&services, &layer, pod, &tickets, &seen);
        let compared: usize = own.into_iter().map(compare).sum();
        println!("{}: compared with {compared} times of what is below", layer.name);
        assert!(compared > 0, "all below {} was away since it became available", layer.name);
    }
    registered(&services, &nodes, 2);
    another_control(&services);
    registered(&services, &nodes, 3);
    one_control_less(&services);
    registered(&services, &nodes, 2);
    services.end();
}

/// The third control goes: nobody else restarts, the agents hear of it, and nobody has it
/// registered any more.
fn one_control_less(services: &Services) {
    let before = uids(services);
    services.apply(&example("contrail"));
    wait_for("the third control to go", AFTER_RESYNC, || {
        Ok(bed().get(services.namespace, "pod", "control-2")?.is_none().then_some(()))
    })
    .expect("its pod is gone");
    wait_for("config to forget it", AFTER_RESYNC, || {
        for pod in ["config-0", "config-1"] {
            let all = services.ask_at(pod, 8082, &["/nodes"])?;
            let mut names = all.as_array().into_iter().flatten().map(|node| &node["name"]);
            if names.any(|name| name == "control-2") {
                return Ok(None);
            }
        }
        Ok(Some(()))
    })
    .expect("it is registered nowhere");
    let after = uids(services);
    let left: Vec<&String> = before.keys().filter(|name| !after.contains_key(*name)).collect();
    assert_eq!(left, ["control-2"]);
    for (name, uid) in &after {
        assert_eq!(before.get(name), Some(uid), "{name} is the same pod");
    }
}

/// A third control: each agent hears of it by one signal, and in the process that it has. All
/// other pods stay as they are, and the new one is registered.
fn another_control(services: &Services) {
    let mut stack: Value = serde_yaml::from_str(&example("contrail")).expect("YAML");
    let all = stack["spec"]["services"].as_array_mut().expect("services");
    let control = all.iter_mut().find(|s| s["name"] == CONTROL.1).expect("control");
    control["spec"]["replicas"] = json!(3);
    let agents: Vec<Standin> =
        ["kernel", "sriov"].iter().flat_map(|of| pods(services, GROUP, of, AGENT)).collect();
    assert_eq!(agents.len(), 2, "an agent of each group");
    let before = uids(services);
    services.apply(&stack.to_string());
    wait_signalled(services, &agents.iter().collect::<Vec<&Standin>>());
    thread::sleep(ONLY_ONE);
    let heard: Vec<i64> =
        agents.iter().map(|seen| heard_once(services, seen, CONTROL.1, [2, 3])).collect();
    let after = uids(services);
    for (name, uid) in &before {
        assert_eq!(after.get(name), Some(uid), "{name} is the same pod");
    }
    let new: Vec<&String> = after.keys().filter(|name| !before.contains_key(*name)).collect();
    assert_eq!(new, ["control-2"]);
    for pod in ["control-0", "control-1"] {
        let loads = services.loads_at(pod, CONTROL_PORT).expect("the stand-in");
        assert_eq!(loads.len(), 1, "the text of {pod} names no other control: {loads:?}");
    }
    let ready = millis(&condition(&services.pod("control-2"), "Ready")["lastTransitionTime"]);
    let last = heard.iter().max().copied().unwrap_or_default();
    println!("figure: d1-stack: a third control, two signals, the last {} ms later", last - ready);
}

/// The uid of each pod.
fn uids(services: &Services) -> BTreeMap<String, String> {
    let all = bed().list(services.namespace, "pods").expect("pods");
    let both = |pod: &Value| {
        (text(pod, "/metadata/name").to_string(), text(pod, "/metadata/uid").to_string())
    };
    all.iter().map(both).collect()
}

/// Ticket, gate, container, process: each after the one before, and the ticket after all
/// that is below. Of how many of these the first time at which they were available is known.
fn in_order(
    services: &Services,
    layer: &Layer,
    pod: &Value,
    tickets: &BTreeMap<String, i64>,
    seen: &BTreeMap<(&'static str, &'static str), Seen>,
) -> usize {
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
    let mut compared = 0;
    for below in &layer.below {
        let found = seen[below];
        let first = found.there.unwrap_or_else(|| panic!("{} was never seen active", below.1));
        assert!(found.away <= ticket, "{name} got its ticket while {} was away", below.1);
        let object = services.get(below.0, below.1).expect("the dependency");
        let since = millis(&condition(&object, "Available")["lastTransitionTime"]);
        // One that was away since has a later time, which says nothing of the first.
        if since <= first {
            assert!(since <= ticket, "{name} got its ticket before {} was available", below.1);
            compared += 1;
        }
    }
    compared
}

/// Both configs, so many controls, and the agents by their nodes.
fn registered(services: &Services, nodes: &[String], controls: usize) {
    let controls = (0..controls).map(|ordinal| format!("control-{ordinal}"));
    let mut wanted: Vec<String> = ["config-0", "config-1"].map(str::to_string).to_vec();
    wanted.extend(controls.chain([nodes[0].clone(), nodes[1].clone()]));
    wanted.sort_unstable();
    let count = format!("{0}/{0}", wanted.len());
    let done = services.wait(("registration", "nodes"), &format!("{count} registered"), |o| {
        o["status"]["registered"] == count.as_str()
    });
    let entries = done["status"]["entries"].as_array().cloned().unwrap_or_default();
    let mut names: Vec<&str> = entries.iter().filter_map(|e| e["name"].as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, wanted);
    // Each stand-in keeps what it was told itself, as long as it runs: one that was started again
    // meanwhile is asked at the next resync, and has all registered again.
    wait_for("config to know them all", AFTER_RESYNC, || {
        let mut known: Vec<String> = Vec::new();
        for pod in ["config-0", "config-1"] {
            let all = services.ask_at(pod, 8082, &["/nodes"])?;
            let all = all.as_array().cloned().unwrap_or_default();
            known.extend(all.iter().filter_map(|n| n["name"].as_str().map(str::to_string)));
        }
        let lacks: Vec<&String> = wanted.iter().filter(|name| !known.contains(name)).collect();
        anyhow::ensure!(lacks.is_empty(), "config does not know {lacks:?}: {known:?}");
        Ok(Some(()))
    })
    .expect("all are registered");
}
