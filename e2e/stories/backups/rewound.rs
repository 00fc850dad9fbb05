//! A ring comes back as it was at a moment between two writes: what was acknowledged until a minute
//! before it is there, with its deletions and counts, and nothing that is later.

use anyhow::Result;
use palladion_api::reasons::Reason;
use palladion_e2e::bed::{condition, text};
use palladion_e2e::{Ring, bed, wait_for};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{SOON, whole_ring, with_place};

/// The ring that is archived.
const WRITTEN: &str = "written";
/// The ring that it becomes.
const REWOUND: &str = "rewound";
const TABLES: &str = "line";
/// A window has to be open for so long before a backup, and so long writes may wait to be archived.
const MINUTE: Duration = Duration::from_secs(70);

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970")
}

/// Writes rows from this number on, each with its time, and counts them. Prints what was
/// acknowledged: number and time, in microseconds since 1970.
const WRITE: &str = r#"
import sys, time
from cassandra.cluster import Cluster, ExecutionProfile, EXEC_PROFILE_DEFAULT
from cassandra import ConsistencyLevel
profile = ExecutionProfile(consistency_level=ConsistencyLevel.QUORUM, request_timeout=20)
cluster = Cluster([sys.argv[1]], execution_profiles={EXEC_PROFILE_DEFAULT: profile}, connect_timeout=20)
session = cluster.connect("line")
first = int(sys.argv[2])
for number in range(first, first + 300):
    at = int(time.time() * 1e6)
    session.execute("INSERT INTO rows (number, at) VALUES (%s, %s) USING TIMESTAMP %s", (number, at, at))
    if number % 10 == 0:
        session.execute("UPDATE counts SET seen = seen + 1 WHERE name = 'rows'")
    print(number, at)
    time.sleep(0.05)
cluster.shutdown()
"#;

/// Write three hundred rows; what was acknowledged.
fn written(ring: &Ring<'_>, first: u32) -> BTreeMap<u32, u128> {
    let host = format!("{WRITTEN}-client");
    let said = ring.in_client(&["python3", "-c", WRITE, &host, &first.to_string()]);
    let said = said.expect("it writes");
    let row = |line: &str| {
        let (number, at) = line.split_once(' ')?;
        Some((number.parse().ok()?, at.parse().ok()?))
    };
    said.lines().filter_map(row).collect()
}

fn object(kind: &str, namespace: &str, name: &str) -> Result<Value> {
    Ok(bed().get(namespace, kind, name)?.unwrap_or_default())
}

/// Wait until it has ended as it should.
fn complete(kind: &str, namespace: &str, name: &str) -> Value {
    let mut last = Value::Null;
    wait_for(&format!("{kind} {name} to end"), SOON * 2, || {
        last = object(kind, namespace, name)?;
        Ok(last["status"]["endedAt"].is_string().then_some(()))
    })
    .unwrap_or_else(|why| panic!("{why:#}: {}", last["status"]));
    assert_eq!(text(&last, "/status/phase"), "Complete", "{}", last["status"]);
    last
}

fn back_up(name: &str) -> Value {
    let backup = format!(
        "apiVersion: palladion.dev/v1alpha1
kind: CassandraBackup
metadata: {{name: {name}}}
spec: {{cluster: {WRITTEN}}}
"
    );
    bed().apply(WRITTEN, &backup).expect("the backup is accepted");
    complete("cassandrabackup", WRITTEN, name)
}

pub fn to_a_moment() {
    let there = Ring::with_client(bed(), WRITTEN).expect("a client");
    bed()
        .apply(WRITTEN, &with_place(WRITTEN, WRITTEN, "archive: {mode: CommitLog}"))
        .expect("apply");
    there.wait_ready(3).expect("ready");
    there.wait_settled().expect("settled");
    let created = [
        "CREATE KEYSPACE line WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 2}",
        "CREATE TABLE line.rows (number int PRIMARY KEY, at bigint)",
        "CREATE TABLE line.counts (name text PRIMARY KEY, seen counter)",
        "CREATE TABLE line.lists (list text, entry int, PRIMARY KEY (list, entry))",
    ];
    there.cql(&created).expect("tables");
    let before = written(&there, 0);
    // The archive begins with the repository, which the first backup creates.
    back_up("opens");
    std::thread::sleep(MINUTE);
    let backup = back_up("first");
    let after = written(&there, 1000);
    there.cql(&["DELETE FROM line.rows WHERE number IN (1, 1001)"]).expect("deleted");
    let entries: Vec<String> = (0..5)
        .map(|entry| format!("INSERT INTO line.lists (list, entry) VALUES ('a', {entry})"))
        .chain(["DELETE FROM line.lists WHERE list = 'a' AND entry = 0".to_string()])
        .collect();
    there.cql(&entries.iter().map(String::as_str).collect::<Vec<_>>()).expect("entries");
    // All of that is a minute before the moment, and all that follows is behind it.
    std::thread::sleep(MINUTE);
    let to = now().as_secs();
    std::thread::sleep(Duration::from_secs(2));
    // A server that replays compares no time of the deletion of a row.
    let delete =
        |entry: u32| format!("DELETE FROM line.lists WHERE list = 'a' AND entry = {entry}");
    there.cql(&[&delete(1)]).expect("deleted");
    let later = written(&there, 2000);
    assert!(later.values().all(|at| *at > u128::from(to) * 1_000_000));
    there.cql(&["DELETE FROM line.rows WHERE number IN (2, 1002, 2002)"]).expect("deleted");
    there.cql(&[&delete(2)]).expect("deleted");
    // Until that is archived, too.
    std::thread::sleep(MINUTE * 2);
    let ring = Ring::with_client(bed(), REWOUND).expect("a client");
    bed().apply(REWOUND, &with_place(REWOUND, WRITTEN, "restore: back")).expect("apply");
    let to = jiff::Timestamp::from_second(i64::try_from(to).expect("a time")).expect("a time");
    let restore = whole_ring(REWOUND, WRITTEN, &backup, &format!("  pointInTime: {to}\n"));
    bed().apply(REWOUND, &restore).expect("the restore is accepted");
    let ended = complete("cassandrarestore", REWOUND, "back");
    let said = condition(&ended, "Complete");
    assert_eq!(said["reason"], Reason::RestoreComplete.as_str());
    assert!(said["message"].to_string().contains(&to.to_string()), "{said}");
    ring.wait_ready(3).expect("all are ready");
    let mut expected: Vec<u32> = before.keys().chain(after.keys()).copied().collect();
    expected.retain(|number| ![1, 1001].contains(number));
    let rows = ring.cql(&[&format!("SELECT number FROM {TABLES}.rows")]).expect("rows");
    let mut found: Vec<u32> = rows.iter().map(|row| row.parse().expect("a number")).collect();
    found.sort_unstable();
    assert_eq!(found, expected);
    let entries = ring.cql(&["SELECT entry FROM line.lists WHERE list = 'a'"]).expect("entries");
    assert_eq!(entries, ["1", "2", "3", "4"], "those that were deleted later are there");
    let counted = expected.iter().chain(&[1, 1001]).filter(|number| *number % 10 == 0).count();
    let seen = ring.cql(&[&format!("SELECT seen FROM {TABLES}.counts")]).expect("a count");
    assert_eq!(seen, [counted.to_string()]);
    for namespace in [REWOUND, WRITTEN] {
        bed().remove_namespace(namespace).expect("removed");
    }
}
