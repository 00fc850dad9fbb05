//! Starts and ends: of the server, the agent, the container, the member.

use super::cases::Case;
use super::fake_server::{FAIL, SLOW};
use super::harness::{Pod, eventually, exists};
use super::processes::signal;
use serde_json::json;
use std::fs;
use std::time::{Duration, Instant};

pub const ALL: &[Case] = &[
    ("an_empty_volume_waits_and_founds_by_permit", an_empty_volume_waits_and_founds_by_permit),
    ("a_killed_agent_leaves_the_server_running", a_killed_agent_leaves_the_server_running),
    ("a_killed_server_comes_back_at_once", a_killed_server_comes_back_at_once),
    ("a_member_comes_back_with_the_api_away", a_member_comes_back_with_the_api_away),
    ("an_api_that_goes_away_touches_nothing", an_api_that_goes_away_touches_nothing),
    ("the_container_ends_cleanly", the_container_ends_cleanly),
    ("a_failed_join_is_told_and_not_repeated", a_failed_join_is_told_and_not_repeated),
    (
        "a_start_that_cannot_be_written_down_does_not_happen",
        a_start_that_cannot_be_written_down_does_not_happen,
    ),
    ("a_withdrawn_permit_is_acknowledged", a_withdrawn_permit_is_acknowledged),
    (
        "the_hook_drains_and_nothing_is_started_after_it",
        the_hook_drains_and_nothing_is_started_after_it,
    ),
    ("a_member_that_left_is_never_started_again", a_member_that_left_is_never_started_again),
    ("nothing_starts_on_what_is_left_of_a_member", nothing_starts_on_what_is_left_of_a_member),
    (
        "a_server_that_comes_up_as_somebody_else_is_stopped_for_good",
        a_server_that_comes_up_as_somebody_else_is_stopped_for_good,
    ),
    ("the_volume_of_another_member_is_refused", the_volume_of_another_member_is_refused),
];

fn an_empty_volume_waits_and_founds_by_permit() {
    let pod = Pod::started();
    let status = pod.wait_for("a report", |s| s["volume"]["state"] == "Empty");
    assert_eq!(status["server"]["reason"], "WaitingForPermit");
    assert_eq!(pod.get("/healthz").0, 200);
    assert_eq!(pod.get("/readyz").0, 503);
    assert_eq!(pod.server(), None);
    pod.permit("Initialize", "n1", "MustBeEmpty");
    let status = pod.wait_for("a full member", |s| s["permit"]["state"] == "Done");
    assert_eq!(status["server"]["mode"], "NORMAL");
    assert_eq!(status["address"], "10.96.0.11");
    assert_eq!(status["volume"]["state"], "Joined");
    assert_eq!(status["ring"]["members"], 1);
    assert_eq!(status["startHistory"][0]["cause"], "Initialize");
    eventually("readiness", || pod.get("/readyz").0 == 200);
    assert!(pod.get("/metrics").1.contains("palladion_agent_server_mode{mode=\"NORMAL\"} 1"));
    eventually("a sign of life", || pod.path("data/.palladion/heartbeat.json").exists());
    let start = r#""message":"starting the server","cause":"Initialize","seeds":"10.96.0.11"}"#;
    assert!(pod.log().contains(start), "a founder is its own only seed\n{}", pod.log());
}

fn a_killed_agent_leaves_the_server_running() {
    let pod = Pod::founded();
    let (server, agent) = (pod.server().unwrap(), pod.agent().unwrap());
    signal(agent, "KILL");
    eventually("another agent", || pod.agent().is_some_and(|now| now != agent));
    pod.api.change_spec("m-0", json!({"evidence": {"nonce": "after"}}));
    let status = pod.wait_for("an answer of the new agent", |s| s["evidence"]["nonce"] == "after");
    assert_eq!(status["evidence"]["mode"], "NORMAL");
    assert_eq!(pod.server(), Some(server));
    assert_eq!(status["startHistory"].as_array().unwrap().len(), 1);
}

