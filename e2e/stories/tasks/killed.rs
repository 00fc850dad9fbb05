//! Somebody ends in the middle of a task.

use palladion_e2e::bed::text;
use palladion_e2e::{Ring, bed};
use palladion_testbed::faults::Victim;
use serde_json::{Value, json};

use super::{
    NAMESPACE, ask, end_of_much, in_server, much_to_compact, sstables, wait_at_work, wait_done,
};

/// What became of a member, by its name.
fn of(task: &Value, member: &str) -> Value {
    let members = task["status"]["members"].as_array().cloned().unwrap_or_default();
    members.into_iter().find(|m| text(m, "/name") == member).expect("a member of the task")
}

/// A compaction of all members, the first of which is disturbed in its middle.
fn disturbed(
    ring: &Ring<'_>,
    task: &str,
    tries: std::ops::RangeInclusive<u64>,
    how: impl Fn(&str),
) {
    let ids = ring.host_ids().expect("host IDs");
    much_to_compact(ring);
    ask(task, json!({ "compact": { "tables": ["much.blobs"] } }));
    let member = wait_at_work(task);
    how(&member);
    // The others need not take their time.
    let others = ring.member_names().expect("names").into_iter().filter(|name| *name != member);
    others.for_each(|name| drop(in_server(&name, "nodetool setcompactionthroughput 64")));
    let ended = wait_done(task);
    let told = of(&ended, &member);
    let tried = told["tries"].as_u64().unwrap_or_default();
    assert!(tries.contains(&tried), "{told}");
    assert_eq!(sstables(&member), 1, "it was compacted");
    assert_eq!(ring.host_ids().expect("host IDs"), ids);
    ring.wait_members(3).expect("all well");
    end_of_much(ring);
    ring.check_data().expect("all rows");
}

fn kill(member: &str, process: &str) {
    let victim = Victim::Named(process.into());
    let killed = bed().cluster.kill(NAMESPACE, member, "cassandra", &victim).expect("kill");
    assert!(killed > 0, "no process {process} in {member}");
}

pub(super) fn the_server(ring: &Ring<'_>) {
    disturbed(ring, "server", 2..=2, |member| kill(member, "java"));
}

pub(super) fn the_agent(ring: &Ring<'_>) {
    disturbed(ring, "agent", 1..=2, |member| kill(member, "palladion-agent"));
}

pub(super) fn the_pod(ring: &Ring<'_>) {
    disturbed(ring, "pod", 2..=2, |member| {
        bed()
            .kubectl(&format!("delete pod {member} -n {NAMESPACE} --wait=false"))
            .expect("deleted");
    });
}
