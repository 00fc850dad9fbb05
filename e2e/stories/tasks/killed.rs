//! Somebody ends in the middle of a task.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::process::Child;
use std::time::Duration;

use palladion_e2e::bed::text;
use palladion_e2e::{Ring, bed, wait_for};
use palladion_testbed::Node;
use palladion_testbed::faults::Victim;
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use super::abort::{cleared, wait_streams};
use super::much::{
    end_of_much, let_go_once_up, much_to_clean_up, much_to_compact, much_to_repair, sstables,
};
use super::{NAMESPACE, SOON, ask, in_server, read, wait_at_work, wait_done};

/// More than a kubelet needs to see that a machine is without power, and less than the
/// operator waits for a silent member.
const WITHOUT_POWER: Duration = Duration::from_secs(20);

/// What became of a member, by its name.
fn of(task: &Value, member: &str) -> Value {
    let members = task["status"]["members"].as_array().cloned().unwrap_or_default();
    members.into_iter().find(|m| text(m, "/name") == member).expect("a member of the task")
}

/// A compaction of all members, the first of which is disturbed in its middle.
fn disturbed(ring: &Ring<'_>, task: &str, tries: RangeInclusive<u64>, how: impl Fn(&str)) {
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

fn delete_pod(member: &str) {
    bed().kubectl(&format!("delete pod {member} -n {NAMESPACE} --wait=false")).expect("deleted");
}

pub(super) fn the_server(ring: &Ring<'_>) {
    disturbed(ring, "server", 2..=2, |member| kill(member, "java"));
}

pub(super) fn the_agent(ring: &Ring<'_>) {
    disturbed(ring, "agent", 1..=2, |member| kill(member, "palladion-agent"));
}

pub(super) fn the_pod(ring: &Ring<'_>) {
    disturbed(ring, "pod", 2..=2, delete_pod);
}

/// Who ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum Who {
    Agent,
    Server,
    Pod,
    Machine,
    Operator,
}

/// When that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    /// As soon as the member has its part: around the agent's note and its call.
    Given,
    /// While the server is at the call.
    AtWork,
}

/// Of a repair, where each takes minutes: a repair without a number is looked for in another
/// way than a rewrite, so both moments of agent and server, and one of the others.
const OF_A_REPAIR: [(Who, When); 7] = [
    (Who::Agent, When::Given),
    (Who::Agent, When::AtWork),
    (Who::Server, When::Given),
    (Who::Server, When::AtWork),
    (Who::Pod, When::AtWork),
    (Who::Machine, When::AtWork),
    (Who::Operator, When::Given),
];

const ALL: [(Who, When); 10] = [
    (Who::Agent, When::Given),
    (Who::Agent, When::AtWork),
    (Who::Server, When::Given),
    (Who::Server, When::AtWork),
    (Who::Pod, When::Given),
    (Who::Pod, When::AtWork),
    (Who::Machine, When::Given),
    (Who::Machine, When::AtWork),
    (Who::Operator, When::Given),
    (Who::Operator, When::AtWork),
];

