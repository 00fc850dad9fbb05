//! An abort of what runs.

use std::time::{Duration, Instant};

use palladion_e2e::{Ring, bed, wait_for};
use serde_json::{Value, json};

use super::looks::Looks;
use super::much::{
    ROWS, end_of_much, let_go, much_to_clean_up, much_to_compact, much_to_repair, rows,
};
use super::{NAMESPACE, SOON, ask, in_server, read, wait_at_work, wait_done, wait_phase};

/// What the server needs to stop is a third of a second; the rest is everybody's looks.
const STOPPED_IN: Duration = Duration::from_secs(15);
/// The sessions of a repair end one after the other; up to 4.1 each may take half a minute.
pub(super) const REPAIR_STOPPED_IN: Duration = Duration::from_secs(180);

/// How nodetool shows the streams of a repair; it always has statistics of read repair.
const STREAMS: &str = "\nRepair ";

pub(super) fn of_a_compaction(ring: &Ring<'_>) {
    much_to_compact(ring);
    let members = ring.member_names().expect("names");
    let files = |member: &String| {
        in_server(member, "cd /var/lib/cassandra/data/much && ls blobs-*/*-Data.db")
    };
    let before: Vec<String> = members.iter().map(files).collect();
    let looks = Looks::of(ring);
    ask("long", json!({ "compact": { "tables": ["much.blobs"] } }));
    ask("next", json!({ "flush": {} }));
    let member = wait_at_work("long");
    let queued = read("next").expect("the next task");
    assert_eq!(queued["status"]["phase"], "Waiting", "{}", queued["status"]);
    assert_eq!(queued["status"]["position"], 1, "{}", queued["status"]);
    let ended = aborted("long", &member, STOPPED_IN);
    let running = in_server(&member, "nodetool compactionstats");
    assert!(!running.contains("much"), "{running}; {}", ended["status"]);
    let after: Vec<String> = members.iter().map(files).collect();
    assert_eq!(before, after, "each SSTable is as it was");
    wait_done("next");
    looks.went_on(ring);
    end_of_much(ring);
    cleared(&["long", "next"]);
    ring.check_data().expect("all rows");
}

pub(super) fn of_a_cleanup(ring: &Ring<'_>) {
    much_to_clean_up(ring);
    let looks = Looks::of(ring);
    ask("long", json!({ "cleanup": { "tables": ["much.blobs"], "jobs": 0 } }));
    ask("next", json!({ "flush": {} }));
    let member = wait_at_work("long");
    let ended = aborted("long", &member, STOPPED_IN);
    // SSTables that were queued behind a stopped one begin all the same: they are stopped too.
    std::thread::sleep(Duration::from_secs(5));
    let running = in_server(&member, "nodetool compactionstats");
    assert!(!running.contains("much"), "{running}; {}", ended["status"]);
    assert_eq!(rows(ring), 4 * ROWS, "what is owned is still there");
    wait_done("next");
    looks.went_on(ring);
    end_of_much(ring);
    cleared(&["long", "next"]);
    ring.check_data().expect("all rows");
}

pub(super) fn of_a_repair(ring: &Ring<'_>) {
    much_to_repair(ring);
    let looks = Looks::of(ring);
    ask("long", json!({ "repair": { "keyspaces": ["much"] } }));
    ask("next", json!({ "flush": {} }));
    let member = wait_streams("long");
    aborted("long", &member, REPAIR_STOPPED_IN);
    let members = ring.member_names().expect("names");
    wait_for("no stream to go on", SOON, || {
        let streams = |m: &String| in_server(m, "nodetool netstats").contains(STREAMS);
        Ok((!members.iter().any(streams)).then_some(()))
    })
    .expect("its server repairs no more");
    wait_done("next");
    looks.went_on(ring);
    members.iter().for_each(|member| let_go(member));
    // Nothing of the aborted one is in the way of the next.
    ask("again", json!({ "repair": { "keyspaces": ["much"] } }));
    wait_done("again");
    assert_eq!(rows(ring), 2 * ROWS);
    end_of_much(ring);
    cleared(&["long", "next", "again"]);
    ring.check_data().expect("all rows");
}

/// Take a task back, and wait until it has ended.
pub(super) fn aborted(task: &str, member: &str, within: Duration) -> Value {
    let begin = Instant::now();
    bed()
        .kubectl(&format!(
            r#"patch cassandratask {task} -n {NAMESPACE} --type=merge -p={{"spec":{{"abort":true}}}}"#
        ))
        .expect("aborted");
    let ended = wait_phase(task, "Aborted");
    let took = begin.elapsed();
    println!("aborted after {:.1} s on {member}", took.as_secs_f64());
    assert!(took < within, "it took {took:?}");
    ended
}

/// Wait until a server streams for this task, and return the member that is at it.
pub(super) fn wait_streams(task: &str) -> String {
    wait_for(&format!("a server to stream for {task}"), SOON, || {
        let task = read(task)?;
        let member = task["status"]["current"]["member"].as_str().unwrap_or_default().to_string();
        if member.is_empty() {
            return Ok(None);
        }
        let running = bed().exec(NAMESPACE, &member, &["nodetool", "netstats"])?;
        Ok(running.contains(STREAMS).then_some(member))
    })
    .expect("at work")
}

/// Tasks of one name are made anew by the next step.
pub(super) fn cleared(tasks: &[&str]) {
    let names = tasks.join(" ");
    bed().kubectl(&format!("delete cassandratask {names} -n {NAMESPACE}")).expect("cleared");
}
