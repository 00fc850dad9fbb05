//! Cassandra grows from three to four members below services of Contrail: what is recreated
//! with each change is recreated once, and what takes a signal gets exactly one.

use std::thread;
use std::time::{Duration, Instant};

use palladion_api::component::names::OWNER;
use palladion_api::node_agents::names::OWNER as GROUP;
use palladion_e2e::bed;
use palladion_e2e::stack::{Services, example};
use palladion_e2e::{a_ring, wait_for};
use serde_json::{Value, json};

use super::agents::{Labelled, workers};

/// The label by which the example selects nodes for its agents.
const ROUTER: &str = "example.com/vrouter";
/// The ring, and the port of each stand-in.
const RING: (&str, &str) = ("cassandracluster", "cassandra");
const CONFIG: u16 = 8082;
pub(super) const CONTROL: u16 = 8083;
pub(super) const AGENT: u16 = 8085;
/// A member has to join, and each member that is wanted is waited for.
const GROWS_IN: Duration = Duration::from_secs(300);
/// A second signal would come in this time.
pub(super) const ONLY_ONE: Duration = Duration::from_secs(20);
/// What of the example is made here.
const SERVICES: [&str; 6] = ["cassandra", "config", "control", "kernel-mode", "settings", "kernel"];

/// The example with Cassandra alone below, in a ring of so many small members. The agents read
/// its addresses as well: in the example they read those of control alone, which stay.
fn manifest(members: u32) -> String {
    let mut stack: Value = serde_yaml::from_str(&example("contrail")).expect("YAML");
    let ring = a_ring().racks(&[("r1", members)]).manifest(RING.1);
    let ring: Value = serde_yaml::from_str(&ring).expect("YAML");
    let services = stack["spec"]["services"].as_array_mut().expect("services");
    services.retain(|s| SERVICES.iter().any(|name| s["name"] == *name));
    assert_eq!(services.len(), SERVICES.len(), "the example has them all");
    for service in services {
        let name = service["name"].as_str().expect("a name").to_string();
        let spec = &mut service["spec"];
        match name.as_str() {
            "cassandra" => spec.clone_from(&ring["spec"]),
            "config" | "control" => {
                spec["dependsOn"] = json!([all_of_the_ring()]);
                let template = &mut spec["config"]["files"][0]["template"];
                let lines = template.as_str().expect("a template").lines();
                let known = |line: &&str| !line.contains("zookeeper") && !line.contains("rabbitmq");
                *template = json!(lines.filter(known).collect::<Vec<_>>().join("\n"));
            }
            "kernel" => {
                let below = spec["dependsOn"].as_array_mut().expect("dependencies");
                below.push(all_of_the_ring());
                let template = &mut spec["config"]["files"][0]["template"];
                let more = "cassandra = {{ dependencies.cassandra.addresses | join(\",\") }}";
                *template = json!(format!("{}{more}\n", template.as_str().expect("a template")));
            }
            _ => {}
        }
    }
    stack.to_string()
}

/// Nobody starts before all are there, and reads of two first.
fn all_of_the_ring() -> Value {
    json!({ "kind": "CassandraCluster", "name": RING.1, "minimum": "All" })
}

/// Addresses of a service in a text that a stand-in has read.
fn addresses(text: &str, of: &str) -> usize {
    let own = |line: &'_ str| line.strip_prefix(of)?.strip_prefix(" = ").map(str::to_string);
    let line = text.lines().find_map(own);
    line.map_or(0, |all| all.split(',').filter(|one| !one.is_empty()).count())
}

/// A pod with the port of its stand-in.
pub(super) struct Standin {
    pub(super) name: String,
    pub(super) uid: String,
    pub(super) port: u16,
}

/// The pods of a service, by a label.
pub(super) fn pods(services: &Services, label: &str, of: &str, port: u16) -> Vec<Standin> {
    let all = bed().list(services.namespace, "pods").expect("pods");
    let own = all.iter().filter(|pod| pod["metadata"]["labels"][label] == of);
    own.map(|pod| {
        let text = |key: &str| pod["metadata"][key].as_str().unwrap_or_default().to_string();
        Standin { name: text("name"), uid: text("uid"), port }
    })
    .collect()
}

