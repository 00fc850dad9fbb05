//! What goes on, and what ends, when something goes away in the middle.

use super::super::cases::Case;
use super::super::harness::exists;
use super::super::processes::signal;
use super::*;
use std::time::Duration;

pub const ALL: &[Case] = &[
    ("an_upload_goes_on_after_its_agent_was_killed", an_upload_goes_on),
    ("a_rate_that_changes_reaches_what_runs", a_rate_that_changes),
    ("an_upload_begins_at_its_least_rate_which_may_change", an_upload_begins_slowly),
    ("an_order_that_is_withdrawn_ends_the_child", an_order_that_is_withdrawn),
    ("a_spec_that_is_not_live_begins_no_transfer", a_spec_that_is_not_live),
    ("what_needs_the_server_waits_for_it", what_needs_the_server_waits),
];

fn an_upload_goes_on() {
    let pod = a_pod();
    let (upload, child) = begun_upload(&pod);
    signal(pod.agent().unwrap(), "KILL");
    eventually("the end of the child with its agent", || !exists(child));
    order(&pod, "upload-1", upload);
    let sent = ended(&pod, "upload-1");
    assert_eq!(sent["state"], "Done", "{sent:#}");
    assert_eq!(sent["uploaded"]["files"], 5 * SSTABLES);
    // Of each SSTable its data and a pack; one that was not noted when the agent was killed
    // is sent again.
    let objects = files(&pod.path("store/sstables")).len();
    assert!((2 * SSTABLES..=2 * SSTABLES + 1).contains(&objects), "{objects}");
    done(&pod, "finish-1", finish_of(&pod, &sent["uploaded"]));
    verified(&pod, "b1").unwrap();
}

fn a_rate_that_changes() {
    let pod = a_pod();
    let (upload, child) = begun_upload(&pod);
    let mut slower = upload.clone();
    slower["bytesPerSecond"] = json!(10_000);
    order(&pod, "upload-1", slower);
    // The one that is on its way may still come.
    std::thread::sleep(Duration::from_secs(5));
    let sent = files(&pod.path("store/sstables")).len();
    std::thread::sleep(Duration::from_secs(5));
    assert_eq!(files(&pod.path("store/sstables")).len(), sent, "an object takes minutes");
    assert!(exists(child), "it is told, and not begun anew");
    order(&pod, "upload-1", upload);
    assert_eq!(ended(&pod, "upload-1")["state"], "Done");
}

/// The agent has not seen for a minute what is usual for its server.
fn an_upload_begins_slowly() {
    let pod = a_pod();
    let upload = until_upload(&pod);
    let mut slow = upload.clone();
    slow["minimumBytesPerSecond"] = json!(100_000);
    order(&pod, "upload-1", slow);
    let begun = || files(&pod.path("store/sstables")).len();
    eventually("the first object", || begun() > 0);
    std::thread::sleep(Duration::from_secs(8));
    assert!(begun() <= 2, "2 MB take 20 s: {} objects", begun());
    let child = transfer_child(&pod).unwrap();
    let mut fast = upload;
    fast["minimumBytesPerSecond"] = json!(50_000_000);
    order(&pod, "upload-1", fast);
    assert_eq!(ended(&pod, "upload-1")["state"], "Done");
    assert!(!exists(child));
    assert_eq!(pod.log().matches("transfer begun").count(), 4, "it is told, and not begun anew");
}

fn an_order_that_is_withdrawn() {
    let pod = a_pod();
    let (_, child) = begun_upload(&pod);
    pod.api.change_spec("m-0", json!({ "transfer": null }));
    eventually("the end of the child", || !exists(child));
    pod.wait_for("nothing to tell", |s| s["transfer"].is_null());
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(transfer_child(&pod), None, "nothing is begun again");
    assert!(folder(&pod, TAG).exists(), "the snapshot of its backup is kept");
}

fn a_spec_that_is_not_live() {
    let mut pod = a_pod();
    let (upload, child) = begun_upload(&pod);
    eventually("the order beside the ledger", || {
        let saved = files(&pod.path("data/.palladion"));
        saved.iter().any(|path| {
            path.extension().is_some_and(|e| e == "json")
                && !path.ends_with("transfer.json")
                && fs::read_to_string(path).unwrap_or_default().contains("upload-1")
        })
    });
    pod.api.go_away();
    std::thread::sleep(Duration::from_secs(2));
    assert!(exists(child), "what runs goes on");
    let agent = pod.agent().unwrap();
    signal(agent, "KILL");
    eventually("the end of the child with its agent", || !exists(child));
    eventually("another agent", || pod.agent().is_some_and(|pid| pid != agent));
    std::thread::sleep(Duration::from_secs(4));
    assert_eq!(transfer_child(&pod), None, "a spec of earlier begins nothing");
    assert!(folder(&pod, TAG).exists());
    pod.api.come_back();
    order(&pod, "upload-1", upload);
    assert_eq!(ended(&pod, "upload-1")["state"], "Done");
}

fn what_needs_the_server_waits() {
    let pod = a_pod();
    pod.api.change_spec("m-0", json!({"run": "Stopped"}));
    pod.wait_for("a stop", |s| s["server"]["state"] == "Stopped");
    order(&pod, "prepare-1", json!({"prepare": {}}));
    let waits = |s: &Value| s["transfer"]["state"] == "Waiting";
    let status = pod.wait_for("that it waits", waits)["transfer"].clone();
    assert_eq!(status["cause"], "ServerDown");
    assert!(status["message"].as_str().unwrap().contains("goes on"), "{status}");
    assert!(!pod.path("store/repository.json").exists());
    // An agent that comes after tells the same.
    let before = pod.api.status_writes();
    signal(pod.agent().unwrap(), "KILL");
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(pod.api.status("m-0")["transfer"], status);
    let writes = pod.api.status_writes() - before;
    assert!(writes < 5, "tries are not told one by one: {writes}");
    pod.api.change_spec("m-0", json!({"run": "Running"}));
    assert_eq!(ended(&pod, "prepare-1")["state"], "Done");
}
