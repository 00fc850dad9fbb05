//! A member that runs: questions, jobs, restarts, rest, secrets.

use super::cases::Case;
use super::harness::{Pod, environment};
use super::processes::{command_line, signal};
use serde_json::{Value, json};
use std::fs;
use std::time::Duration;

pub const ALL: &[Case] = &[
    ("a_question_is_answered_once", a_question_is_answered_once),
    ("seeds_are_reloaded_without_a_restart", seeds_are_reloaded_without_a_restart),
    ("runtime_settings_are_told_and_taken_back", runtime_settings_are_told_and_taken_back),
    ("an_operation_runs_once", an_operation_runs_once),
    ("a_job_runs_once_and_is_refused_where_it_is_not_ours", a_job_runs_once),
    ("a_job_without_a_note_is_refused_and_nothing_is_called", a_job_without_a_note_is_refused),
    (
        "a_job_whose_end_cannot_be_noted_ends_for_whoever_waits",
        a_job_whose_end_cannot_be_noted_ends_for_whoever_waits,
    ),
    ("notes_that_cannot_be_read_fail_a_job", notes_that_cannot_be_read_fail_a_job),
    ("a_job_is_stopped_also_by_an_agent_that_did_not_begin_it", a_job_is_stopped),
    ("log_levels_are_given_back_by_a_later_agent", log_levels_are_given_back),
    ("stopped_and_started_by_the_spec", stopped_and_started_by_the_spec),
    ("at_rest_nothing_is_written", at_rest_nothing_is_written),
    ("credentials_are_nowhere_to_be_seen", credentials_are_nowhere_to_be_seen),
];

/// Its copies are counted, and it was looked at often enough.
fn is_at_rest(status: &Value) -> bool {
    status["copies"]["system_auth"] == 1 && status["health"][0]["result"] == "Healthy"
}

fn a_question_is_answered_once() {
    let pod = Pod::founded();
    pod.wait_for("rest", is_at_rest);
    std::thread::sleep(Duration::from_millis(500));
    let before = pod.api.status_writes();
    pod.api.change_spec("m-0", json!({"evidence": {"nonce": "q1"}}));
    let status = pod.wait_for("an answer", |s| s["evidence"]["nonce"] == "q1");
    let members = status["evidence"]["members"].as_array().unwrap().clone();
    assert_eq!(members.len(), 1);
    assert_eq!((&members[0]["liveness"], &members[0]["state"]), (&json!("Up"), &json!("Normal")));
    assert_eq!(members[0]["hostID"], status["hostID"]);
    assert_eq!(status["evidence"]["schemaAgreed"], true);
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(pod.api.status("m-0")["evidence"], status["evidence"]);
    assert_eq!(pod.api.status_writes(), before + 1, "one write answers it");
}

fn seeds_are_reloaded_without_a_restart() {
    let pod = Pod::founded();
    let server = pod.server();
    pod.api.change_spec("m-0", json!({"seeds": ["10.96.0.11", "10.96.0.13"]}));
    pod.wait_for("the seeds", |s| s["server"]["seeds"] == json!(["10.96.0.11", "10.96.0.13"]));
    assert_eq!(pod.server(), server);
}

fn runtime_settings_are_told_and_taken_back() {
    let pod = Pod::founded();
    let server = pod.server();
    let settings = json!({"compactionThroughput": 16, "logLevels": {"a.b": "DEBUG"}});
    pod.api.change_spec("m-0", json!({ "runtimeSettings": settings }));
    pod.wait_for("the settings", |s| s["server"]["runtimeSettings"] == settings);
    assert_eq!(pod.told(), ["CompactionThroughputMbPerSec=16", "a.b=DEBUG"]);
    signal(pod.agent().unwrap(), "KILL");
    std::thread::sleep(Duration::from_secs(2));
    pod.api.change_spec("m-0", json!({ "runtimeSettings": null }));
    pod.wait_for("none", |s| s["server"]["runtimeSettings"].is_null());
    assert_eq!(
        pod.told()[2..],
        ["CompactionThroughputMbPerSec=64", "a.b="],
        "an agent that was killed knows what was before"
    );
    assert_eq!(pod.server(), server);
}

