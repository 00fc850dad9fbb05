//! The active pod's node loses its power; the operator is away.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use palladion_e2e::bed::OPERATOR_NAMESPACE;
use palladion_e2e::wait_for;
use palladion_e2e::zoned::{PATIENCE, Zoned, bed, example};
use palladion_testbed::faults::Victim;
use serde_json::Value;

use crate::active::{fail_over, one_active};

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn operator_pod() -> Value {
    let pods = wait_for("the operator to be ready", PATIENCE, || {
        let pods = bed().list(OPERATOR_NAMESPACE, "pods")?;
        Ok(pods.into_iter().find(|p| {
            text(p, "/metadata/labels/app.kubernetes.io~1name") == "palladion-operator"
                && text(p, "/status/phase") == "Running"
        }))
    });
    pods.expect("an operator")
}

/// Give the operator another node than this.
fn move_operator_away_from(node: &str) {
    bed().kubectl(&format!("cordon {node}")).expect("cordon");
    bed().scale_operator(0).expect("no operator");
    bed().scale_operator(1).expect("an operator");
    wait_for("the operator to be ready elsewhere", PATIENCE, || {
        let pod = operator_pod();
        let conditions = pod["status"]["conditions"].as_array();
        let ready = conditions
            .into_iter()
            .flatten()
            .any(|c| c["type"] == "Ready" && c["status"] == "True");
        Ok((ready && text(&pod, "/spec/nodeName") != node).then_some(()))
    })
    .expect("the operator elsewhere");
    bed()
        .kubectl(&format!("uncordon {node}"))
        .expect("uncordon");
    // It has to be the leader again and to have looked once.
    std::thread::sleep(Duration::from_secs(5));
}

/// The zones in which the operator does not run.
fn other_zones() -> Vec<String> {
    let node = text(&operator_pod(), "/spec/nodeName").to_string();
    let nodes = bed().kubectl("get nodes -o json").expect("nodes");
    let nodes: Value = serde_json::from_str(&nodes).expect("nodes");
    let others = nodes["items"].as_array().into_iter().flatten();
    others
        .filter(|n| text(n, "/metadata/name") != node)
        .map(|n| text(n, "/metadata/labels/topology.kubernetes.io~1zone").to_string())
        .collect()
}

#[test]
fn d4_active_stays_while_the_operator_is_away_and_leaves_a_node_without_power() {
    let zones = other_zones();
    let manifest =
        example("active-passive").replace("[z1, z2]", &format!("[{}]", zones.join(", ")));
    let queue = Zoned::start("zoned-power", "queue", &manifest);
    let first = one_active(&queue);

    // Killed: the next process finds the label as it was and leaves it.
    let killed = operator_pod();
    bed()
        .cluster
        .kill(
            OPERATOR_NAMESPACE,
            text(&killed, "/metadata/name"),
            "operator",
            &Victim::Init,
        )
        .expect("kill the operator");
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(6) {
        assert_eq!(queue.active(), std::slice::from_ref(&first));
        std::thread::sleep(Duration::from_millis(200));
    }
    // Away: what fails meanwhile keeps the label until somebody sees it.
    bed().scale_operator(0).expect("no operator");
    bed()
        .exec(queue.namespace, &first, &["busybox", "rm", "/tmp/lead"])
        .expect("stop leading");
    std::thread::sleep(Duration::from_secs(5));
    assert_eq!(queue.active(), std::slice::from_ref(&first));
    bed().scale_operator(1).expect("an operator");
    let second = wait_for("the other to take over", PATIENCE, || {
        let active = queue.active();
        assert!(active.len() <= 1, "{active:?}");
        Ok(active.into_iter().find(|a| *a != first))
    })
    .expect("the other");
    bed()
        .exec(queue.namespace, &first, &["busybox", "touch", "/tmp/lead"])
        .expect("lead again");
    std::thread::sleep(Duration::from_secs(2));

    // The operator may have moved; it must see what happens.
    let pod = bed()
        .get(queue.namespace, "pod", &second)
        .expect("get")
        .expect("the pod");
    let name = text(&pod, "/spec/nodeName").to_string();
    if text(&operator_pod(), "/spec/nodeName") == name {
        move_operator_away_from(&name);
    }
    let node = bed()
        .cluster
        .node(&name)
        .context("the node")
        .expect("the node");
    bed().cluster.power_off(node).expect("power off");
    let took = fail_over(&queue, &second, Duration::from_secs(2));
    eprintln!("fail-over after the node lost its power: {took:?} (period 1 s, threshold 2)");
    assert_eq!(one_active(&queue), first);
    bed().cluster.power_on(node).expect("power on");
    wait_for("the node to be back", PATIENCE, || {
        let node = bed().get("default", "node", &name)?.context("no node")?;
        let conditions = node["status"]["conditions"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let ready = |c: &Value| c["type"] == "Ready" && c["status"] == "True";
        Ok(conditions.iter().any(ready).then_some(()))
    })
    .expect("the node");
    queue.end();
}
