//! Volumes that have forgotten: a node never comes back under its old name with nothing.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use palladion_api::labels::ALLOW_FORGET;
use palladion_api::reasons::Reason;
use palladion_e2e::bed;
use palladion_e2e::bed::{condition, text, wait_for};
use palladion_e2e::rabbitmq::{Client, Cluster, PATIENCE, Publishing};
use serde_json::{Value, json};

use super::changes::published;
use super::forming::{three, three_apart};

/// The member that is wiped.
const WIPED: u32 = 1;
/// Messages before all are killed, and after they are back.
const SOME: usize = 50;
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
    publishing.wait_confirmed(SOME).expect("confirmed before they are killed");
    let name = cluster.name;
    let words = format!("delete pods --all -n {name} --grace-period=1 --wait=false");
    bed().kubectl(&words).expect("deleted");
    let away = |o: &serde_json::Value| condition(o, "Available")["status"] == "False";
    cluster.service().wait("the majority to be missed", away);
    cluster.wait_nodes(3);
    publishing.wait_confirmed(SOME).expect("confirmed after they were killed");
    let published = publishing.end(&cluster).expect("all that was confirmed is there");
    println!("figure: rmq-cold: {published}");
}

/// Messages are confirmed by A and B, B is wiped and A goes: C, which has not heard of them,
/// goes on with nobody, although it is one of two that could.
pub fn wiped_while_another_is_down() {
    const A: u32 = 0;
    const B: u32 = 1;
    const C: u32 = 2;
    const QUEUE: &str = "ordered";
    let cluster = three_apart();
    let service = cluster.service();
    cluster.client().queue(QUEUE, "quorum").expect("a queue");
    // A node writes with a delay which replicas it has.
    thread::sleep(Duration::from_secs(5));
    let c_is_away = service.keep_away(&[C]);
    let messages: BTreeSet<String> = (0..10).map(|number| format!("{number:02}")).collect();
    for message in &messages {
        // The queue may have lost its leader: what is not confirmed may be there twice.
        wait_for("two of three to confirm", PATIENCE, || {
            let mut client = Client::open(cluster.forwarded()?[0], cluster.user()?.login())?;
            Ok(client.publish(QUEUE, message).ok())
        })
        .expect("confirmed");
    }
    let before = service.member(B);
    service.wipe(B, VOLUME);
    let a_is_away = service.keep_away(&[A]);
    let begin = Instant::now();
    drop(c_is_away);
    wait_says(&cluster, B, |status| status["volume"]["state"] == "Lost");
    let waits = Reason::WaitingForTables.as_str();
    wait_says(&cluster, C, |status| status["server"]["reason"] == waits);
    thread::sleep(Duration::from_secs(20));
    let status = service.status();
    assert!(status["ask"].is_null() && status["turn"].is_null(), "{status:#}");
    assert_eq!(status["service"]["active"], false, "nobody serves");
    assert_eq!(service.member(B)["spec"]["volumeID"], before["spec"]["volumeID"], "B is there");
    let missed = begin.elapsed();
    drop(a_is_away);
    service.wait("another volume of B", |_| {
        let volume = &service.member(B)["spec"]["volumeID"];
        volume.is_string() && *volume != before["spec"]["volumeID"]
    });
    cluster.wait_nodes(3);
    cluster.has_all(QUEUE, &messages).expect("all that was confirmed");
    println!(
        "figure: rmq-wiped: nobody served for {:.0} s with B wiped and A down; all three again after {:.0} s",
        missed.as_secs_f64(),
        begin.elapsed().as_secs_f64()
    );
}

/// Wait until the agent in the pod that a member has now says this.
fn wait_says(cluster: &Cluster, ordinal: u32, says: impl Fn(&Value) -> bool) {
    let name = cluster.service().member_name(ordinal);
    let mut last = Value::Null;
    wait_for(&format!("the agent of {name} to say so"), PATIENCE, || {
        last = bed().get(cluster.name, "servicemember", &name)?.unwrap_or_default();
        let pod = bed().get(cluster.name, "pod", &name)?.unwrap_or_default();
        let is_its_own = last["status"]["agent"]["podUID"] == pod["metadata"]["uid"];
        Ok((is_its_own && says(&last["status"])).then_some(()))
    })
    .unwrap_or_else(|e| panic!("{e:#}; {:#}", last["status"]));
}

