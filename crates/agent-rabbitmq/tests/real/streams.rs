//! What becomes of a stream, and of the coordinator that all streams share, when nodes are
//! lost or leave.

use super::cases::THREE;
use super::cluster::{Cluster, eventually, node_of};
use serde_json::{Value, json};
use std::path::Path;

/// Declare a stream and publish, each message confirmed. To read it is not the agent's.
fn streamed(cluster: &Cluster, name: &str, texts: &[&str]) {
    cluster.client(name).unwrap().queue("s", "stream").unwrap();
    texts.iter().for_each(|text| cluster.publish(name, "s", text));
}

fn has_stream(cluster: &mut Cluster, by: &str, names: &[&str]) {
    let view = cluster.view(by);
    let on = view["queues"]["nodes"].as_array().unwrap();
    let with = on.iter().filter(|on| on["streams"]["names"] == json!(["s"]));
    let with: Vec<&str> = with.filter_map(|on| on["node"].as_str()).collect();
    let expected: Vec<String> = names.iter().map(|name| node_of(name)).collect();
    assert_eq!(with, expected, "{view:#}");
}

/// What the coordinator of streams has as members, and who leads it.
fn coordinator(cluster: &Cluster, name: &str) -> String {
    let members = "ra:members({rabbit_stream_coordinator, node()}).";
    cluster.pod(name).call(&cluster.bin, "rabbitmqctl", &["eval", members], &node_of(name))
}

pub fn is_replaced(bin: &Path) {
    let mut cluster = Cluster::of(bin, &THREE);
    streamed(&cluster, "rmq-1", &["1", "2"]);
    has_stream(&mut cluster, "rmq-1", &THREE);
    cluster.take("rmq-2").kill();
    cluster.wipe("rmq-2");
    eventually("the others see that it is gone", || {
        let broker = &cluster.api.status("rmq-1")["broker"];
        broker["running"].as_array().is_some_and(|running| running.len() == 2)
    });
    let gone = json!({ "node": node_of("rmq-2") });
    let moved = cluster.operate("rmq-1", "MoveReplicas", gone.clone());
    let left = (&moved["state"], &moved["queues"]);
    assert_eq!(left, (&json!("Succeeded"), &Value::Null), "{moved:#}");
    let forgotten = cluster.operate("rmq-1", "Forget", gone);
    assert_eq!(forgotten["state"], "Succeeded", "{forgotten:#}");
    let members = coordinator(&cluster, "rmq-1");
    assert!(!members.contains("rmq-2"), "{members}");
    cluster.start("rmq-2");
    cluster.wait_for("rmq-2", "another volume", |s| s["volume"]["state"] == "Lost");
    let volume = cluster.api.status("rmq-2")["volume"]["volumeID"].clone();
    cluster.spec("rmq-2", json!({ "volumeID": volume, "starts": 0 }));
    cluster.join("rmq-2", &["rmq-1", "rmq-3"]);
    has_stream(&mut cluster, "rmq-2", &THREE);
    cluster.publish("rmq-2", "s", "3");
}

/// Each leaver leads the coordinator before it leaves.
pub fn is_left(bin: &Path) {
    let mut cluster = Cluster::of(bin, &THREE);
    streamed(&cluster, "rmq-1", &["1"]);
    for (leaver, rest) in [("rmq-3", &THREE[..2]), ("rmq-2", &THREE[..1])] {
        let leaves = json!({ "node": node_of(leaver) });
        let moved = cluster.operate(leaver, "MoveReplicas", leaves.clone());
        let left = (&moved["state"], &moved["queues"]);
        assert_eq!(left, (&json!("Succeeded"), &Value::Null), "{moved:#}");
        let lead = "{ok, _, L} = ra:members({rabbit_stream_coordinator, node()}), \
            ra:transfer_leadership(L, {rabbit_stream_coordinator, node()}).";
        eventually("it leads the coordinator", || {
            let pod = cluster.pod(leaver);
            pod.call(bin, "rabbitmqctl", &["eval", lead], &node_of(leaver)).contains("already")
        });
        cluster.intend(leaver, "StopApp");
        let forgotten = cluster.operate("rmq-1", "Forget", leaves);
        assert_eq!(forgotten["state"], "Succeeded", "{forgotten:#}");
        let members = coordinator(&cluster, "rmq-1");
        assert!(members.contains("ok,") && !members.contains(leaver), "{members}");
        cluster.intend(leaver, "Leave");
        has_stream(&mut cluster, "rmq-1", rest);
        cluster.publish("rmq-1", "s", leaver);
    }
}
