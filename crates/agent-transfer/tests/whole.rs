//! From an empty store to the files that come back, by the child as the agent
//! starts it; and what of a second backup is sent.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod support;

use palladion_agent_transfer::tell::Done;
use serde_json::{Value, json};
use std::path::Path;
use support::{BACKUP, Ended, Member, back_up, host, repository, run, tree};

const TAG: &str = "palladion-b1-1";

fn base(folder: &Path, sealing: &str) -> Value {
    let (store, keys) = (folder.join("store"), folder.join("keys"));
    std::fs::create_dir_all(&store).unwrap();
    std::fs::create_dir_all(&keys).unwrap();
    std::fs::write(keys.join("one"), "ab".repeat(32)).unwrap();
    std::fs::write(keys.join("current"), "one").unwrap();
    let keys = (sealing == "Sealed").then_some(keys);
    json!({"repository": repository(sealing), "store": {"at": store}, "keys": keys})
}

fn two(folder: &Path, sealing: &str) -> [Member; 2] {
    support::two(folder, &base(folder, sealing))
}

#[test]
fn every_byte_comes_back_and_the_snapshot_is_gone_meanwhile() {
    for sealing in ["Plain", "Sealed"] {
        let folder = tempfile::tempdir().unwrap();
        let members = two(folder.path(), sealing);
        let ended = back_up(&members, BACKUP, TAG);
        for (member, ended) in members.iter().zip(&ended) {
            assert_eq!(member.left(TAG), 0, "what is in the store is gone from the snapshot");
            assert!(!member.snapshot("users", TAG).exists(), "and its folders");
            assert_eq!(ended.progress.files, 4 * 9);
            let into = folder.path().join(format!("into-{}", member.number));
            let fetched = run(&member.fetch(BACKUP, &into)).done();
            assert!(matches!(fetched, Done::Fetched { files: 37, .. }), "{fetched:?}");
            let mut found = tree(&into);
            found.retain(|name, _| name.starts_with(&host(member.number)));
            assert!(found == member.live(), "{sealing}: other files or bytes came back");
        }
        let verify = json!({"kind": "Verify", "backup": BACKUP, "depth": {"Sample": {"first": 3}}});
        match run(&members[0].settings(verify)).done() {
            Done::Verified { damaged, objects, .. } => assert!(damaged.is_empty() && objects > 8),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn what_an_earlier_backup_has_is_neither_read_nor_sent() {
    let folder = tempfile::tempdir().unwrap();
    let members = two(folder.path(), "Plain");
    back_up(&members, BACKUP, TAG);
    members[0].write("users", "4", 2_000_000);
    let ended = back_up(&members, "b2", "palladion-b2-1");
    let (first, second) = (ended[0].progress, ended[1].progress);
    assert!((2_000_000..2_200_000).contains(&first.sent_bytes), "{first:?}");
    assert!(second.sent_bytes < 60_000, "manifests alone: {second:?}");
    assert!(second.reused_bytes > 7_500_000, "{second:?}");
    // What the store has lost is sent again, though the manifest names it.
    let store = folder.path().join("store/sstables").join(host(2));
    std::fs::remove_dir_all(&store).unwrap();
    let ended = back_up(&members, "b3", "palladion-b3-1");
    assert!(ended[1].progress.sent_bytes > 7_500_000, "{:?}", ended[1].progress);
}

#[test]
fn a_transfer_that_has_ended_says_the_same_again() {
    let folder = tempfile::tempdir().unwrap();
    let members = two(folder.path(), "Plain");
    run(&members[0].prepare()).done();
    let schema = members[0].describe();
    members[0].take_snapshot(TAG);
    let upload = members[0].upload(BACKUP, TAG, &schema);
    let report = |ended: Ended| match ended.done() {
        Done::Uploaded { checkpoint, member, .. } => (checkpoint, member),
        other => panic!("{other:?}"),
    };
    let first = report(run(&upload));
    let before = tree(&folder.path().join("store"));
    assert_eq!(report(run(&upload)), first);
    assert!(tree(&folder.path().join("store")) == before, "nothing was written");
    // As after a crash between the note that a file is sent and its removal.
    let (live, name) = (members[0].snapshot("users", TAG), "nb-1-big-Data.db");
    std::fs::create_dir_all(&live).unwrap();
    std::fs::hard_link(live.ancestors().nth(2).unwrap().join(name), live.join(name)).unwrap();
    assert_eq!(report(run(&upload)), first);
    assert_eq!(members[0].left(TAG), 0);
}

#[test]
fn a_backup_that_is_given_up_leaves_nothing_on_the_volume_and_its_objects_to_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let members = two(folder.path(), "Plain");
    let other = "palladion-other-1";
    members[0].take_snapshot(other);
    run(&members[0].prepare()).done();
    let schema = members[0].describe();
    members[0].take_snapshot(TAG);
    run(&members[0].upload(BACKUP, TAG, &schema)).done();
    let discard = members[0].settings(json!({
        "kind": "Discard", "backup": BACKUP, "uploads": ["b1-1"], "tags": [TAG, "palladion-b1-2"], "outcome": "Failed",
        "data": [members[0].root.join("data")], "state": members[0].state(),
    }));
    for _ in 0..2 {
        assert!(matches!(run(&discard).done(), Done::Discarded { .. }));
    }
    assert!(!members[0].snapshot("users", TAG).exists());
    assert_eq!(members[0].left(other), 4 * 9, "no other snapshot is touched");
    assert_eq!(tree(&members[0].state()).len(), 0);
    let outcome = folder.path().join("store/backups/b1/outcome.json");
    assert!(std::fs::read_to_string(outcome).unwrap().contains("it was aborted"));
    // A member that has not heard of it sends nothing more.
    members[1].take_snapshot(TAG);
    let (cause, said) = run(&members[1].upload(BACKUP, TAG, &schema)).stopped();
    assert!(cause == "BackupFailed" && said.contains("backup b1 has failed"), "{said}");
    assert!(!folder.path().join("store/sstables").join(host(2)).exists());
    let ended = back_up(&members, "b2", "palladion-b2-1");
    assert!(ended[0].progress.sent_bytes < 60_000, "{:?}", ended[0].progress);
    let complete = json!({
        "kind": "Discard", "backup": "b2", "uploads": ["b2-1"], "tags": [TAG], "outcome": "Failed",
        "data": [members[0].root.join("data")], "state": members[0].state(),
    });
    let (_, said) = run(&members[0].settings(complete)).stopped();
    assert!(said.contains("b2"), "a complete backup stays: {said}");
}
