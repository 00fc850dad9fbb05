//! What people type all day, on a real API server: each verb of the command line that changes
//! something is seen to do so.

use palladion_e2e::tool::Typed;
use palladion_e2e::{Ring, bed};
use serde_json::{Value, json};

use super::{NAMESPACE, read};

/// Stays all the time, and is stopped and restarted.
const MEMBER: &str = "tasks-dc1-a-1";
/// A time of the year that does not come while this is played.
const NEVER: &str = "0 0 29 2 *";

pub(super) fn every_verb(ring: &Ring<'_>) {
    ring.wait_settled().expect("settled");
    work(ring);
    a_schedule();
    one_member(ring);
    what_is_read();
    what_would_be_done();
    the_rest_of_a_line();
    ring.wait_members(3).expect("all well");
    ring.check_data().expect("all rows");
}

/// A line, whatever comes of it.
fn line(words: &str) -> Typed {
    bed().palladion(&format!("{words} -n {NAMESPACE}")).expect("typed")
}

/// A line of which this is to come; what it printed.
fn typed(words: &str, code: i32) -> String {
    let typed = line(words);
    assert_eq!(typed.code, code, "{words}: {typed:?}");
    typed.out
}

fn listed(words: &str) -> Value {
    let out = typed(&format!("{words} -o json"), 0);
    serde_json::from_str(&out).unwrap_or_else(|e| panic!("{words}: {e}: {out}"))
}

/// The tasks that there are, by name.
fn tasks() -> Vec<String> {
    let tasks = bed().list(NAMESPACE, "cassandratasks").expect("tasks");
    tasks.iter().filter_map(|t| t["metadata"]["name"].as_str().map(str::to_owned)).collect()
}

/// The task that this line creates.
fn created(words: &str, code: i32) -> String {
    let before = tasks();
    let out = typed(words, code);
    let new: Vec<String> = tasks().into_iter().filter(|name| !before.contains(name)).collect();
    assert_eq!(new.len(), 1, "{words}: {out}");
    new[0].clone()
}

/// Tasks are run, listed, watched and aborted, and wait while the ring is paused.
fn work(ring: &Ring<'_>) {
    let flush = created(&format!("task run flush {NAMESPACE} --wait=4m"), 0);
    assert_eq!(read(&flush).expect("the task")["status"]["phase"], "Done");
    typed(&format!("task watch {flush}"), 0);
    let repair = created(&format!("task run repair {NAMESPACE} --keyspace kept --wait=8m"), 0);
    assert_eq!(read(&repair).expect("the task")["status"]["phase"], "Done");
    typed(&format!("pause {NAMESPACE} --wait=1m"), 0);
    assert_eq!(ring.cluster().expect("cluster")["spec"]["paused"], true);
    let waits = created(&format!("task run cleanup {NAMESPACE}"), 0);
    let late = line(&format!("task watch {waits} --wait=5s"));
    assert_eq!(late.code, 6, "it does not begin while the ring is paused: {late:?}");
    typed(&format!("task abort {waits} --wait=2m"), 0);
    assert_eq!(read(&waits).expect("the task")["status"]["phase"], "Aborted");
    typed(&format!("task watch {waits}"), 1);
    typed(&format!("resume {NAMESPACE} --wait=1m"), 0);
    assert_ne!(ring.cluster().expect("cluster")["spec"]["paused"], true);
    let all = listed(&format!("task list {NAMESPACE}")).to_string();
    for task in [flush, repair, waits] {
        assert!(all.contains(&task), "{task}: {all}");
    }
    let missing = line("task watch nobody");
    assert_eq!(missing.code, 3, "{missing:?}");
}

fn a_schedule() {
    let schedule = json!({
        "apiVersion": "palladion.dev/v1alpha1", "kind": "CassandraTaskSchedule",
        "metadata": { "name": "never" },
        "spec": { "cluster": NAMESPACE, "schedule": NEVER,
                  "taskTemplate": { "spec": { "flush": {} } } },
    });
    bed().apply(NAMESPACE, &schedule.to_string()).expect("accepted");
    let suspended = || {
        let found = bed().get(NAMESPACE, "cassandrataskschedule", "never").expect("asked");
        found.expect("the schedule")["spec"]["suspend"] == true
    };
    typed("schedule suspend never --wait=1m", 0);
    assert!(suspended());
    typed("schedule resume never --wait=1m", 0);
    assert!(!suspended());
    let run = created("schedule run never --yes --wait=4m", 0);
    assert_eq!(read(&run).expect("the task")["status"]["phase"], "Done");
    let all = listed(&format!("schedule list {NAMESPACE}")).to_string();
    assert!(all.contains("never"), "{all}");
    bed().kubectl(&format!("delete cassandrataskschedule never -n {NAMESPACE}")).expect("gone");
    let status = line(&format!("repair status {NAMESPACE}"));
    assert_eq!(status.code, 1, "no schedule covers the ring: {status:?}");
    assert!(status.out.contains("no schedule covers"), "{}", status.out);
}