/// In the order in which a forced boot was seen to lose them: messages are confirmed by A and
/// B, A goes, and B, which ran longer than all others, is wiped. Neither A, which has them all,
/// nor C goes on without the tables of B: that is said, and nobody is forced.
pub fn last_one_wiped() {
    const A: u32 = 0;
    const B: u32 = 1;
    const C: u32 = 2;
    let cluster = Cluster::form_apart("rmq-last", 3);
    let service = cluster.service();
    let c_is_away = service.keep_away(&[C]);
    let a_is_away = service.keep_away(&[A]);
    wait_says(&cluster, B, |status| text(status, "/server/message").contains("no majority"));
    let volume = service.member(B)["spec"]["volumeID"].clone();
    service.wipe(B, VOLUME);
    drop((c_is_away, a_is_away));
    let begin = Instant::now();
    wait_says(&cluster, B, |status| status["volume"]["state"] == "Lost");
    let waits = Reason::WaitingForTables.as_str();
    for ordinal in [A, C] {
        wait_says(&cluster, ordinal, |status| status["server"]["reason"] == waits);
    }
    thread::sleep(Duration::from_secs(20));
    let owner = service.owner().expect("the object");
    let (status, degraded) = (&owner["status"], condition(&owner, "Degraded"));
    assert!(status["ask"].is_null() && status["turn"].is_null(), "{status:#}");
    assert_eq!(status["service"]["active"], false, "nobody is forced to go on");
    assert_eq!(service.member(B)["spec"]["volumeID"], volume, "nobody is forgotten");
    let said = degraded["message"].to_string();
    assert!(said.contains(&service.member_name(B)), "whose volume is lost: {said}");
    assert!(said.contains("waits for the tables of"), "and what waits for it: {said}");
    println!("figure: rmq-wiped: said after {:.0} s: {said}", begin.elapsed().as_secs_f64());
    service.end();
}

/// All are stopped, the last one stays away: the others wait for its tables, and say whose.
pub fn one_never_back() {
    const LAST: u32 = 2;
    const QUEUE: &str = "cold";
    let cluster = three_apart();
    let service = cluster.service();
    let mut client = cluster.client();
    client.queue(QUEUE, "quorum").expect("a queue");
    thread::sleep(Duration::from_secs(5));
    let messages: BTreeSet<String> = (0..10).map(|number| format!("{number:02}")).collect();
    for message in &messages {
        client.publish(QUEUE, message).expect("confirmed");
    }
    let volumes = [0, 1, 2].map(|n| service.member(n)["spec"]["volumeID"].clone());
    let first = service.keep_away(&[0]);
    let second = service.keep_away(&[1]);
    let last = service.keep_away(&[LAST]);
    drop((first, second));
    let begin = Instant::now();
    let name = service.member_name(LAST);
    let named = service.wait("those that are back to say for whom they wait", |o| {
        let said = condition(o, "Degraded")["message"].to_string();
        said.contains("waits for the tables of") && said.contains(&name)
    });
    println!("{}", condition(&named, "Degraded")["message"]);
    let said = begin.elapsed();
    thread::sleep(Duration::from_secs(20));
    let status = service.status();
    assert!(status["ask"].is_null() && status["turn"].is_null(), "{status:#}");
    assert_eq!(status["service"]["active"], false, "nobody is forced to go on");
    drop(last);
    cluster.wait_nodes(3);
    assert_eq!([0, 1, 2].map(|n| service.member(n)["spec"]["volumeID"].clone()), volumes);
    cluster.has_all(QUEUE, &messages).expect("all that was confirmed");
    println!(
        "figure: rmq-cold: said after {:.0} s for whom they wait; all three again after {:.0} s",
        said.as_secs_f64(),
        begin.elapsed().as_secs_f64()
    );
}

/// Have this node lead the queue. A leader that loses its only follower can still take it out of the
/// queue; a follower that loses its leader can do nothing.
fn led_by(cluster: &Cluster, number: u32) {
    let member = cluster.service().member_name(number);
    let told = cluster.ctl(number, &["eval", "node()."]);
    let node = told.trim().trim_matches('\'');
    assert!(node.contains(&member), "{told}");
    let give = format!(
        "[ra:transfer_leadership(P, {{element(1, P), '{node}'}}) || Q <- rabbit_amqqueue:list(), P <- [amqqueue:get_pid(Q)]]."
    );
    cluster.ctl(0, &["eval", &give]);
    let leads = "[element(2, amqqueue:get_pid(Q)) || Q <- rabbit_amqqueue:list()].";
    wait_for("the queue to have this leader", Duration::from_secs(60), || {
        Ok(cluster.ctl(0, &["eval", leads]).contains(node).then_some(()))
    })
    .expect("a leader");
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
    led_by(&cluster, lost);
    cluster.service().wipe(lost, VOLUME);
    let asked = cluster.service().wait("a user to be asked", |o| {
        condition(o, "Degraded")["reason"] == "QueuesWouldLoseQuorum"
    });
    let said = condition(&asked, "Degraded")["message"].to_string();
    assert!(said.contains("two"), "{said}");
    thread::sleep(Duration::from_secs(10));
    let members = cluster.ctl(0, &["eval", "length(rabbit_mnesia:cluster_nodes(all))."]);
    assert_eq!(members.trim(), "3", "nobody was forgotten");
    // Allowed, the node is forgotten, and the queue is left to whoever allowed it.
    let volume = cluster.service().member(lost)["spec"]["volumeID"].clone();
    let nonce = text(&asked, "/status/ask/nonce");
    cluster.service().annotate(&format!("{ALLOW_FORGET}={nonce}"));
    let named = cluster.service().wait("the queue to hold up the new node", |o| {
        condition(o, "Degraded")["reason"] == Reason::QueueNamesNode.as_str()
    });
    let said = condition(&named, "Degraded")["message"].to_string();
    assert!(said.contains("two"), "{said}");
    cluster.ctl(0, &["delete_queue", "two"]);
    cluster.wait_nodes(3);
    assert_ne!(cluster.service().member(lost)["spec"]["volumeID"], volume, "another volume");
    cluster.service().end();
}
