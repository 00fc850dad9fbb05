//! What a pod of ZooKeeper does.

use super::fake_server::LATER;
use super::harness::{Pod, eventually};
use super::processes::signal;
use serde_json::{Value, json};
use std::fs;
use std::time::{Duration, Instant};

type Case = fn();

pub const ALL: &[(&str, Case)] = &[
    ("a_server_waits_for_its_permit_and_is_a_member_by_it", is_initialized),
    ("a_member_comes_back_without_the_api_and_an_agent_without_its_server", comes_back),
    ("a_server_that_hangs_keeps_nobody_from_stopping_it", hangs),
    ("a_server_that_was_taken_out_is_stopped_and_starts_no_more", is_taken_out),
    ("a_container_that_ends_starts_nothing", ends),
    ("a_pod_of_another_cluster_starts_nothing_and_uses_up_no_permit", is_elsewhere),
];

fn starts(status: &Value) -> usize {
    status["startHistory"].as_array().map_or(0, Vec::len)
}

fn is_initialized() {
    let pod = Pod::started();
    let waits = |s: &Value| s["server"]["reason"] == "WaitingForPermit" && s["volume"].is_object();
    let status = pod.wait_for("a permit", waits);
    assert_eq!((&status["volume"]["state"], starts(&status)), (&json!("Empty"), 0));
    assert_eq!((pod.get("/healthz").0, pod.get("/readyz").0), (200, 503));
    pod.permit("Initialize", "n1");
    let status = pod.wait_for("a member", |s| s["permit"]["state"] == "Done");
    assert_eq!((&status["volume"]["state"], &status["serverID"]), (&json!("Joined"), &json!(1)));
    assert_eq!(status["ensemble"]["mode"], "Leader");
    eventually("it is ready", || pod.get("/readyz").0 == 200);
    // At rest nothing is written.
    pod.wait_for("health that counts", |s| s["health"][0]["result"] == "Healthy");
    std::thread::sleep(Duration::from_secs(2));
    let writes = pod.api.status_writes();
    std::thread::sleep(Duration::from_secs(7));
    assert_eq!(pod.api.status_writes(), writes);
    eventually("its figures", || pod.get("/metrics").1.contains("zookeeper_znodes 5"));
    // A question is answered by what is read after it.
    pod.spec(json!({ "evidence": { "nonce": "q1" } }));
    let answer = pod.wait_for("an answer", |s| s["evidence"]["nonce"] == "q1");
    let ensemble = &answer["evidence"]["ensemble"];
    assert_eq!(
        (&ensemble["configVersion"], &ensemble["zxid"]),
        (&json!("100000000"), &json!("100000002"))
    );
}

fn comes_back() {
    let mut pod = Pod::initialized();
    let (server, agent) = (pod.server().unwrap(), pod.agent().unwrap());
    signal(agent, "KILL");
    eventually("another agent", || pod.agent().is_some_and(|pid| pid != agent));
    eventually("it is ready", || pod.get("/readyz").0 == 200);
    assert_eq!(pod.server(), Some(server));
    pod.api.go_away();
    assert_eq!(pod.end(), Some(0));
    pod.start();
    eventually("the server", || pod.server().is_some());
    eventually("it is ready", || pod.get("/readyz").0 == 200);
    pod.api.come_back();
    pod.wait_for("its second start", |s| starts(s) == 2 && s["server"]["state"] == "Running");
}

fn hangs() {
    let pod = Pod::initialized();
    eventually("it is ready", || pod.get("/readyz").0 == 200);
    let server = pod.server().unwrap();
    signal(server, "STOP");
    let begun = Instant::now();
    eventually("it is not ready", || {
        let asked = Instant::now();
        let code = pod.get("/readyz").0;
        assert!(asked.elapsed() < Duration::from_secs(5), "a probe waits for no server");
        code == 503
    });
    assert!(begun.elapsed() > Duration::from_secs(5), "one late answer is no failure");
    assert_eq!(pod.get("/healthz").0, 200);
    pod.spec(json!({ "run": "Stopped" }));
    pod.wait_for("the stop", |s| s["server"]["state"] == "Stopping");
    signal(server, "CONT");
    pod.wait_for("its end", |s| s["server"]["state"] == "Stopped");
    assert_eq!(pod.server(), None);
}

fn is_taken_out() {
    let mut pod = Pod::initialized();
    let others = "server.2=10.96.0.12:2888:3888:participant;2181\n";
    fs::write(pod.path("volume/conf").join(LATER), others).unwrap();
    // A question has it read its configuration again.
    pod.spec(json!({ "evidence": { "nonce": "q1" } }));
    let status = pod.wait_for("the end", |s| s["server"]["reason"] == "NotInEnsemble");
    assert_eq!(starts(&status), 1);
    eventually("no server", || pod.server().is_none());
    assert_eq!(pod.end(), Some(0));
    fs::remove_file(pod.path("volume/conf/zoo.cfg.dynamic.200000000")).unwrap();
    pod.start();
    let waits =
        |s: &Value| s["server"]["state"] == "Waiting" && s["server"]["reason"] == "NotInEnsemble";
    let status = pod.wait_for("the same after a restart", waits);
    assert_eq!(starts(&status), 1, "it was noted before the server was stopped");
}

fn ends() {
    let mut pod = Pod::initialized();
    let server = pod.server().unwrap();
    assert!(pod.drain().contains("nothing to drain"));
    eventually("it is not ready", || pod.get("/readyz").0 == 503);
    signal(server, "KILL");
    pod.wait_for("the end of the server", |s| s["startHistory"][0]["endedAt"].is_string());
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!((pod.server(), starts(&pod.status())), (None, 1));
    assert_eq!(pod.end(), Some(0));
}

fn is_elsewhere() {
    let pod = Pod::started();
    pod.spec(json!({ "cluster": "other" }));
    pod.permit("Initialize", "n1");
    let status = pod.wait_for("a refusal", |s| {
        s["server"]["message"].as_str().is_some_and(|text| text.contains("cluster zk"))
    });
    assert!(status["permit"].is_null() && starts(&status) == 0, "{status:#}");
    pod.spec(json!({ "cluster": "zk" }));
    pod.wait_for("a member", |s| s["permit"]["state"] == "Done");
}
