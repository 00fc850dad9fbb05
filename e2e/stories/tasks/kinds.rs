//! Each kind of work, on all members.

use palladion_e2e::checked::KEYSPACE;
use palladion_e2e::{Ring, bed};
use serde_json::{Value, json};

use super::{NAMESPACE, ask, in_server, wait_done};

/// In the order in which they are asked for, which is the order of their names.
fn works() -> Vec<(&'static str, Value)> {
    vec![
        ("w0-flush", json!({ "flush": {} })),
        ("w1-snapshot", json!({ "snapshot": { "name": "before", "keyspaces": [KEYSPACE] } })),
        ("w2-cleanup", json!({ "cleanup": {} })),
        ("w3-compact", json!({ "compact": { "keyspaces": [KEYSPACE] } })),
        ("w4-garbage", json!({ "garbageCollect": { "keyspaces": [KEYSPACE] } })),
        ("w5-scrub", json!({ "scrub": { "snapshot": "Skip", "keyspaces": [KEYSPACE] } })),
        ("w6-upgrade", json!({ "upgradeSSTables": { "which": "All", "tables": ["kept.rows"] } })),
        ("w7-levels", json!({ "setLogLevel": { "levels": { GOSSIP: "DEBUG" }, "seconds": 1200 } })),
        ("w8-repair", json!({ "repair": { "keyspaces": [KEYSPACE] } })),
    ]
}

const GOSSIP: &str = "org.apache.cassandra.gms";
const SNAPSHOTS: &str =
    "ls -d /var/lib/cassandra/data/kept/rows-*/snapshots/before 2>/dev/null | wc -l";

pub(super) fn in_order(ring: &Ring<'_>) {
    let (uids, members) = (ring.pod_uids().expect("uids"), ring.member_names().expect("names"));
    for (task, spec) in works() {
        ask(task, spec);
    }
    let mut spans = Vec::new();
    for (task, _) in works() {
        let ended = wait_done(task);
        let done = ended["status"]["members"].as_array().cloned().unwrap_or_default();
        assert_eq!(done.len(), members.len(), "{task}: {}", ended["status"]);
        for member in done {
            assert_eq!(member["state"], "Succeeded", "{task}: {member}");
            let at = |field: &str| member[field].as_str().expect("a time").to_string();
            spans.push((at("startedAt"), at("endedAt"), format!("{task} on {}", member["name"])));
        }
    }
    let in_turn = spans.windows(2).find(|pair| pair[1].0 < pair[0].1);
    assert_eq!(in_turn, None, "the second began before the first had ended");
    for member in &members {
        assert_eq!(in_server(member, SNAPSHOTS).trim(), "1", "a snapshot on {member}");
        let levels = in_server(member, "nodetool getlogginglevels");
        let is_set = levels.lines().any(|l| l.contains(GOSSIP) && l.contains("DEBUG"));
        assert!(is_set, "{member}: {levels}");
    }
    let waits = format!("wait cassandratask/w8-repair -n {NAMESPACE} --for=condition=Complete");
    bed().kubectl(&waits).expect("whoever waits for it sees the end");
    ask("w9-clear", json!({ "clearSnapshot": { "name": "before" } }));
    wait_done("w9-clear");
    for member in &members {
        assert_eq!(in_server(member, SNAPSHOTS).trim(), "0", "no snapshot on {member}");
    }
    assert_eq!(ring.pod_uids().expect("uids"), uids, "nobody was restarted");
    ring.check_data().expect("all rows");
}

pub(super) fn restarts(ring: &Ring<'_>) {
    let ids = ring.host_ids().expect("host IDs");
    let starts = || -> Vec<Value> {
        let members = ring.members().expect("members");
        members.iter().map(|m| m["status"]["startHistory"][0]["startedAt"].clone()).collect()
    };
    let before = starts();
    ask("restart", json!({ "restart": {} }));
    let ended = wait_done("restart");
    assert_eq!(ended["status"]["members"].as_array().map(Vec::len), Some(3));
    let after = starts();
    assert!(before.iter().zip(&after).all(|(old, new)| old != new), "{before:?} {after:?}");
    assert_eq!(ring.host_ids().expect("host IDs"), ids);
    ring.wait_members(3).expect("all well");
    let waits = format!("wait cassandratask/restart -n {NAMESPACE} --for=condition=Complete");
    bed().kubectl(&waits).expect("whoever waits for it sees the end");
    ring.check_data().expect("all rows");
}

/// The data files of the table that is checked, on a member.
fn files(member: &str) -> Vec<String> {
    let listed = in_server(member, "cd /var/lib/cassandra/data/kept && ls rows-*/*-Data.db");
    listed.lines().map(str::to_owned).collect()
}

/// What the server calls done is done to its files: none of those before is left.
pub(super) fn rewrite(ring: &Ring<'_>) {
    let members = ring.member_names().expect("names");
    ask("all-on-disk", json!({ "flush": { "keyspaces": [KEYSPACE] } }));
    wait_done("all-on-disk");
    let kinds = [
        ("rewrites-garbage", json!({ "garbageCollect": { "keyspaces": [KEYSPACE] } })),
        ("rewrites-scrub", json!({ "scrub": { "snapshot": "Skip", "keyspaces": [KEYSPACE] } })),
        (
            "rewrites-upgrade",
            json!({ "upgradeSSTables": { "which": "All", "keyspaces": [KEYSPACE] } }),
        ),
    ];
    for (task, spec) in kinds {
        let before: Vec<Vec<String>> = members.iter().map(|member| files(member)).collect();
        ask(task, spec);
        wait_done(task);
        for (member, before) in members.iter().zip(&before) {
            let after = files(member);
            println!("{task} on {member}: {} files, then {}", before.len(), after.len());
            assert!(!before.is_empty() && !after.is_empty(), "{task} on {member}: no data");
            let kept: Vec<&String> = after.iter().filter(|f| before.contains(f)).collect();
            assert!(kept.is_empty(), "{task} left {kept:?} on {member} as they were");
        }
    }
    ring.check_data().expect("all rows");
}