fn a_killed_server_comes_back_at_once() {
    let pod = Pod::founded();
    let server = pod.server().unwrap();
    let killed = Instant::now();
    signal(server, "KILL");
    eventually("another server", || pod.server().is_some_and(|now| now != server));
    assert!(killed.elapsed() < Duration::from_secs(5));
    let status = pod.wait_for("a full member again", |s| {
        s["server"]["state"] == "Running"
            && s["startHistory"].as_array().is_some_and(|h| h.len() == 2)
    });
    assert_eq!(status["startHistory"][1]["exitCode"], 137);
    assert_eq!(status["startHistory"][0]["cause"], "Autonomous");
}

fn a_member_comes_back_with_the_api_away() {
    let mut pod = Pod::founded();
    assert_eq!(pod.end(), Some(0));
    pod.api.go_away();
    pod.start();
    eventually("the server", || pod.server().is_some());
    eventually("readiness", || pod.get("/readyz").0 == 200);
    pod.api.come_back();
    let status =
        pod.wait_for("a report", |s| s["startHistory"].as_array().is_some_and(|h| h.len() == 2));
    assert_eq!(status["startHistory"][0]["cause"], "Autonomous");
}

fn an_api_that_goes_away_touches_nothing() {
    let mut pod = Pod::founded();
    let (server, agent) = (pod.server(), pod.agent());
    pod.api.go_away();
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!((pod.server(), pod.agent()), (server, agent));
    assert_eq!(pod.get("/readyz").0, 200);
    pod.api.come_back();
    pod.api.change_spec("m-0", json!({"evidence": {"nonce": "back"}}));
    pod.wait_for("an answer", |s| s["evidence"]["nonce"] == "back");
    assert_eq!(pod.server(), server);
}

fn the_container_ends_cleanly() {
    let mut pod = Pod::founded();
    let (server, agent) = (pod.server().unwrap(), pod.agent().unwrap());
    assert_eq!(pod.end(), Some(0));
    assert!(!exists(server) && !exists(agent));
    assert!(!pod.path("run/init.sock").exists());
}

fn a_failed_join_is_told_and_not_repeated() {
    let pod = Pod::started();
    fs::write(pod.path("tmp").join(FAIL), "java.lang.RuntimeException: A node with address /10.96.0.11:7000 already exists, cancelling join.").unwrap();
    pod.permit("Join", "n1", "MustBeEmpty");
    let status = pod.wait_for("a failure", |s| s["permit"]["state"] == "Failed");
    assert!(status["permit"]["message"].as_str().unwrap().contains("already exists"), "{status:#}");
    let status = pod.wait_for("the state", |s| s["server"]["state"] == "Failed");
    assert_eq!(status["startHistory"][0]["exitCode"], 3);
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(pod.wait_for("the same", |_| true)["startHistory"].as_array().unwrap().len(), 1);
    fs::remove_file(pod.path("tmp").join(FAIL)).unwrap();
    pod.permit("Join", "n2", "Wipe");
    let status = pod.wait_for("a full member", |s| s["permit"]["state"] == "Done");
    assert_eq!(status["permit"]["nonce"], "n2");
    let yaml = fs::read_to_string(pod.path("run/conf/cassandra.yaml")).unwrap();
    assert!(yaml.contains("seeds: 10.96.0.12\n"), "{yaml}");
}

/// A server that runs without a trace would be started again by the same permit.
fn a_start_that_cannot_be_written_down_does_not_happen() {
    let pod = Pod::started();
    pod.wait_for("a report", |s| s["volume"]["state"] == "Empty");
    let in_the_way = pod.path("data/.palladion/ledger.part");
    fs::create_dir(&in_the_way).unwrap();
    pod.permit("Initialize", "n1", "MustBeEmpty");
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(pod.server(), None);
    assert!(!pod.log().contains("fake server"), "{}", pod.log());
    fs::remove_dir(&in_the_way).unwrap();
    let status = pod.wait_for("a full member", |s| s["permit"]["state"] == "Done");
    assert_eq!(status["startHistory"].as_array().unwrap().len(), 1);
}