fn an_operation_runs_once() {
    let pod = Pod::founded();
    pod.api.change_spec("m-0", json!({"operation": {"id": "o1", "kind": "Flush"}}));
    let status = pod.wait_for("its end", |s| s["operation"]["state"] == "Succeeded");
    signal(pod.agent().unwrap(), "KILL");
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(pod.api.status("m-0")["operation"], status["operation"]);
    pod.api.change_spec("m-0", json!({"operation": {"id": "o2", "kind": "Cleanup"}}));
    let status = pod.wait_for("a failure", |s| {
        s["operation"]["id"] == "o2" && s["operation"]["state"] == "Failed"
    });
    assert!(status["operation"]["message"].as_str().unwrap().contains("system_auth"));
}

/// Give the member a job.
fn job(pod: &Pod, id: &str, work: serde_json::Value) {
    let status = pod.api.status("m-0");
    let mut job = json!({
        "id": id, "task": "t1", "epoch": 1, "deadlineSeconds": 600, "wanted": "Run",
        "hostID": status["hostID"], "volumeID": status["volume"]["volumeID"],
    });
    for (key, value) in work.as_object().unwrap() {
        job[key] = value.clone();
    }
    pod.api.change_spec("m-0", json!({ "job": job }));
}

fn a_job_runs_once() {
    let pod = Pod::founded();
    job(&pod, "n-0-1", json!({"flush": {}}));
    let status = pod.wait_for("its end", |s| s["job"]["state"] == "Succeeded");
    assert_eq!(status["job"]["results"][0]["name"], "system_auth");
    let notes = || fs::read_to_string(pod.path("data/.palladion/jobs.json")).unwrap();
    let noted = notes();
    assert!(noted.contains("n-0-1"));
    signal(pod.agent().unwrap(), "KILL");
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(pod.api.status("m-0")["job"], status["job"]);
    assert_eq!(notes(), noted);
    job(&pod, "n-1-1", json!({"flush": {}, "hostID": "another"}));
    let status = pod.wait_for("a refusal", |s| s["job"]["state"] == "Refused");
    assert_eq!(status["job"]["cause"], "OtherHostID");
}

/// Of a disk that is full, or whose notes cannot be read: whoever waits is told, and
/// nothing is called.
fn a_job_without_a_note_is_refused() {
    let pod = Pod::founded();
    // Nothing can be written in its place.
    fs::create_dir_all(pod.path("data/.palladion/jobs.part")).unwrap();
    job(&pod, "n-0-1", json!({"cleanup": {}}));
    let status = pod.wait_for("a refusal", |s| s["job"]["state"] == "Refused");
    assert_eq!(status["job"]["cause"], "VolumeError");
    let message = status["job"]["message"].as_str().unwrap();
    assert!(message.contains("jobs.part"), "{message}");
    assert_eq!(pod.told(), Vec::<String>::new());
    // It stays refused when there is room again, and the next one is begun.
    fs::remove_dir(pod.path("data/.palladion/jobs.part")).unwrap();
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(pod.api.status("m-0")["job"]["state"], "Refused");
    job(&pod, "n-0-2", json!({"cleanup": null, "flush": {}}));
    pod.wait_for("its end", |s| s["job"]["id"] == "n-0-2" && s["job"]["state"] == "Succeeded");
}

fn a_job_whose_end_cannot_be_noted_ends_for_whoever_waits() {
    let pod = Pod::founded();
    fs::write(pod.path("tmp").join(super::fake_server::HELD), "").unwrap();
    job(&pod, "n-0-1", json!({"cleanup": {}}));
    pod.wait_for("its beginning", |s| s["job"]["table"] == "roles");
    fs::create_dir_all(pod.path("data/.palladion/jobs.part")).unwrap();
    job(&pod, "n-0-1", json!({"cleanup": {}, "wanted": "Stop"}));
    let ended =
        |s: &serde_json::Value| s["job"]["state"] == "Failed" || s["job"]["state"] == "Aborted";
    pod.wait_for("its end", ended);
    job(&pod, "n-1-1", json!({"cleanup": {}}));
    let of_next = |s: &serde_json::Value| s["job"]["id"] == "n-1-1";
    let status = pod.wait_for("a refusal", of_next);
    assert_eq!(
        (&status["job"]["state"], &status["job"]["cause"]),
        (&json!("Refused"), &json!("VolumeError"))
    );
    assert_eq!(pod.told(), ["cleanup", "stop \"c1\""], "nothing else was called");
}

