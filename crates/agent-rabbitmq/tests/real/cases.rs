//! What real nodes do under the agent.

use super::cluster::{Cluster, eventually, node_of};
use super::processes::signal;
use super::streams;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::time::Duration;

type Case = fn(&Path);

pub const ALL: &[(&str, Case)] = &[
    ("one_is_set_up_closed_and_opened_and_at_rest_writes_nothing", is_initialized),
    ("one_grows_to_three_and_the_first_never_pauses", grows),
    ("a_node_that_lost_its_power_comes_back_without_the_api", comes_back),
    ("all_at_once_come_back_by_themselves", cold_start),
    ("one_without_the_last_waits_for_its_tables_and_says_so", waits_for_tables),
    ("a_wiped_node_is_refused_and_replaced_and_every_message_is_there", is_replaced),
    ("a_node_leaves_with_its_replicas_moved_and_never_starts_again", leaves),
    ("an_application_that_was_stopped_comes_back_when_the_intent_is_withdrawn", comes_round),
    ("a_node_with_a_stream_is_lost_and_replaced", streams::is_replaced),
    ("nodes_leave_a_stream_until_one_has_it_alone", streams::is_left),
    ("queues_that_cannot_move_are_named_and_hold_the_node", holds),
    ("a_container_that_ends_hands_over_and_drains", ends),
    ("an_agent_that_dies_takes_nothing_with_it_and_a_user_is_made_again", agent_dies),
];

/// After that a new queue is on the disk of each of its nodes.
const REGISTERED: Duration = Duration::from_secs(10);
pub const THREE: [&str; 3] = ["rmq-1", "rmq-2", "rmq-3"];

/// Declare a durable classic queue in the virtual host `other`.
const IN_OTHER: &str = "rabbit_amqqueue:declare(rabbit_misc:r(<<\"other\">>, queue, <<\"c\">>), \
    true, false, [], none, <<\"test\">>).";

fn starts(status: &Value) -> usize {
    status["startHistory"].as_array().map_or(0, Vec::len)
}

fn members(view: &Value) -> Vec<&str> {
    view["broker"]["members"].as_array().unwrap().iter().filter_map(Value::as_str).collect()
}

/// A quorum queue with these messages, each confirmed.
fn filled(cluster: &Cluster, name: &str, queue: &str, texts: &[&str]) {
    cluster.client(name).unwrap().queue(queue, "quorum").unwrap();
    texts.iter().for_each(|text| cluster.publish(name, queue, text));
}

fn is_initialized(bin: &Path) {
    let mut cluster = Cluster::new(bin);
    cluster.add("rmq-1");
    let empty = cluster.waits_with("rmq-1", "WaitingForPermit");
    assert_eq!((&empty["volume"]["state"], starts(&empty)), (&json!("Empty"), 0));
    assert_eq!(cluster.pod("rmq-1").get("/readyz").0, 503);
    cluster.initialize("rmq-1");
    cluster.is_ready("rmq-1");
    let status = cluster.api.status("rmq-1");
    assert_eq!((starts(&status), &status["server"]["version"]), (2, &json!("3.10.8")));
    let pod = cluster.pod("rmq-1");
    let users = pod.call(bin, "rabbitmqctl", &["list_users"], &node_of("rmq-1"));
    assert!(!users.contains("guest") && users.contains("monitoring"), "{users}");
    filled(&cluster, "rmq-1", "q", &["1"]);
    // Nobody gave the agent's user permissions in a virtual host that somebody else made.
    let pod = cluster.pod("rmq-1");
    for arguments in [["add_vhost", "other"], ["eval", IN_OTHER]] {
        pod.call(bin, "rabbitmqctl", &arguments, &node_of("rmq-1"));
    }
    let view = cluster.view("rmq-1");
    let own = json!(node_of("rmq-1"));
    let on = &view["queues"]["nodes"][0];
    assert_eq!(on["onlyHere"]["names"], json!(["q"]), "{view:#}");
    assert_eq!(on["classic"]["names"], json!(["c in other"]), "{view:#}");
    assert_eq!(view["broker"]["running"], json!([own]));
    assert!(view["broker"]["flags"]["enabled"].as_array().is_some_and(|all| !all.is_empty()));
    cluster.wait_for("rmq-1", "health that counts", |s| s["health"][0]["result"] == "Healthy");
    std::thread::sleep(Duration::from_secs(20));
    let writes = cluster.api.status_writes();
    std::thread::sleep(Duration::from_secs(20));
    assert_eq!(cluster.api.status_writes(), writes);
    assert_eq!(cluster.view("rmq-1")["queues"]["behind"]["count"], 0);
}