/// What is done, and how its calls show in the log of a server.
struct Work {
    body: Value,
    call: &'static str,
    prepare: fn(&Ring<'_>),
    at_work: fn(&str) -> String,
}

pub(super) fn in_a_cleanup(ring: &Ring<'_>) {
    let body = json!({ "cleanup": { "tables": ["much.blobs"], "jobs": 1 } });
    let call = "Starting Cleanup for much.blobs";
    let work = Work { body, call, prepare: much_to_clean_up, at_work: wait_at_work };
    each(ring, &work, &ALL);
}

pub(super) fn in_a_repair(ring: &Ring<'_>) {
    let body = json!({ "repair": { "keyspaces": ["much"] } });
    let call = "), repairing keyspace much with";
    let work = Work { body, call, prepare: much_to_repair, at_work: wait_streams };
    each(ring, &work, &OF_A_REPAIR);
}

fn each(ring: &Ring<'_>, work: &Work, all: &[(Who, When)]) {
    let ids = ring.host_ids().expect("host IDs");
    for &(who, when) in all {
        println!("{who:?} {when:?}");
        (work.prepare)(ring);
        once(ring, work, who, when);
        assert_eq!(ring.host_ids().expect("host IDs"), ids, "{who:?} {when:?}");
        ring.wait_ready(3).expect("all ready");
        ring.wait_members(3).expect("all well");
        end_of_much(ring);
        cleared(&["killed"]);
    }
    ring.check_data().expect("all rows");
}

fn once(ring: &Ring<'_>, work: &Work, who: Who, when: When) {
    let members = ring.member_names().expect("names");
    if let Who::Machine = who {
        // The first one begins. It takes a minute, in which a cleanup would be done.
        machine_of(&members[0]);
    }
    let logs: Vec<Log> = members.iter().map(|name| Log::of(name)).collect();
    ask("killed", work.body.clone());
    let member = match when {
        When::Given => wait_given(&members),
        When::AtWork => (work.at_work)("killed"),
    };
    end(ring, who, &member);
    for name in &members {
        let_go_once_up(name).unwrap_or_else(|error| panic!("{who:?} {when:?}: {error:#}"));
    }
    let ended = wait_done("killed");
    let since = text(&ended, "/metadata/creationTimestamp");
    for log in logs {
        let name = log.member.clone();
        let told = of(&ended, &name);
        let tries = told["tries"].as_u64().unwrap_or_default();
        let called = log.calls(work, since);
        println!("{who:?} {when:?}: {name} tried {tries}, called {called}");
        let costs = if name == member { costs(who, when) } else { 1..=2 };
        assert!(costs.contains(&tries), "{who:?} {when:?}: {told}");
        assert!(
            called as u64 <= tries,
            "{who:?} {when:?}: {name} was called {called} times: {told}"
        );
        // Otherwise its log has other words, and nothing was counted.
        assert!(called > 0, "{who:?} {when:?}: {name} logs no call: {told}");
        // A server that ended while it was at it is called again.
        let is_again = name == member && costs == (2..=2);
        assert!(called == 2 || !is_again, "{who:?} {when:?}: {name} called {called}: {told}");
    }
}

/// In how many tries it is done by the member at which somebody ends. Around the call a server may
/// end before it is called, and an agent after a call that shows nothing of itself.
fn costs(who: Who, when: When) -> RangeInclusive<u64> {
    match (who, when) {
        (Who::Operator, When::Given | When::AtWork) => 1..=1,
        (Who::Server | Who::Pod | Who::Machine, When::AtWork) => 2..=2,
        (Who::Agent, When::Given | When::AtWork)
        | (Who::Server | Who::Pod | Who::Machine, When::Given) => 1..=2,
    }
}

/// Wait until a member has its part of the task.
fn wait_given(members: &[String]) -> String {
    wait_for("a member to be given its part", SOON, || {
        for name in members {
            let member = bed().get(NAMESPACE, "cassandramember", name)?.unwrap_or_default();
            if member["spec"]["job"].is_object() {
                return Ok(Some(name.clone()));
            }
        }
        Ok(None)
    })
    .expect("given")
}

/// The machine of a member, which the operator is not on.
fn machine_of(member: &str) -> Node {
    let name = bed().node_of(NAMESPACE, member).expect("its node");
    let node = bed().cluster.node(&name).expect("a node");
    bed().move_operator_from(node).expect("the operator is elsewhere");
    node
}

pub(super) fn end(ring: &Ring<'_>, who: Who, member: &str) {
    match who {
        Who::Agent => kill(member, "palladion-agent"),
        Who::Server => kill(member, "java"),
        Who::Pod => delete_pod(member),
        Who::Machine => {
            let node = machine_of(member);
            bed().cluster.power_off(node).expect("power off");
            std::thread::sleep(WITHOUT_POWER);
            bed().cluster.power_on(node).expect("power on");
            bed().wait_node_is_back(node).expect("back");
            ring.restart_client().expect("a client");
        }
        Who::Operator => {
            bed().scale_operator(0).expect("gone");
            bed().scale_operator(1).expect("back");
        }
    }
    // The task is still there to be followed.
    read("killed").expect("the task");
}

/// What a member logs from now on: that of a pod goes with it.
struct Log {
    member: String,
    follower: Child,
    file: NamedTempFile,
}

impl Drop for Log {
    fn drop(&mut self) {
        // It has ended by itself where its container has.
        let (Ok(()) | Err(_), Ok(_) | Err(_)) = (self.follower.kill(), self.follower.wait());
    }
}

impl Log {
    fn of(member: &str) -> Self {
        let file = NamedTempFile::new().expect("a file");
        let into = file.reopen().expect("the file");
        // It takes a moment until it follows: what is logged meanwhile is of the last seconds.
        let follower = bed().follow_log(NAMESPACE, member, 3, into).expect("its log");
        Self { member: member.into(), follower, file }
    }

    /// How often its server was told to do it since then, by the logs of its container, and of
    /// the one before, which ends with its agent or with its pod.
    fn calls(&self, work: &Work, since: &str) -> usize {
        let followed = std::fs::read_to_string(self.file.path()).expect("what was followed");
        let whole = followed.rsplit_once('\n').map_or("", |(whole, _)| whole);
        let kept = |more: &str| {
            bed().kubectl(&format!(
                "logs {} -n {NAMESPACE} -c cassandra --tail=-1 --since-time={since}{more}",
                self.member
            ))
        };
        let now = kept("").expect("its log");
        // There need not be one before.
        let before = kept(" --previous").unwrap_or_default();
        let calls = |log: &str| -> BTreeSet<String> {
            let lines = log.lines().filter(|line| line.contains(work.call));
            lines.map(str::to_owned).collect()
        };
        // Each has its time and its number, so that what two of them have is one.
        [&now, &before, whole].into_iter().flat_map(calls).collect::<BTreeSet<_>>().len()
    }
}
