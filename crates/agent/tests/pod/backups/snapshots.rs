//! Snapshots on the disk: which are taken, kept and cleared.

use super::super::cases::Case;
use super::super::harness::exists;
use super::super::processes::signal;
use super::*;
use std::time::Duration;

pub const ALL: &[Case] = &[
    ("a_discard_leaves_no_snapshot_and_a_failed_outcome", a_discard_leaves_nothing),
    ("a_tag_is_used_once", a_tag_is_used_once),
    ("a_snapshot_that_nobody_names_is_cleared_and_a_users_never", snapshots_are_cleared),
    ("a_snapshot_stays_where_no_backup_was_prepared", snapshots_of_others_stay),
];

fn a_discard_leaves_nothing() {
    let pod = a_pod();
    let (_, child) = begun_upload(&pod);
    let journal = pod.path("data/.palladion/transfers/upload-1.journal");
    assert!(journal.exists());
    let users = folder(&pod, "of-a-user");
    fs::create_dir_all(&users).unwrap();
    let discard =
        json!({"tags": [TAG, "palladion-b1-2"], "uploads": ["upload-1"], "writeOutcome": true});
    done(&pod, "discard-1", json!({ "discard": discard }));
    assert!(!exists(child) && !folder(&pod, TAG).exists() && !journal.exists());
    assert!(users.exists());
    assert!(pod.told().contains(&format!("clear [\"{TAG}\",[]]")), "{:?}", pod.told());
    let outcome = fs::read_to_string(pod.path("store/backups/b1/outcome.json")).unwrap();
    assert!(outcome.contains("it was aborted"), "{outcome}");
    assert!(verified(&pod, "b1").is_err());
    // Without the server, and without an outcome to write, as well; the store is not there.
    done(
        &pod,
        "snapshot-2",
        json!({"backup": "b2", "snapshot": {"tag": "palladion-b2-1", "ttlSeconds": 60}}),
    );
    pod.api.change_spec("m-0", json!({"run": "Stopped"}));
    pod.wait_for("a stop", |s| s["server"]["state"] == "Stopped");
    fs::rename(pod.path("store"), pod.path("store-away")).unwrap();
    assert!(folder(&pod, "palladion-b2-1").exists());
    let discard = json!({"tags": ["palladion-b2-1"], "uploads": [], "writeOutcome": false});
    done(&pod, "discard-2", json!({"backup": "b2", "discard": discard}));
    assert!(!folder(&pod, "palladion-b2-1").exists());
}

fn a_tag_is_used_once() {
    let pod = a_pod();
    done(&pod, "snapshot-1", snapshot());
    order(&pod, "snapshot-2", snapshot());
    let status = ended(&pod, "snapshot-2");
    assert_eq!((&status["state"], &status["cause"]), (&json!("Failed"), &json!("BackupFailed")));
    assert!(status["message"].as_str().unwrap().contains(TAG), "{status}");
    let asked = pod.told().iter().filter(|line| line.starts_with("snapshot")).count();
    assert_eq!(asked, 1, "the server is not asked again");
}

fn snapshots_are_cleared() {
    let pod = a_pod();
    done(&pod, "prepare-1", json!({"prepare": {}}));
    done(&pod, "snapshot-1", snapshot());
    let (left, users) = (folder(&pod, "palladion-b0-3"), folder(&pod, "of-a-user"));
    for folder in [&left, &users, &folder(&pod, "palladion")] {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join("nb-1-big-Data.db"), "x").unwrap();
    }
    // An order of its backup that names no snapshot.
    done(&pod, "prepare-2", json!({"prepare": {}}));
    signal(pod.agent().unwrap(), "KILL");
    eventually("the end of what nobody names", || !left.exists());
    std::thread::sleep(Duration::from_secs(2));
    assert!(users.exists() && folder(&pod, "palladion").exists());
    assert!(folder(&pod, TAG).exists(), "the record names it");
    let cleared: Vec<String> =
        pod.told().into_iter().filter(|line| line.starts_with("clear")).collect();
    assert_eq!(cleared, ["clear [\"palladion-b0-3\",[]]"]);
    // Another backup's snapshot takes its place.
    done(
        &pod,
        "snapshot-2",
        json!({"backup": "b2", "snapshot": {"tag": "palladion-b2-1", "ttlSeconds": 60}}),
    );
    eventually("the end of the one before", || !folder(&pod, TAG).exists());
    assert!(folder(&pod, "palladion-b2-1").exists() && users.exists());
    // Without an order its backup has ended, wherever the leader did.
    pod.api.change_spec("m-0", json!({ "transfer": null }));
    signal(pod.agent().unwrap(), "KILL");
    eventually("the end of the last one", || !folder(&pod, "palladion-b2-1").exists());
    assert!(users.exists() && folder(&pod, "palladion").exists());
}

/// On a volume of which no backup was prepared, whatever its name.
fn snapshots_of_others_stay() {
    let pod = a_pod();
    let users = folder(&pod, "palladion-before-upgrade");
    fs::create_dir_all(&users).unwrap();
    signal(pod.agent().unwrap(), "KILL");
    std::thread::sleep(Duration::from_secs(4));
    assert!(users.exists());
}
