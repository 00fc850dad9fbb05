//! Limits and log levels that change while servers run.

use palladion_e2e::{Ring, bed, wait_for};
use serde_json::{Value, json};

use super::server::starts;
use super::{NAMESPACE, SOON, patch};

/// What a server says of itself.
fn nodetool(member: &str, command: &[&str]) -> String {
    let words: Vec<&str> = std::iter::once(&"nodetool").chain(command).copied().collect();
    bed().exec(NAMESPACE, member, &words).expect("nodetool")
}

/// Limits and log levels change while servers run, and go back.
pub(super) fn runtime_settings_come_and_go(ring: &Ring<'_>) {
    let uids = ring.pod_uids().expect("uids");
    let before = starts(ring);
    let told = |wanted: &Value| {
        wait_for("all members to be told", SOON, || {
            let members = ring.members()?;
            let told = |m: &Value| m["status"]["server"]["runtimeSettings"] == *wanted;
            Ok(members.iter().all(told).then_some(()))
        })
        .expect("told");
    };
    let limits = |member: &str| {
        let levels = nodetool(member, &["getlogginglevels"]);
        let level = levels.lines().find_map(|line| {
            let (logger, level) = line.split_once(char::is_whitespace)?;
            (logger == "org.apache.cassandra.gms").then(|| level.trim().to_string())
        });
        let first_line = |command: &[&str]| {
            let text = nodetool(member, command);
            text.lines().next().unwrap_or_default().to_string()
        };
        let compaction = first_line(&["getcompactionthroughput"]);
        (compaction, first_line(&["getstreamthroughput", "-m"]), level)
    };
    let member = "roll-dc1-a-0";
    let at_its_start = limits(member);
    let settings = json!({
        "compactionThroughput": 17,
        "streamThroughput": 33,
        "logLevels": { "org.apache.cassandra.gms": "TRACE" },
    });
    patch(&json!({ "runtimeSettings": settings }));
    told(&settings);
    let (compaction, stream, level) = limits(member);
    assert!(compaction.contains("17"), "{compaction}");
    assert!(stream.contains("33"), "{stream}");
    assert_eq!(level.as_deref(), Some("TRACE"));
    patch(&json!({ "runtimeSettings": null }));
    told(&Value::Null);
    assert_eq!(limits(member), at_its_start, "what was before");
    assert_eq!(ring.pod_uids().expect("uids"), uids, "pods stay");
    assert_eq!(starts(ring), before, "servers stay");
}
