//! A node whose connections to the others are cut, and healed again: it stops serving, the
//! others go on, nobody is forgotten, and every confirmed message is there.

use std::cell::Cell;
use std::thread;
use std::time::{Duration, Instant};

use palladion_api::conditions::{ALL_NODES_SEEN, PARTITIONED};
use palladion_api::reasons::Reason;
use palladion_e2e::bed;
use palladion_e2e::bed::{condition, text, wait_for};
use palladion_e2e::rabbitmq::{PATIENCE, Publishing};
use palladion_testbed::faults::PodCut;
use serde_json::Value;

use super::changes::published;
use super::forming::three;

/// The port on which nodes speak to each other.
const DISTRIBUTION: u16 = 25672;
/// The one that is cut off.
const CUT: u32 = 2;
/// What its agent says of it then.
const PAUSED: &str = "sees no majority of its cluster";

/// The nodes of the cluster and their volumes, whether they run or not.
fn record(status: &Value) -> Vec<(Value, Value)> {
    let nodes = status["cluster"].as_array().cloned().unwrap_or_default();
    nodes.into_iter().map(|node| (node["name"].clone(), node["volumeID"].clone())).collect()
}

pub fn cut_off_and_healed() {
    let cluster = three();
    let service = cluster.service();
    let publishing = Publishing::begin(&cluster).expect("publishing");
    let (name, pods) = (service.member_name(CUT), service.pods());
    let before = record(&service.status());
    assert_eq!(before.len(), 3);
    let begin = Instant::now();
    bed().cluster.cut_pod(cluster.name, &name, PodCut::Port(DISTRIBUTION)).expect("cut");
    let missed = service.wait("a node to be missed", |o| {
        let seen = condition(o, ALL_NODES_SEEN);
        seen["status"] == "False" && seen["reason"] == Reason::NodesUnseen.as_str()
    });
    let said = condition(&missed, ALL_NODES_SEEN)["message"].to_string();
    let named = begin.elapsed();
    assert!(said.contains(&name), "{said}");
    wait_for("the node that is cut off to stop serving", PATIENCE, || {
        let member = bed().get(cluster.name, "servicemember", &name)?.unwrap_or_default();
        Ok(text(&member, "/status/server/message").contains(PAUSED).then_some(()))
    })
    .expect("it sees no majority");
    let paused = begin.elapsed();
    let partitioned = Cell::new(false);
    let note = |owner: &Value| {
        let is_so = condition(owner, PARTITIONED)["status"] == "True";
        partitioned.set(partitioned.get() || is_so);
    };
    // Who hears first that it is gone stops for a moment, too, while the other still sees it: to
    // RabbitMQ that is a partial partition.
    for _ in 0..15 {
        let owner = service.owner().expect("the object");
        let status = &owner["status"];
        assert!(status["turn"].is_null() && status["ask"].is_null(), "{status:#}");
        assert_eq!(record(status), before, "nobody is forgotten");
        note(&owner);
        thread::sleep(Duration::from_secs(2));
    }
    service.wait("two of three to serve", |o| {
        note(o);
        assert_eq!(record(&o["status"]), before, "nobody is forgotten");
        o["status"]["service"]["active"] == true && o["status"]["service"]["ready"] == 2
    });
    let served = begin.elapsed();
    let healed = Instant::now();
    bed().cluster.heal_pod(cluster.name, &name).expect("healed");
    service.wait("all to see each other", |o| {
        note(o);
        condition(o, ALL_NODES_SEEN)["status"] == "True"
            && condition(o, PARTITIONED)["status"] == "False"
    });
    cluster.wait_nodes(3);
    let back = healed.elapsed();
    assert_eq!(service.pods(), pods, "no pod was replaced");
    assert_eq!(record(&service.status()), before, "the same cluster");
    let published = published(publishing, &cluster);
    println!(
        "figure: rmq-cold: {published}; cut off: named after {:.0} s, paused after {:.0} s, the others serve after {:.0} s at the latest, back {:.0} s after it was healed; reported as partitioned: {}",
        named.as_secs_f64(),
        paused.as_secs_f64(),
        served.as_secs_f64(),
        back.as_secs_f64(),
        partitioned.get()
    );
}