fn a_withdrawn_permit_is_acknowledged() {
    let pod = Pod::started();
    fs::write(pod.path("tmp").join(SLOW), "60").unwrap();
    pod.permit("Join", "n1", "MustBeEmpty");
    pod.wait_for("a joining server", |s| s["server"]["mode"] == "STARTING");
    assert_eq!(pod.api.status("m-0")["permit"]["state"], "Used");
    pod.api.change_spec("m-0", json!({"start": null}));
    let status = pod.wait_for("an acknowledgement", |s| s["permit"]["state"] == "Withdrawn");
    assert_eq!(status["permit"]["nonce"], "n1");
    assert_eq!(pod.server(), None);
}

fn the_hook_drains_and_nothing_is_started_after_it() {
    let pod = Pod::founded();
    assert_eq!(pod.drain(), "the server is drained\n");
    eventually("unreadiness", || pod.get("/readyz").0 == 503);
    assert_eq!(pod.get("/healthz").0, 200);
    signal(pod.server().unwrap(), "KILL");
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(pod.server(), None);
}

fn a_member_that_left_is_never_started_again() {
    let mut pod = Pod::founded();
    let status = pod.api.status("m-0");
    let intent = json!({"kind": "Decommission", "nonce": "d1", "hostID": "another", "volumeID": status["volume"]["volumeID"]});
    pod.api.change_spec("m-0", json!({"intent": intent}));
    pod.wait_for("a refusal", |s| s["intent"]["state"] == "Refused");
    pod.api.change_spec("m-0", json!({"intent": {"nonce": "d2", "hostID": status["hostID"]}}));
    pod.wait_for("leaving", |s| s["server"]["mode"] == "LEAVING");
    let status = pod.wait_for("the end", |s| s["server"]["state"] == "Decommissioned");
    assert_eq!(status["intent"]["state"], "Done");
    assert_eq!(status["volume"]["state"], "Left");
    assert_eq!(pod.server(), None);
    assert_eq!(pod.end(), Some(0));
    pod.api.change_spec("m-0", json!({"intent": null}));
    pod.start();
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(pod.server(), None);
    assert_eq!(pod.get("/healthz").0, 200);
}

fn nothing_starts_on_what_is_left_of_a_member() {
    let mut pod = Pod::founded();
    assert_eq!(pod.end(), Some(0));
    fs::remove_dir_all(pod.path("data/data/system")).unwrap();
    fs::create_dir_all(pod.path("data/commitlog")).unwrap();
    fs::write(pod.path("data/commitlog/CommitLog-7-1.log"), "rows").unwrap();
    pod.start();
    let status = pod.wait_for("the reason", |s| s["server"]["reason"] == "VolumeDamaged");
    assert_eq!(status["volume"]["state"], "Unaccounted");
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(pod.server(), None);
}

fn a_server_that_comes_up_as_somebody_else_is_stopped_for_good() {
    let mut pod = Pod::founded();
    assert_eq!(pod.end(), Some(0));
    fs::remove_file(pod.path("data/data/system/host-id")).unwrap();
    pod.start();
    let is_over = |s: &serde_json::Value| {
        s["server"]["reason"] == "VolumeDamaged" && s["server"]["state"] == "Waiting"
    };
    let status = pod.wait_for("the end of that server", is_over);
    assert_eq!(status["startHistory"].as_array().unwrap().len(), 2);
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(pod.server(), None);
    // Neither by the next agent.
    assert_eq!(pod.end(), Some(0));
    pod.start();
    pod.wait_for("the same", is_over);
    assert_eq!(pod.server(), None);
}

fn the_volume_of_another_member_is_refused() {
    let mut pod = Pod::founded();
    assert_eq!(pod.end(), Some(0));
    let marker = pod.path("data/.palladion/volume.json");
    let text = fs::read_to_string(&marker).unwrap();
    assert!(text.contains("\"m-0\""), "{text}");
    fs::write(&marker, text.replace("\"m-0\"", "\"m-1\"")).unwrap();
    pod.start();
    let status = pod.wait_for("the reason", |s| s["server"]["reason"] == "VolumeForeign");
    assert!(status["volume"]["message"].as_str().unwrap().contains("member m-1"), "{status:#}");
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(pod.server(), None);
}
