//! Somebody ends in each phase of a backup and of a restore, and each is complete all the same.

use palladion_e2e::bed::text;
use palladion_e2e::{Ring, bed, wait_for};
use palladion_testbed::faults::Victim;
use serde_json::json;

use super::restored::{ask_of, restored};
use super::taken::{ask as back_up, complete, ring};
use super::{NAMESPACE, SOON, every};

/// So slow that an upload, and a load, of the blobs takes ten seconds.
const SLOW: u64 = 400_000;
const BLOBS: u32 = 200;

/// Who ends.
#[derive(Clone, Copy, Debug)]
enum Who {
    Agent,
    Child,
    Server,
    Pod,
    Operator,
}

const EVERYBODY: [Who; 5] = [Who::Child, Who::Server, Who::Pod, Who::Operator, Who::Agent];
/// The first two take a moment each, and whoever ends then ends soon after, too.
const OF_A_BACKUP: [&str; 4] = ["Preparing", "Snapshotting", "Uploading", "Verifying"];
const OF_A_RESTORE: [&str; 4] = ["Comparing", "Creating", "Loading", "Finishing"];

/// A table with bytes that cannot be compressed.
fn blobs(ring: &Ring<'_>) {
    const WRITE: &str = "
import os, sys
from cassandra.cluster import Cluster
from cassandra import ConsistencyLevel
session = Cluster([sys.argv[1]], connect_timeout=20, control_connection_timeout=20).connect()
write = session.prepare('INSERT INTO every.blobs (k, v) VALUES (?, ?)')
write.consistency_level = ConsistencyLevel.QUORUM
for k in range(int(sys.argv[2])):
    session.execute(write, (k, os.urandom(20000)), timeout=20)
";
    every::made(ring);
    ring.cql(&["CREATE TABLE IF NOT EXISTS every.blobs (k int PRIMARY KEY, v blob)"])
        .expect("a table");
    let (host, many) = (format!("{NAMESPACE}-client"), BLOBS.to_string());
    ring.in_client(&["python3", "-c", WRITE, &host, &many]).expect("blobs");
}

/// That takes all members, and one may not be up again yet.
fn throw_away(ring: &Ring<'_>) {
    wait_for("all rows to be thrown away", SOON, || Ok(ring.cql(&["TRUNCATE every.blobs"]).ok()))
        .expect("thrown away");
}

fn pace(bytes: Option<u64>) {
    let limits = json!({"spec": {"backup": {"limits": {"bytesPerSecond": bytes}}}});
    bed().patch(NAMESPACE, "cassandracluster", NAMESPACE, &limits).expect("a pace");
}

fn end(who: Who, member: &str) {
    let kill = |victim: &str| {
        let victim = Victim::Named(victim.into());
        bed().cluster.kill(NAMESPACE, member, "cassandra", &victim).expect("kill");
    };
    match who {
        Who::Agent => kill("palladion-agent"),
        Who::Server => kill("java"),
        Who::Child => {
            // One that has ended meanwhile is none; nor is this shell, which has the words, too.
            const CHILD: &str = "for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline 2>/dev/null | grep -q '[p]alladion-agent transfer' && kill -9 $(basename $p); done; true";
            bed().exec(NAMESPACE, member, &["bash", "-c", CHILD]).expect("the shell answers");
        }
        Who::Pod => {
            bed()
                .kubectl(&format!("delete pod {member} -n {NAMESPACE} --wait=false"))
                .expect("deleted");
        }
        Who::Operator => {
            bed().scale_operator(0).expect("gone");
            bed().scale_operator(1).expect("back");
        }
    }
}

/// Wait until it is in this phase, or behind it: a short one may be missed.
fn reached(kind: &str, name: &str, phases: &[&str], phase: &str) -> String {
    let behind = phases.iter().skip_while(|p| **p != phase).copied();
    let behind: Vec<&str> = behind.chain(["Complete", "Failed"]).collect();
    wait_for(&format!("{kind} {name} to be {phase}"), SOON, || {
        let object = bed().get(NAMESPACE, kind, name)?.unwrap_or_default();
        let now = text(&object, "/status/phase").to_string();
        Ok(behind.contains(&now.as_str()).then_some(now))
    })
    .expect("a phase")
}

pub fn whoever_ends() {
    let ring = ring();
    blobs(&ring);
    let read = "SELECT k, v FROM every.blobs";
    let rows = |ring: &Ring<'_>| {
        let mut rows = ring.cql(&[read]).expect("rows");
        rows.sort();
        rows
    };
    assert_eq!(rows(&ring).len(), BLOBS as usize);
    pace(Some(SLOW));
    for (round, who) in EVERYBODY.into_iter().enumerate() {
        for (number, phase) in OF_A_BACKUP.into_iter().enumerate() {
            let name = format!("disturbed-{round}-{number}");
            // What was sent is not sent again, so each has new files to send; and it has no others,
            // or each restore would be longer than the one before.
            throw_away(&ring);
            blobs(&ring);
            back_up(&name, "");
            let now = reached("cassandrabackup", &name, &OF_A_BACKUP, phase);
            let member = member(&ring, round + number);
            println!("{who:?} of {member} ends in {phase} ({now}) of a backup");
            end(who, &member);
            complete(&name);
        }
        let before = rows(&ring);
        let backup = format!("disturbed-{round}-{}", OF_A_BACKUP.len() - 1);
        for (number, phase) in OF_A_RESTORE.into_iter().enumerate() {
            throw_away(&ring);
            let name = format!("back-{round}-{number}");
            ask_of(&backup, &name, "tables: [{from: every.blobs}]");
            let now = reached("cassandrarestore", &name, &OF_A_RESTORE, phase);
            let member = member(&ring, round + number);
            println!("{who:?} of {member} ends in {phase} ({now}) of a restore");
            end(who, &member);
            restored(&ring, &name);
            assert_eq!(rows(&ring), before, "{who:?} in {phase}");
        }
    }
    pace(None);
    ring.wait_members(3).expect("all well");
    ring.check_data().expect("all rows");
}

fn member(ring: &Ring<'_>, number: usize) -> String {
    let all = ring.member_names().expect("the members");
    all[number % all.len()].clone()
}