/// Wait until each of them has read another text.
pub(super) fn wait_signalled(services: &Services, all: &[&Standin]) {
    for seen in all {
        wait_for("a signal", GROWS_IN, || {
            let loads = services.loads_at(&seen.name, seen.port)?;
            Ok((loads.len() > 1).then_some(()))
        })
        .unwrap_or_else(|e| panic!("{}: {e:#}", seen.name));
    }
}

/// When it heard that a service below has another address, in milliseconds since 1970: with one
/// signal, in the same pod and the same container. Its texts have so many before and after.
pub(super) fn heard_once(services: &Services, seen: &Standin, of: &str, counts: [usize; 2]) -> i64 {
    let pod = services.pod(&seen.name);
    assert_eq!(pod["metadata"]["uid"], seen.uid.as_str(), "{} is the same", seen.name);
    let containers = pod["status"]["containerStatuses"].as_array().expect("containers");
    assert!(containers.iter().all(|c| c["restartCount"] == 0), "{}: {containers:?}", seen.name);
    let loads = services.loads_at(&seen.name, seen.port).expect("the stand-in");
    let causes: Vec<&str> = loads.iter().map(|(_, cause, _)| cause.as_str()).collect();
    assert_eq!(causes, ["start", "SIGHUP"], "{} was signalled once", seen.name);
    let told: Vec<usize> = loads.iter().map(|(_, _, text)| addresses(text, of)).collect();
    assert_eq!(told, counts, "{}: {loads:?}", seen.name);
    loads[1].0
}

pub(super) fn a_fourth_member() {
    let nodes = workers(&bed().cluster);
    let labelled = Labelled(ROUTER);
    labelled.set(&nodes[0], "kernel");
    let services = Services::start("stack-scale", &manifest(3));
    services.wait_long("stack", "contrail");
    let config = pods(&services, OWNER, "config", CONFIG);
    let control = pods(&services, OWNER, "control", CONTROL);
    let agents = pods(&services, GROUP, "kernel", AGENT);
    assert_eq!((config.len(), control.len(), agents.len()), (2, 2, 1));
    for seen in config.iter().chain(&control).chain(&agents) {
        let loads = services.loads_at(&seen.name, seen.port).expect("the stand-in");
        assert_eq!(loads.len(), 1, "{} has read one text: {loads:?}", seen.name);
        assert_eq!(addresses(&loads[0].2, RING.1), 3, "{}: {loads:?}", seen.name);
    }
    let begin = Instant::now();
    services.apply(&manifest(4));
    let joined = wait_for("a fourth member on record", GROWS_IN, || {
        let ring = services.get(RING.0, RING.1)?;
        let nodes = ring["status"]["service"]["nodes"].as_array().map(Vec::len);
        Ok((nodes == Some(4)).then(|| jiff::Timestamp::now().as_millisecond()))
    })
    .expect("it joins");
    let grown = begin.elapsed();
    let signalled: Vec<&Standin> = control.iter().chain(&agents).collect();
    wait_signalled(&services, &signalled);
    services.wait_long("stack", "contrail");
    let new: Vec<String> =
        pods(&services, OWNER, "config", CONFIG).into_iter().map(|seen| seen.uid).collect();
    thread::sleep(ONLY_ONE);
    let after = pods(&services, OWNER, "config", CONFIG);
    let uids: Vec<String> = after.iter().map(|seen| seen.uid.clone()).collect();
    assert_eq!(uids, new, "config is recreated once");
    let is_old = |uid: &String| config.iter().any(|seen| seen.uid == *uid);
    assert!(uids.len() == config.len() && !uids.iter().any(is_old), "all of it: {uids:?}");
    for seen in &after {
        let loads = services.loads_at(&seen.name, seen.port).expect("the stand-in");
        let counts: Vec<usize> = loads.iter().map(|l| addresses(&l.2, RING.1)).collect();
        assert_eq!(counts, [4], "{} has read one text, of four: {loads:?}", seen.name);
    }
    let heard: Vec<i64> =
        signalled.iter().map(|seen| heard_once(&services, seen, RING.1, [3, 4])).collect();
    let last = heard.iter().max().copied().unwrap_or_default();
    println!(
        "figure: d1-scale: a fourth member after {:.0} s, the last of {} signals {} ms after it was on record, no restart",
        grown.as_secs_f64(),
        heard.len(),
        last - joined
    );
    services.end();
}
