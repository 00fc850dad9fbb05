//! Pods as the kubelet reports them, read.

use super::*;

fn read(pod: Value) -> PodFact {
    let meta = Meta { name: "web-z0-2".into(), ..Meta::default() };
    PodFact::read(&Object { meta, body: project(&pod) })
}

#[test]
fn a_ready_pod_is_available_after_its_settling_time() {
    let pod = read(json!({ "status": { "phase": "Running", "conditions": [
        { "type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z" }
    ] } }));
    assert_eq!(pod.ordinal, 2);
    assert!(pod.is_ready() && !pod.is_stuck());
    assert_eq!(
        pod.available_at(10),
        Some("2026-01-01T00:00:10Z".parse().expect("should be a time"))
    );
}

#[test]
fn a_container_that_cannot_start_is_trouble_and_one_on_its_way_is_not() {
    let waiting = |reason: &str| {
        read(json!({ "status": { "phase": "Pending", "containerStatuses": [
            { "name": "c", "state": { "waiting": { "reason": reason, "message": "m" } } }
        ] } }))
    };
    assert!(!waiting("ContainerCreating").is_stuck());
    let stuck = waiting("ImagePullBackOff");
    assert!(stuck.is_stuck());
    assert_eq!(
        stuck.words().to_string(),
        "pod web-z0-2 is failing: ImagePullBackOff: container c: m"
    );
}

#[test]
fn a_pull_that_fails_says_the_same_at_each_try() {
    let waiting = |reason: &str, message: String| {
        read(json!({ "status": { "containerStatuses": [
            { "name": "c", "state": { "waiting": { "reason": reason, "message": message } } }
        ] } }))
    };
    let cause = |port: u16| {
        format!(
            "failed to pull and unpack image \"r.example/nope:1\": failed to resolve reference \"r.example/nope:1\": failed to do request: Head \"https://r.example/v2/nope\": dial tcp: lookup r.example: read udp 10.0.0.1:{port}: i/o timeout"
        )
    };
    let error = waiting("ErrImagePull", cause(1));
    let back_off = waiting(
        "ImagePullBackOff",
        format!("Back-off pulling image \"x\": ErrImagePull: {}", cause(2)),
    );
    assert_eq!(error.words(), back_off.words());
    assert!(error.words().to_string().contains("r.example/nope:1"), "{}", error.words());
}

#[test]
fn a_container_that_ends_again_and_again_says_how_it_ended() {
    let pod = read(json!({ "status": { "containerStatuses": [{
        "name": "c",
        "state": { "waiting": { "reason": "CrashLoopBackOff", "message": "back-off 40s restarting" } },
        "lastState": { "terminated": { "exitCode": 3, "reason": "Error" } },
    }] } }));
    let words = pod.words().to_string();
    assert!(words.contains("exited with code 3"), "{words}");
    assert!(!words.contains("40s"), "{words}");
}

#[test]
fn a_pod_without_a_place_is_stuck() {
    let pod = read(json!({ "status": { "phase": "Pending", "conditions": [
        { "type": "PodScheduled", "status": "False", "message": "0/3 nodes" }
    ] } }));
    assert!(pod.is_stuck());
    assert_eq!(pod.words().to_string(), "pod web-z0-2 cannot be scheduled: 0/3 nodes");
}