fn grows(bin: &Path) {
    let mut cluster = Cluster::of(bin, &THREE[..1]);
    filled(&cluster, "rmq-1", "q", &["1", "2"]);
    let first = cluster.pod("rmq-1").node();
    let mut client = cluster.client("rmq-1").unwrap();
    cluster.add("rmq-2");
    cluster.join("rmq-2", &["rmq-1"]);
    // The same connection: of two the first would have paused while the second started again.
    client.publish("q", "3").unwrap();
    assert_eq!(starts(&cluster.api.status("rmq-2")), 1);
    cluster.add("rmq-3");
    cluster.join("rmq-3", &["rmq-1", "rmq-2"]);
    client.publish("q", "4").unwrap();
    assert_eq!(starts(&cluster.api.status("rmq-3")), 2);
    assert_eq!(cluster.pod("rmq-1").node(), first);
    for name in THREE {
        cluster.is_ready(name);
        let view = cluster.view(name);
        assert_eq!(members(&view), THREE.map(node_of));
        let on = view["queues"]["nodes"].as_array().unwrap();
        assert!(on.iter().all(|on| on["replicas"]["names"] == json!(["q"])), "{view:#}");
    }
    assert_eq!(cluster.messages("rmq-3", "q"), ["1", "2", "3", "4"]);
}

fn comes_back(bin: &Path) {
    let mut cluster = Cluster::of(bin, &THREE);
    filled(&cluster, "rmq-1", "q", &["1"]);
    cluster.api.go_away();
    cluster.take("rmq-2").kill();
    cluster.publish("rmq-1", "q", "2");
    cluster.start("rmq-2");
    cluster.is_ready("rmq-2");
    cluster.publish("rmq-2", "q", "3");
    cluster.api.come_back();
    // A restart that somebody asks for is made once, drained first.
    let before = starts(&cluster.api.status("rmq-3"));
    cluster.spec("rmq-3", json!({ "restartToken": "t1" }));
    let restarted = |s: &Value| s["server"]["restartToken"] == "t1" && starts(s) == before + 1;
    cluster.wait_for("rmq-3", "a restart", restarted);
    cluster.is_ready("rmq-3");
    assert_eq!(cluster.messages("rmq-3", "q"), ["1", "2", "3"]);
}

/// R15. RabbitMQ keeps in memory for three seconds which replicas a node has (`dets` with its
/// delayed writes, seen with 3.10.8): a queue that is declared right before all are killed
/// finds no leader again, however they are started.
fn cold_start(bin: &Path) {
    let mut cluster = Cluster::of(bin, &THREE);
    filled(&cluster, "rmq-1", "q", &["1", "2"]);
    std::thread::sleep(REGISTERED);
    cluster.api.go_away();
    THREE.iter().for_each(|name| cluster.take(name).kill());
    THREE.iter().for_each(|name| cluster.start(name));
    THREE.iter().for_each(|name| cluster.is_ready(name));
    assert_eq!(cluster.messages("rmq-2", "q"), ["1", "2"]);
}

/// R16.
fn waits_for_tables(bin: &Path) {
    let mut cluster = Cluster::of(bin, &THREE);
    for name in ["rmq-1", "rmq-2", "rmq-3"] {
        cluster.take(name).end();
    }
    cluster.start("rmq-1");
    cluster.start("rmq-2");
    let told = |s: &Value| {
        s["server"]["reason"] == "WaitingForTables"
            && s["server"]["message"].as_str().is_some_and(|text| text.contains("rmq-3"))
    };
    cluster.wait_for("rmq-1", "whom it waits for", told);
    assert_eq!(cluster.pod("rmq-1").get("/healthz").0, 200, "it is alive");
    cluster.start("rmq-3");
    THREE.iter().for_each(|name| cluster.is_ready(name));
}

