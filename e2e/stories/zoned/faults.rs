//! Nodes that lose their power: under the active pod, under a canary that is
//! stuck. The operator is away.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use palladion_api::reasons::Reason;
use palladion_e2e::bed;
use palladion_e2e::bed::OPERATOR_NAMESPACE;
use palladion_e2e::machines::is_ready;
use palladion_e2e::story::Story;
use palladion_e2e::wait_for;
use palladion_e2e::zoned::{PATIENCE, Zoned, example};
use palladion_testbed::faults::Victim;
use serde_json::Value;

use super::active::{fail_over, one_active};

pub fn story() -> Story {
    Story::named("zoned-faults")
        .breaks_machines()
        .step(
            "the active pod stays while the operator is away and leaves a node without power",
            active_leaves_a_dead_node,
        )
        .step(
            "a canary on a node that dies harms nobody else and is still cured by a fix",
            canary_on_a_dead_node,
        )
        .in_soak()
        .into()
}

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
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

fn active_leaves_a_dead_node() {
    let zones = other_zones();
    let manifest =
        example("active-passive").replace("[z1, z2]", &format!("[{}]", zones.join(", ")));
    let queue = Zoned::start("zoned-power", "queue", &manifest);
    let first = one_active(&queue);

    // Killed: the next process finds the label as it was and leaves it.
    let killed = operator_pod();
    bed()
        .cluster
        .kill(OPERATOR_NAMESPACE, text(&killed, "/metadata/name"), "operator", &Victim::Init)
        .expect("kill the operator");
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(6) {
        assert_eq!(queue.active(), std::slice::from_ref(&first));
        std::thread::sleep(Duration::from_millis(200));
    }
    // Away: what fails meanwhile keeps the label until somebody sees it.
    bed().scale_operator(0).expect("no operator");
    bed().exec(queue.namespace, &first, &["busybox", "rm", "/tmp/lead"]).expect("stop leading");
    std::thread::sleep(Duration::from_secs(5));
    assert_eq!(queue.active(), std::slice::from_ref(&first));
    bed().scale_operator(1).expect("an operator");
    let second = wait_for("the other to take over", PATIENCE, || {
        let active = queue.active();
        assert!(active.len() <= 1, "{active:?}");
        Ok(active.into_iter().find(|a| *a != first))
    })
    .expect("the other");
    bed().exec(queue.namespace, &first, &["busybox", "touch", "/tmp/lead"]).expect("lead again");
    std::thread::sleep(Duration::from_secs(2));

    // The operator may have moved; it must see what happens.
    let pod = bed().get(queue.namespace, "pod", &second).expect("get").expect("the pod");
    let name = text(&pod, "/spec/nodeName").to_string();
    let node = bed().cluster.node(&name).context("the node").expect("the node");
    bed().move_operator_from(node).expect("moved");
    // It has to be the leader again and to have looked once.
    std::thread::sleep(Duration::from_secs(5));
    bed().cluster.power_off(node).expect("power off");
    let took = fail_over(&queue, &second, Duration::from_secs(2));
    eprintln!("fail-over after the node lost its power: {took:?} (period 1 s, threshold 2)");
    assert_eq!(one_active(&queue), first);
    bed().cluster.power_on(node).expect("power on");
    bed().wait_node_is_back(node).expect("the node");
    queue.end();
}

fn canary_on_a_dead_node() {
    let zones = other_zones();
    let manifest = example("partitioned")
        .replace("[z1, z2]", &format!("[{}]", zones.join(", ")))
        .replace("watchSeconds: 60", "watchSeconds: 10");
    let web = Zoned::start("zoned-canary-power", "web", &manifest);
    let before = web.uids();
    web.set_template("bad", Some("palladion.dev/not-there:1"));
    web.wait("the canary to fail", PATIENCE, |o| o["status"]["rollout"] == "Failed");
    let name = bed().node_of(web.namespace, "web-z0-1").expect("its node");
    let node = bed().cluster.node(&name).expect("the node");
    bed().move_operator_from(node).expect("moved");
    bed().cluster.power_off(node).expect("power off");
    bed().cluster.delete_node_object(node).expect("delete");
    // Kubernetes itself takes a minute to remove the pods of a Node that is no more.
    wait_for("other pods in the zone's place", PATIENCE * 2, || {
        let now = web.uids();
        let ours = now.iter().filter(|(name, _)| name.starts_with("web-z0"));
        let new = ours.filter(|(name, uid)| before.get(*name) != Some(uid));
        Ok((new.count() == 2).then_some(()))
    })
    .expect("other pods");
    std::thread::sleep(Duration::from_secs(15));
    let now = web.uids();
    for pod in ["web-z1-0", "web-z1-1"] {
        assert_eq!(now[pod], before[pod], "the other zone is left alone");
    }
    bed().cluster.power_on(node).expect("power on");
    bed().wait_node_is_back(node).expect("back");
    let image = |pod: &Value| text(pod, "/spec/containers/0/image").to_string();
    let proven = wait_for("the other pod of the zone to be ready", PATIENCE, || {
        let pod = bed().get(web.namespace, "pod", "web-z0-0")?;
        Ok(pod.filter(is_ready))
    })
    .expect("ready");
    assert_eq!(image(&proven), "palladion.dev/tools:dev", "the proven one");
    web.wait_told(Reason::RolloutFailed, "not-there");
    web.set_template("fixed", Some("palladion.dev/tools:dev"));
    web.wait_ready();
    assert_eq!(web.status()["rollout"], "Done");
    let pods = web.pods();
    let change = |pod: &Value| text(pod, "/metadata/annotations/change").to_string();
    assert!(pods.iter().all(|p| change(p) == "fixed"), "all are new");
    web.end();
}
