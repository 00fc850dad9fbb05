//! Replicas that differ, in rows and in deletions: hints are off, and one member is stopped
//! while the others are written to. The schedule that covers the ring brings it all that it
//! lacks before the others forget what was deleted, so that nothing deleted comes back.

use std::time::{Duration, Instant};

use palladion_e2e::checked::KEYSPACE;
use palladion_e2e::{Ring, Writes, bed};
use serde_json::json;

use super::cover::{DEFAULT_GRACE, GRACE, begin, end, forget_tasks, keep_deletions, wait_done};
use super::{NAMESPACE, SOON, typed};

/// Long enough for most rows to be put and deleted more than once.
const WRITTEN_FOR: Duration = Duration::from_secs(40);
/// `GRACE` and a minute: a tombstone is dropped by the first compaction after this.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(660);

fn in_server(member: &str, command: &str) {
    let done = bed().exec(NAMESPACE, member, &["bash", "-c", command]);
    done.unwrap_or_else(|error| panic!("{member}: {command}: {error:#}"));
}

/// Write and delete while a member is down for which nobody keeps hints. It is away for
/// less than the time that hints are kept for, so that no repair is recorded as pending.
fn differ(ring: &Ring<'_>, stopped: &str, others: &[String]) {
    others.iter().for_each(|member| in_server(member, "nodetool disablehandoff"));
    typed(&format!("stop {stopped} --wait=5m"));
    let writing = ring.writing(Writes::Rows).expect("writing");
    std::thread::sleep(WRITTEN_FOR);
    let tally = writing.stop().expect("QUORUM was reached all the time");
    assert!(tally.acknowledged > 200, "enough to differ in: {tally:?}");
    typed(&format!("start {stopped} --wait=5m"));
    ring.wait_members(3).expect("all well");
    others.iter().for_each(|member| in_server(member, "nodetool enablehandoff"));
    let member = ring.member(stopped).expect("the member");
    let pending = &member["spec"]["pendingMaintenance"];
    assert!(pending.as_array().is_none_or(Vec::is_empty), "nobody else is to repair it: {pending}");
    let found = ring.check_data().expect_err("a replica lacks rows and deletions").to_string();
    assert!(found.contains("replica incomplete"), "{found}");
}

/// All that is due is repaired once.
fn cover() {
    // Whatever an earlier step has repaired is due a minute later.
    begin(json!({ "cover": { "keyspaces": [KEYSPACE], "withinSeconds": 60 } }));
    wait_done(3 * SOON).unwrap_or_else(|error| panic!("{error:#}"));
    end();
}

pub(super) fn of_a_replica(ring: &Ring<'_>) {
    ring.wait_settled().expect("settled");
    forget_tasks();
    keep_deletions(ring, GRACE);
    let names = ring.member_names().expect("names");
    let (stopped, others) = names.split_last().expect("there are three");
    differ(ring, stopped, others);
    let deleted_until = Instant::now();
    cover();
    ring.check_data().expect("all rows and deletions, on every replica");

    // The others forget what was deleted. What the one that was away had of it before would
    // come back now, had the repair not brought it the deletions.
    let left = FORGOTTEN_AFTER.saturating_sub(deleted_until.elapsed());
    std::thread::sleep(left);
    let forget = format!("nodetool flush {KEYSPACE} && nodetool compact {KEYSPACE} rows");
    others.iter().for_each(|member| in_server(member, &forget));
    ring.check_data().expect("nothing that was deleted comes back");
    forget_tasks();
    keep_deletions(ring, DEFAULT_GRACE);
    ring.wait_settled().expect("settled");
}
