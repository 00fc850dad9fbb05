//! An abort of what runs.

use std::time::{Duration, Instant};

use palladion_e2e::{Ring, bed};
use serde_json::json;

use super::{
    NAMESPACE, ask, end_of_much, in_server, much_to_compact, sstables, wait_at_work, wait_done,
    wait_phase,
};

/// What the server needs to stop is a third of a second; the rest is everybody's looks.
const STOPPED_IN: Duration = Duration::from_secs(15);

pub(super) fn of_a_compaction(ring: &Ring<'_>) {
    much_to_compact(ring);
    let members = ring.member_names().expect("names");
    let before: Vec<usize> = members.iter().map(|m| sstables(m)).collect();
    ask("long", json!({ "compact": { "tables": ["much.blobs"] } }));
    ask("next", json!({ "flush": {} }));
    let member = wait_at_work("long");
    let queued = super::read("next").expect("the next task");
    assert_eq!(queued["status"]["phase"], "Waiting", "{}", queued["status"]);
    assert_eq!(queued["status"]["position"], 1, "{}", queued["status"]);
    let begin = Instant::now();
    bed()
        .kubectl(&format!(
            r#"patch cassandratask long -n {NAMESPACE} --type=merge -p={{"spec":{{"abort":true}}}}"#
        ))
        .expect("aborted");
    let ended = wait_phase("long", "Aborted");
    let took = begin.elapsed();
    println!("aborted after {:.1} s on {member}", took.as_secs_f64());
    assert!(took < STOPPED_IN, "it took {took:?}");
    let running = in_server(&member, "nodetool compactionstats");
    assert!(!running.contains("much"), "{running}; {}", ended["status"]);
    let after: Vec<usize> = members.iter().map(|m| sstables(m)).collect();
    assert_eq!(before, after, "no SSTable was lost or made");
    wait_done("next");
    end_of_much(ring);
    ring.check_data().expect("all rows");
}
