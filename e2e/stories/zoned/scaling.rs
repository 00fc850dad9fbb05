//! The number of pods: by hand, by an autoscaler, within limits.

use palladion_api::reasons::Reason;
use palladion_e2e::bed;
use palladion_e2e::story::Story;
use palladion_e2e::zoned::{PATIENCE, Zoned, example};
use serde_json::{Value, json};

use super::metrics::Metrics;

pub fn story() -> Story {
    Story::named("zoned-scaling")
        .step("scaling by the scale subresource restarts nobody", subresource)
        .step("a HorizontalPodAutoscaler scales and is kept within the limits", autoscaler)
        .into()
}

fn subresource() {
    let workers = Zoned::start("zoned-scale", "workers", &example("scaling"));
    let before = workers.uids();
    bed().kubectl("scale zonedstatefulset workers --replicas=2 -n zoned-scale").expect("scale");
    workers.wait("three replicas, because they must be odd", PATIENCE, |o| {
        o["status"]["pods"] == "6/6" && o["status"]["ready"] == true
    });
    let after = workers.uids();
    assert!(
        before.iter().all(|(name, uid)| after.get(name) == Some(uid)),
        "scaling restarted a pod"
    );
    let scale = scale("zoned-scale");
    assert_eq!(scale["status"]["replicas"], 3);
    assert!(
        scale["status"]["selector"].as_str().is_some_and(|s| s.contains("az-index=0")),
        "{scale}"
    );
    workers.wait_told(Reason::ReplicasLimited, "");
    workers.end();
}

/// The scale subresource of `workers`, as an autoscaler reads it.
fn scale(namespace: &str) -> Value {
    let path = format!(
        "get --raw /apis/palladion.dev/v1alpha1/namespaces/{namespace}/zonedstatefulsets/workers/scale"
    );
    let scale = bed().kubectl(&path).expect("the scale subresource");
    serde_json::from_str(&scale).expect("a Scale")
}

fn autoscaler() {
    let ns = "zoned-autoscaler";
    bed().fresh_namespace(ns).expect("a namespace");
    let metrics = Metrics::start(ns);
    // Of 10m each pod asks for, 7m is the target: one pod is enough.
    metrics.set_load(6);
    bed().apply(ns, &example("scaling")).expect("accepted");
    let workers = Zoned { namespace: ns, name: "workers" };
    // By default an autoscaler waits for five minutes before it takes pods away.
    let hpa = json!({ "spec": {
        "maxReplicas": 9,
        "behavior": { "scaleDown": { "stabilizationWindowSeconds": 0 } },
    } });
    bed().patch(ns, "hpa", "workers", &hpa).expect("patch");
    workers.wait_ready();
    let first = workers.uids();

    metrics.set_load(13);
    let asked = |o: &Value| o["spec"]["template"]["spec"]["replicas"].as_i64();
    let wants = |o: &Value, replicas: i64, pods: &str| {
        asked(o) == Some(replicas) && o["status"]["pods"] == pods && o["status"]["ready"] == true
    };
    // The autoscaler was seen to ask for three, once in some runs, when it looked
    // while pods had only just begun; then there is nothing to limit.
    let is = |o: &Value, reason: Reason| {
        let conditions = o["status"]["conditions"].as_array();
        let mut conditions = conditions.into_iter().flatten();
        conditions.any(|c| c["type"] == "Degraded" && c["reason"] == reason.as_str())
    };
    workers.wait("two to be asked for and three to be made", PATIENCE, |o| {
        wants(o, 2, "6/6") && is(o, Reason::ReplicasLimited)
            || wants(o, 3, "6/6") && is(o, Reason::UpToDate)
    });
    metrics.set_load(40);
    workers.wait("six to be asked for and five to be made", PATIENCE, |o| wants(o, 6, "10/10"));
    workers.wait_told(Reason::ReplicasLimited, "from 6 to 5");
    let now = workers.uids();
    assert!(first.iter().all(|(name, uid)| now.get(name) == Some(uid)), "scaling restarted a pod");
    // What an autoscaler itself reports is what it found when it last looked, which may
    // be before the pods were made.
    assert_eq!(scale(ns)["status"]["replicas"], 5, "pods of one zone");

    metrics.set_load(0);
    workers.wait("one in each zone", PATIENCE, |o| wants(o, 1, "2/2"));
    workers.wait_told(Reason::UpToDate, "");
    drop(metrics);
    workers.end();
}
