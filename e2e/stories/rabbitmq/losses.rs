//! Volumes that have forgotten: a node never comes back under its old name with nothing.

use std::thread;
use std::time::Duration;

use palladion_e2e::bed;
use palladion_e2e::bed::{condition, text};
use palladion_e2e::rabbitmq::{Cluster, Publishing};
use serde_json::json;

use super::changes::published;
use super::forming::three;

/// The member that is wiped.
const WIPED: u32 = 1;
/// Where its volume is mounted.
const VOLUME: &str = "/palladion";

pub fn wiped() {
    let cluster = three();
    let publishing = Publishing::begin(&cluster).expect("publishing");
    let before = cluster.service().member(WIPED);
    let volume = text(&before, "/spec/volumeID").to_string();
    cluster.service().wipe(WIPED, VOLUME);
    cluster.service().wait("the member to be replaced", |o| !o["status"]["turn"].is_null());
    cluster.wait_nodes(3);
    let after = cluster.service().member(WIPED);
    assert_ne!(text(&after, "/spec/volumeID"), volume, "another volume");
    assert_eq!(after["spec"]["replace"], json!(null), "nothing is left of it");
    publishing.follow(&cluster).expect("through the new one, too");
    published(publishing, &cluster);
}

pub fn all_killed() {
    let cluster = three();
    let publishing = Publishing::begin(&cluster).expect("publishing");
    let name = cluster.name;
    bed().kubectl(&format!("delete pods --all -n {name} --grace-period=1")).expect("deleted");
    let away = |o: &serde_json::Value| condition(o, "Available")["status"] == "False";
    cluster.service().wait("the majority to be missed", away);
    cluster.wait_nodes(3);
    let published = publishing.end(&cluster).expect("all that was confirmed is there");
    let (count, gap) = (published.confirmed.len(), published.longest_gap);
    println!("{count} messages confirmed, none missing; nothing was taken for {gap:?}");
    assert!(count > 0, "nothing was published");
}

/// A queue has two replicas, and the volume of one of its nodes is lost: nobody forgets the
/// node, because the queue would lose its majority.
pub fn majority() {
    let cluster = Cluster::form("rmq-majority", 3, &[]);
    let mut client = cluster.client();
    client.queue_of("two", "quorum", Some(2)).expect("a queue");
    client.publish("two", "precious").expect("confirmed");
    let on =
        "[N || Q <- rabbit_amqqueue:list(), N <- maps:get(nodes, amqqueue:get_type_state(Q))].";
    let told = cluster.ctl(0, &["eval", on]);
    let lost = (1..3).find(|n| told.contains(&cluster.service().member_name(*n))).expect("another");
    cluster.service().wipe(lost, VOLUME);
    let asked = cluster.service().wait("a user to be asked", |o| {
        condition(o, "Degraded")["reason"] == "QueuesWouldLoseQuorum"
    });
    let said = condition(&asked, "Degraded")["message"].to_string();
    assert!(said.contains("two"), "{said}");
    thread::sleep(Duration::from_secs(10));
    let members = cluster.ctl(0, &["eval", "length(rabbit_mnesia:cluster_nodes(all))."]);
    assert_eq!(members.trim(), "3", "nobody was forgotten");
    cluster.service().end();
}
