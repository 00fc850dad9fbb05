//! Growth, shrinking and rollouts under a publisher: no node that stays is restarted, and
//! nothing that was confirmed is missing afterwards.

use std::time::{Duration, Instant};

use palladion_e2e::bed;
use palladion_e2e::bed::{condition, text, wait_for};
use palladion_e2e::rabbitmq::{Cluster, PATIENCE, Published, Publishing};
use serde_json::json;

use super::forming::three;

/// Of the fewest that a slow machine was seen to take.
const MANY: usize = 100;

pub fn published(publishing: Publishing, cluster: &Cluster) -> Published {
    let published = publishing.end(cluster).expect("all that was confirmed is there");
    let count = published.confirmed.len();
    println!("figure: {}: {published}", cluster.name);
    assert!(count > MANY, "only {count} messages were published");
    published
}

pub fn rolled() {
    let cluster = three();
    let publishing = Publishing::begin(&cluster).expect("publishing");
    let before = cluster.service().pods();
    cluster.service().patch_spec(&json!({ "config": { "log.console.level": "warning" } }));
    assert_eq!(before.len(), 3);
    cluster.service().wait_new(&before);
    cluster.wait_nodes(3);
    let gap = published(publishing, &cluster).longest_gap;
    assert!(gap < Duration::from_secs(60), "nothing was confirmed for {gap:?}");
}

pub fn grow_and_shrink() {
    // The claims of those that leave are kept, and go with the cluster.
    let cluster = Cluster::form("rmq-scale", 1, &["deletionPolicy: Delete"]);
    let publishing = Publishing::begin(&cluster).expect("publishing");
    let first = cluster.service().pods();
    cluster.set_nodes(3);
    cluster.wait_nodes(3);
    publishing.follow(&cluster).expect("through all three");
    let replicas = "length(maps:get(nodes, amqqueue:get_type_state(hd(rabbit_amqqueue:list())))).";
    assert_eq!(cluster.ctl(0, &["eval", replicas]).trim(), "3", "the queue has grown");
    let all = cluster.service().pods();
    assert!(first.iter().all(|(name, uid)| all.get(name) == Some(uid)), "a join restarted a pod");
    cluster.set_nodes(1);
    cluster.wait_nodes(1);
    wait_for("the pods of those that left to be gone", PATIENCE, || {
        Ok((cluster.service().pods() == first).then_some(()))
    })
    .expect("one pod, the first");
    publishing.follow(&cluster).expect("through the first");
    published(publishing, &cluster);
    let name = cluster.name;
    let claims = bed().list(name, "persistentvolumeclaims").expect("claims");
    assert_eq!(claims.len(), 3, "their data is kept");
    bed()
        .kubectl(&format!("delete rabbitmqcluster {name} -n {name} --wait=true --timeout=60s"))
        .expect("deleted");
    wait_for("the claims to go with the cluster", PATIENCE, || {
        Ok(bed().list(name, "persistentvolumeclaims")?.is_empty().then_some(()))
    })
    .expect("deletionPolicy Delete");
    cluster.service().end();
}

/// What an agent says of a node that has joined and is started once more, open for clients.
const IN_ITS_RESTART: &str = "has joined its cluster";

/// End the pod of whoever joins, in the restart of its node that ends a join; its name.
fn kill_a_joiner(cluster: &Cluster) -> String {
    let mut killed = String::new();
    wait_for("a joiner in its restart", PATIENCE, || {
        let status = cluster.service().owner()?["status"].take();
        let are_all_there = status["nodes"] == "5/5" && status["turn"].is_null();
        assert!(!are_all_there, "no joiner was seen in its restart");
        if status["turn"]["step"] != "Join" {
            return Ok(None);
        }
        let joiner = text(&status, "/turn/member").to_string();
        let member = bed().get(cluster.name, "servicemember", &joiner)?.unwrap_or_default();
        let said = text(&member, "/status/server/message");
        if !said.contains(IN_ITS_RESTART) {
            return Ok(None);
        }
        let name = cluster.name;
        bed().kubectl(&format!("delete pod {joiner} -n {name} --wait=false --grace-period=1"))?;
        killed = joiner;
        Ok(Some(()))
    })
    .expect("killed");
    killed
}

pub fn to_five_and_back() {
    let cluster = three();
    let publishing = Publishing::begin(&cluster).expect("publishing");
    let (before, begin) = (cluster.service().pods(), Instant::now());
    cluster.set_nodes(5);
    let killed = kill_a_joiner(&cluster);
    println!("{killed} was killed in its restart");
    cluster.wait_nodes(5);
    let grown = begin.elapsed();
    publishing.follow(&cluster).expect("through all five");
    let all = cluster.service().pods();
    assert!(before.iter().all(|(name, uid)| all.get(name) == Some(uid)), "a join restarted a pod");
    cluster.set_nodes(3);
    cluster.wait_nodes(3);
    wait_for("the pods of those that left to be gone", PATIENCE, || {
        Ok((cluster.service().pods() == before).then_some(()))
    })
    .expect("the first three, as they were");
    publishing.follow(&cluster).expect("through the first three");
    published(publishing, &cluster);
    println!(
        "figure: rmq-roll: 3 to 5 nodes in {:.0} s with a joiner killed, to 3 again after {:.0} s",
        grown.as_secs_f64(),
        begin.elapsed().as_secs_f64()
    );
}

/// A durable classic queue is on one node alone; its messages would go with it. A quorum
/// queue of two replicas on those that leave moves, with what is in it.
pub fn held() {
    let cluster = Cluster::form("rmq-held", 3, &[]);
    let user = cluster.user().expect("the Secret");
    let nodes = cluster.forwarded().expect("forwarded");
    let mut client = palladion_e2e::rabbitmq::Client::open(nodes[2], user.login()).expect("open");
    client.queue("alone", "classic").expect("a queue");
    client.publish("alone", "precious").expect("confirmed");
    client.queue_of("two", "quorum", Some(2)).expect("a queue");
    client.publish("two", "kept").expect("confirmed");
    cluster.set_nodes(1);
    let asked = cluster
        .service()
        .wait("a user to be asked", |o| condition(o, "Degraded")["reason"] == "QueuesWouldBeLost");
    let said = condition(&asked, "Degraded")["message"].to_string();
    assert!(said.contains("alone"), "{said}");
    assert_eq!(asked["status"]["cluster"].as_array().map(Vec::len), Some(3), "nobody has left");
    assert_eq!(client.take("alone").expect("an answer").as_deref(), Some("precious"));
    let nonce = text(&asked, "/status/ask/nonce");
    cluster.service().annotate(&format!("palladion.dev/allow-forget={nonce}"));
    cluster.wait_nodes(1);
    cluster.has_all("two", &["kept".to_string()].into()).expect("the other queue has moved");
    cluster.service().end();
}