/// R5 to R8.
fn is_replaced(bin: &Path) {
    let mut cluster = Cluster::of(bin, &THREE);
    filled(&cluster, "rmq-1", "q", &["1", "2"]);
    cluster.take("rmq-2").kill();
    fs::remove_dir_all(
        cluster.volume("rmq-2").join("rabbitmq").join(node_of("rmq-2")).join("quorum"),
    )
    .unwrap();
    cluster.start("rmq-2");
    let lost = cluster.waits_with("rmq-2", "VolumeLost");
    assert!(lost["volume"]["message"].as_str().unwrap().contains("quorum/"), "{lost:#}");
    cluster.take("rmq-2").kill();
    cluster.wipe("rmq-2");
    cluster.start("rmq-2");
    cluster.wait_for("rmq-2", "another volume", |s| s["volume"]["state"] == "Lost");
    assert!(cluster.pod("rmq-2").node().is_none());
    let gone = json!({ "node": node_of("rmq-2") });
    eventually("the others see that it is gone", || {
        let broker = &cluster.api.status("rmq-1")["broker"];
        broker["running"].as_array().is_some_and(|running| running.len() == 2)
    });
    let early = cluster.operate("rmq-1", "Forget", gone.clone());
    assert_eq!(early["state"], "Failed", "a queue names it: {early:#}");
    let moved = cluster.operate("rmq-1", "MoveReplicas", gone.clone());
    assert_eq!(
        (&moved["state"], &moved["queues"]),
        (&json!("Succeeded"), &Value::Null),
        "{moved:#}"
    );
    let forgotten = cluster.operate("rmq-1", "Forget", gone);
    assert_eq!(forgotten["state"], "Succeeded", "{forgotten:#}");
    let volume = cluster.api.status("rmq-2")["volume"]["volumeID"].clone();
    cluster.spec("rmq-2", json!({ "volumeID": volume, "starts": 0 }));
    cluster.join("rmq-2", &["rmq-1", "rmq-3"]);
    let view = cluster.view("rmq-2");
    assert_eq!(members(&view), THREE.map(node_of));
    assert_eq!(cluster.messages("rmq-2", "q"), ["1", "2"]);
}

/// R10, R11, R13.
fn leaves(bin: &Path) {
    let mut cluster = Cluster::of(bin, &THREE);
    filled(&cluster, "rmq-1", "q", &["1", "2"]);
    let moved = cluster.operate("rmq-3", "MoveReplicas", json!({ "node": node_of("rmq-3") }));
    assert_eq!(moved["state"], "Succeeded", "{moved:#}");
    cluster.intend("rmq-3", "StopApp");
    let forgotten = cluster.operate("rmq-1", "Forget", json!({ "node": node_of("rmq-3") }));
    assert_eq!(forgotten["state"], "Succeeded", "{forgotten:#}");
    cluster.intend("rmq-3", "Leave");
    assert_eq!(cluster.api.status("rmq-3")["volume"]["state"], "Left");
    assert!(cluster.pod("rmq-3").node().is_none());
    cluster.take("rmq-3").kill();
    cluster.spec("rmq-3", json!({ "intent": null }));
    cluster.start("rmq-3");
    cluster.waits_with("rmq-3", "Decommissioned");
    // Of two the last one forgets as well, as the leaver's virtual machine lives.
    let moved = cluster.operate("rmq-2", "MoveReplicas", json!({ "node": node_of("rmq-2") }));
    assert_eq!(moved["state"], "Succeeded", "{moved:#}");
    cluster.intend("rmq-2", "StopApp");
    let forgotten = cluster.operate("rmq-1", "Forget", json!({ "node": node_of("rmq-2") }));
    assert_eq!(forgotten["state"], "Succeeded", "{forgotten:#}");
    cluster.intend("rmq-2", "Leave");
    cluster.is_ready("rmq-1");
    let view = cluster.view("rmq-1");
    assert_eq!(members(&view), [node_of("rmq-1")]);
    assert_eq!(cluster.messages("rmq-1", "q"), ["1", "2"]);
    // And it comes again on the same volume, with nothing of the first time.
    cluster.spec("rmq-2", json!({ "intent": null }));
    cluster.take("rmq-2").kill();
    cluster.start("rmq-2");
    let nonce = cluster.permit("rmq-2", "Join", "Wipe", &["rmq-1"]);
    let done = |s: &Value| s["permit"]["nonce"] == nonce.as_str() && s["permit"]["state"] == "Done";
    cluster.wait_for("rmq-2", "a member", done);
}