fn notes_that_cannot_be_read_fail_a_job() {
    let pod = Pod::founded();
    fs::write(pod.path("data/.palladion/jobs.json"), "{").unwrap();
    signal(pod.agent().unwrap(), "KILL");
    std::thread::sleep(Duration::from_secs(2));
    job(&pod, "n-0-1", json!({"cleanup": {}}));
    let status = pod.wait_for("a failure", |s| s["job"]["state"] == "Failed");
    assert_eq!(status["job"]["cause"], "VolumeError");
    assert_eq!(pod.told(), Vec::<String>::new());
}

fn a_job_is_stopped() {
    let pod = Pod::founded();
    fs::write(pod.path("tmp").join(super::fake_server::HELD), "").unwrap();
    job(&pod, "n-0-1", json!({"cleanup": {}}));
    pod.wait_for("its beginning", |s| s["job"]["table"] == "roles");
    let before = std::time::Instant::now();
    job(&pod, "n-0-1", json!({"cleanup": {}, "wanted": "Stop"}));
    pod.wait_for("its end", |s| s["job"]["state"] == "Aborted");
    assert!(before.elapsed() < Duration::from_secs(5));
    assert_eq!(pod.told(), ["cleanup", "stop \"c1\""]);

    job(&pod, "n-1-1", json!({"cleanup": {}}));
    pod.wait_for("a beginning", |s| s["job"]["id"] == "n-1-1" && s["job"]["table"] == "roles");
    signal(pod.agent().unwrap(), "KILL");
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(pod.api.status("m-0")["job"]["state"], "Running");
    job(&pod, "n-1-1", json!({"cleanup": {}, "wanted": "Stop"}));
    pod.wait_for("a stop", |s| s["job"]["state"] == "Stopping");
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(
        pod.told(),
        ["cleanup", "stop \"c1\"", "cleanup", "stop \"c1\""],
        "it is stopped, and not begun again"
    );
}

fn log_levels_are_given_back() {
    let pod = Pod::founded();
    job(&pod, "n-0-1", json!({"setLogLevel": {"levels": {"a.b": "DEBUG"}, "seconds": 4}}));
    pod.wait_for("its end", |s| s["job"]["state"] == "Succeeded");
    assert_eq!(pod.told(), ["a.b=DEBUG"]);
    signal(pod.agent().unwrap(), "KILL");
    std::thread::sleep(Duration::from_secs(7));
    assert_eq!(pod.told(), ["a.b=DEBUG", "a.b="]);
}

fn stopped_and_started_by_the_spec() {
    let pod = Pod::founded();
    pod.api.change_spec("m-0", json!({"run": "Stopped"}));
    let status = pod.wait_for("a stop", |s| s["server"]["state"] == "Stopped");
    assert_eq!(status["server"]["reason"], "StoppedByIntent");
    assert_eq!(pod.server(), None);
    pod.api.change_spec("m-0", json!({"run": "Running"}));
    pod.wait_for("a start", |s| s["server"]["state"] == "Running");
    pod.api.change_spec("m-0", json!({"restartToken": "t1"}));
    let status = pod.wait_for("a restart", |s| {
        s["server"]["restartToken"] == "t1" && s["server"]["state"] == "Running"
    });
    assert_eq!(status["startHistory"].as_array().unwrap().len(), 3);
}

fn at_rest_nothing_is_written() {
    let pod = Pod::founded();
    pod.wait_for("rest", is_at_rest);
    std::thread::sleep(Duration::from_secs(2));
    let before = pod.api.status_writes();
    std::thread::sleep(Duration::from_secs(8));
    assert_eq!(pod.api.status_writes(), before);
}

fn credentials_are_nowhere_to_be_seen() {
    let pod = Pod::founded();
    let properties = fs::read_to_string(pod.path("run/jolokia.properties")).unwrap();
    let password = properties.lines().find_map(|l| l.strip_prefix("password=")).unwrap();
    assert!(password.len() >= 64);
    for pid in [pod.server().unwrap(), pod.agent().unwrap(), pod.init.as_ref().unwrap().id()] {
        assert!(!command_line(pid).contains(password) && !environment(pid).contains(password));
    }
    assert!(!pod.log().contains(password));
    use std::os::unix::fs::PermissionsExt;
    for name in ["run/jolokia.properties", "run/launch.json"] {
        assert_eq!(fs::metadata(pod.path(name)).unwrap().permissions().mode() & 0o077, 0, "{name}");
    }
}
