//! What bounds a task: a member that is left out, the times that it and each member may take,
//! and what is given for a time alone; and the choices that each kind of work has.

use std::time::Duration;

use palladion_api::reasons::Reason;
use palladion_e2e::bed::{condition, text};
use palladion_e2e::checked::KEYSPACE;
use palladion_e2e::{Ring, wait_for};
use serde_json::{Value, json};

use super::abort::cleared;
use super::much::{ROWS, end_of_much, much_to_compact, rows};
use super::{SOON, ask, in_server, read, wait_at_work, wait_done, wait_phase};
use crate::schedules::typed;

/// Is left out.
const STOPPED: &str = "tasks-dc1-b-0";
const GOSSIP: &str = "org.apache.cassandra.gms";
/// Cassandra looks for snapshots that are over every minute.
const OVER_IN: Duration = Duration::from_secs(180);

fn state_of(task: &Value, member: &str) -> String {
    let all = task["status"]["members"].as_array().cloned().unwrap_or_default();
    let found = all.into_iter().find(|m| text(m, "/name") == member).expect("a member of it");
    text(&found, "/state").to_string()
}

pub(super) fn are_kept(ring: &Ring<'_>) {
    leaves_out_who_is_stopped(ring);
    ends_in_its_time(ring);
    gives_back_levels(ring);
    ring.wait_members(3).expect("all well");
    ring.check_data().expect("all rows");
}

fn leaves_out_who_is_stopped(ring: &Ring<'_>) {
    typed(&format!("stop {STOPPED} --wait=5m"));
    ask("without-one", json!({ "flush": {} }));
    let ended = wait_phase("without-one", "Partial");
    assert_eq!(state_of(&ended, STOPPED), "Skipped", "{}", ended["status"]);
    let others = ring.member_names().expect("names").into_iter().filter(|name| name != STOPPED);
    others.for_each(|name| assert_eq!(state_of(&ended, &name), "Succeeded", "{name}"));
    let failed = condition(&ended, "Failed");
    assert_eq!(failed["status"], "True", "whoever waits for either sees the end: {failed}");
    assert!(text(&failed, "/message").contains(STOPPED), "it says who lacks it: {failed}");
    typed(&format!("start {STOPPED} --wait=8m"));
    ring.wait_members(3).expect("it is back");
    cleared(&["without-one"]);
}

/// A compaction that would take most of a minute on each member.
fn ends_in_its_time(ring: &Ring<'_>) {
    much_to_compact(ring);
    let compact = json!({ "tables": ["much.blobs"] });
    for (name, field) in [("whole", "activeDeadlineSeconds"), ("each", "memberDeadlineSeconds")] {
        ask(name, json!({ "compact": compact, field: 10 }));
        let member = wait_at_work(name);
        let ended = wait_phase(name, "Failed");
        let reason = Reason::DeadlineExceeded.as_str();
        let said = ended["status"].to_string();
        assert!(said.contains(reason), "{name}: {said}");
        assert_eq!(state_of(&ended, &member), "Failed", "{name}: {said}");
        let running = in_server(&member, "nodetool compactionstats");
        assert!(!running.contains("blobs"), "{name}: the server has stopped it: {running}");
    }
    assert_eq!(rows(ring), 2 * ROWS, "no row was lost");
    end_of_much(ring);
    cleared(&["whole", "each"]);
}

fn gives_back_levels(ring: &Ring<'_>) {
    ask("levels", json!({ "setLogLevel": { "levels": { GOSSIP: "TRACE" }, "seconds": 15 } }));
    wait_done("levels");
    for member in &ring.member_names().expect("names") {
        wait_for(&format!("{member} to have its levels back"), SOON, || {
            let levels = in_server(member, "nodetool getlogginglevels");
            Ok((!levels.contains("TRACE")).then_some(()))
        })
        .expect("given back");
    }
    cleared(&["levels"]);
}

/// Each kind of work as nobody has it who says nothing.
pub(super) fn each_choice(ring: &Ring<'_>) {
    let members = ring.member_names().expect("names");
    let kept = json!([KEYSPACE]);
    let works = [
        ("c0-flush", json!({ "flush": { "tables": ["kept.rows"] } })),
        (
            "c1-snapshot",
            json!({ "snapshot": { "name": "passes", "flush": "Skip", "ttlSeconds": 60, "keyspaces": kept } }),
        ),
        ("c2-compact", json!({ "compact": { "output": "Split", "keyspaces": kept } })),
        (
            "c3-garbage",
            json!({ "garbageCollect": { "granularity": "Cell", "jobs": 0, "keyspaces": kept } }),
        ),
        (
            "c4-scrub",
            json!({ "scrub": { "snapshot": "First", "corrupted": "Skip", "values": "Trust",
                               "overflowedTTL": "Reinsert", "jobs": 2, "keyspaces": kept } }),
        ),
        ("c5-upgrade", json!({ "upgradeSSTables": { "which": "Older", "jobs": 2 } })),
        ("c6-cleanup", json!({ "cleanup": { "jobs": 0, "tables": ["kept.rows"] } })),
    ];
    for (name, spec) in &works {
        ask(name, spec.clone());
        let ended = wait_done(name);
        for member in &members {
            assert_eq!(state_of(&ended, member), "Succeeded", "{name}: {}", ended["status"]);
        }
    }
    let snapshots = |member: &String| {
        let list = "ls -d /var/lib/cassandra/data/kept/rows-*/snapshots/* 2>/dev/null || true";
        in_server(member, list)
    };
    for member in &members {
        assert!(snapshots(member).contains("pre-scrub"), "the scrub took one first on {member}");
        wait_for(&format!("the snapshot of {member} to be over"), OVER_IN, || {
            Ok((!snapshots(member).contains("/passes")).then_some(()))
        })
        .expect("the server deletes it by itself");
        in_server(member, "nodetool clearsnapshot --all");
    }
    cleared(&works.each_ref().map(|(name, _)| *name));
    assert!(read("c0-flush").expect("asked").is_null());
    ring.check_data().expect("all rows");
}