/// A member is restarted, is a seed and none, stops and starts, and is replaced.
fn one_member(ring: &Ring<'_>) {
    let begun = || {
        let member = ring.member(MEMBER).expect("the member");
        member["status"]["startHistory"][0]["startedAt"].as_str().map(str::to_owned)
    };
    let before = begun();
    typed(&format!("restart {MEMBER} --wait=8m"), 0);
    assert_ne!(begun(), before);
    typed(&format!("seed {MEMBER} always"), 0);
    let wanted = || ring.member(MEMBER).expect("the member")["spec"]["wanted"]["seed"].clone();
    assert_eq!(wanted(), "Always");
    typed(&format!("seed {MEMBER} auto"), 0);
    assert_ne!(wanted(), "Always");
    typed(&format!("stop {MEMBER} --wait=4m"), 0);
    let ready = ring.cluster().expect("cluster")["status"]["members"].clone();
    assert_eq!(ready, "2/3", "one is stopped");
    typed(&format!("start {MEMBER} --wait=8m"), 0);
    ring.wait_ready(3).expect("it is back");
    let id = ring.member(MEMBER).expect("the member")["spec"]["hostID"].clone();
    let asked = line(&format!("terminate {MEMBER}"));
    assert_eq!(asked.code, 2, "nobody can be asked: {asked:?}");
    typed(&format!("terminate {MEMBER} --yes --wait=4m"), 0);
    typed(&format!("replace {MEMBER} --yes --wait=15m"), 0);
    ring.wait_ready(3).expect("another one is in its place");
    ring.wait_settled().expect("what it needed is done");
    assert_ne!(ring.member(MEMBER).expect("the member")["spec"]["hostID"], id);
}

fn what_is_read() {
    let log = typed(&format!("logs {MEMBER} --tail 5"), 0);
    assert_eq!(log.lines().count(), 5, "{log}");
    let events = typed(&format!("events {NAMESPACE}"), 0);
    assert!(events.contains(MEMBER), "{events}");
    let plan = line(&format!("plan {NAMESPACE}"));
    assert!(plan.code == 0 && plan.out.contains("nothing to do"), "{plan:?}");
    // The image under test has no cqlsh: the line reaches the container, which says so.
    let printed = typed(&format!("cqlsh {NAMESPACE} --print"), 0);
    assert!(printed.contains("exec") && printed.contains("cqlsh"), "{printed}");
    let shell = line(&format!("cqlsh {NAMESPACE} --member {MEMBER}"));
    println!("cqlsh in an image without one: {shell:?}");
    assert!(shell.code != 0 && shell.said.contains("cqlsh"), "{shell:?}");
    // They are about no namespace.
    for (words, says) in [("explain MembersDown", "MembersDown"), ("version", "perator")] {
        let typed = bed().palladion(words).expect("typed");
        assert!(typed.code == 0 && typed.out.contains(says), "{words}: {typed:?}");
    }
}

/// While the operator is away its next step is shown, and nobody takes it.
fn what_would_be_done() {
    bed().scale_operator(0).expect("gone");
    let flush = created(&format!("task run flush {NAMESPACE}"), 0);
    let plan = line(&format!("plan {NAMESPACE}"));
    println!("{plan:?}");
    assert!(plan.code == 0 && plan.out.contains(&flush), "{plan:?}");
    assert!(!plan.out.contains("nothing to do"), "{plan:?}");
    assert!(read(&flush).expect("the task")["status"].is_null(), "a plan writes nothing");
    bed().scale_operator(1).expect("back");
    typed(&format!("task watch {flush} --wait=4m"), 0);
}

/// Names of the cluster complete a line, as kubectl asks for them.
fn the_rest_of_a_line() {
    let offers =
        |verb: &str, begun: &str| bed().completed(NAMESPACE, verb, begun).expect("completed");
    let members = offers("stop", "tasks-");
    assert!(members.contains(MEMBER), "{members}");
    let rings = offers("status", "ta");
    assert!(rings.lines().any(|l| l.starts_with(NAMESPACE)), "{rings}");
}