fn comes_round(bin: &Path) {
    let mut cluster = Cluster::of(bin, &THREE);
    let node = cluster.pod("rmq-3").node();
    cluster.intend("rmq-3", "StopApp");
    assert_eq!(cluster.pod("rmq-3").node(), node, "its virtual machine lives");
    assert_eq!(cluster.pod("rmq-3").get("/readyz").0, 503);
    let gone = |s: &Value| s["broker"]["running"].as_array().is_some_and(|all| all.len() == 2);
    cluster.wait_for("rmq-1", "that it does not run", gone);
    assert!(cluster.view("rmq-3")["broker"].is_null());
    cluster.spec("rmq-3", json!({ "intent": null }));
    cluster.is_ready("rmq-3");
    assert_eq!(cluster.pod("rmq-3").node(), node);
}

fn holds(bin: &Path) {
    let mut cluster = Cluster::of(bin, &THREE);
    cluster.client("rmq-3").unwrap().queue("classic", "classic").unwrap();
    cluster.publish("rmq-3", "classic", "1");
    let view = cluster.view("rmq-1");
    let on = view["queues"]["nodes"].as_array().unwrap();
    let leaver = on.iter().find(|on| on["node"] == json!(node_of("rmq-3"))).unwrap();
    assert_eq!(leaver["classic"]["names"], json!(["classic"]), "{view:#}");
    cluster.intend("rmq-3", "StopApp");
    let refused = cluster.operate("rmq-1", "Forget", json!({ "node": node_of("rmq-3") }));
    assert_eq!(refused["state"], "Failed", "{refused:#}");
    assert!(refused["message"].as_str().unwrap().contains("classic"), "{refused:#}");
    cluster.spec("rmq-3", json!({ "intent": null }));
    cluster.is_ready("rmq-3");
    assert_eq!(cluster.messages("rmq-3", "classic"), ["1"]);
}

fn ends(bin: &Path) {
    let mut cluster = Cluster::of(bin, &THREE);
    filled(&cluster, "rmq-1", "q", &["1"]);
    let told = cluster.pod("rmq-1").drain();
    assert!(told.contains("handed over"), "{told}");
    cluster.publish("rmq-2", "q", "2");
    cluster.take("rmq-1").end();
    cluster.start("rmq-1");
    cluster.is_ready("rmq-1");
    assert_eq!(cluster.messages("rmq-1", "q"), ["1", "2"], "the drain is over with the start");
}

fn agent_dies(bin: &Path) {
    let mut cluster = Cluster::of(bin, &THREE[..1]);
    let pod = cluster.pod("rmq-1");
    let (node, agent) = (pod.node(), pod.agent().unwrap());
    signal(agent, "KILL");
    eventually("another agent", || cluster.pod("rmq-1").agent().is_some_and(|pid| pid != agent));
    cluster.is_ready("rmq-1");
    assert_eq!(cluster.pod("rmq-1").node(), node);
    let pod = cluster.pod("rmq-1");
    pod.call(bin, "rabbitmqctl", &["delete_user", "palladion"], &node_of("rmq-1"));
    eventually("it is made again", || {
        let pod = cluster.pod("rmq-1");
        pod.call(bin, "rabbitmqctl", &["list_users"], &node_of("rmq-1")).contains("palladion")
    });
    cluster.is_ready("rmq-1");
    // A node that dies is started again.
    let before = starts(&cluster.api.status("rmq-1"));
    signal(node.unwrap(), "KILL");
    cluster.wait_for("rmq-1", "another start", |s| starts(s) == before + 1);
    cluster.is_ready("rmq-1");
    assert_eq!(members(&cluster.view("rmq-1")), [node_of("rmq-1")]);
}
