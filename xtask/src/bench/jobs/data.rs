//! Data to repair and to compact: random bytes, on all replicas or on one of each row.

use std::time::Duration;

use anyhow::{Context, Result};
use palladion_e2e::wait_for;
use palladion_testbed::Cluster;

use super::super::{CLUSTER, look};

const CLIENT: &str = "bench-writer";
const PATIENCE: Duration = Duration::from_secs(120);
/// SSTables of each member: more than compactors take at a time.
const PARTS: u32 = 8;

/// How many replicas hold what is written.
#[derive(Clone, Copy)]
pub enum Copies {
    All,
    One,
}

impl Copies {
    fn number(self) -> &'static str {
        match self {
            Copies::All => "3",
            Copies::One => "1",
        }
    }
}

/// A pod that writes.
pub fn client(cluster: &Cluster) -> Result<()> {
    let image = "--image=palladion.dev/tools:dev";
    let mut run = vec!["run", CLIENT, image, "--image-pull-policy=Never", "--restart=Never"];
    run.extend(["--command", "--", "/bin/busybox", "sleep", "1000000"]);
    cluster.kubectl(&run)?;
    wait_for("the client", PATIENCE, || {
        Ok(cluster.kubectl(&["exec", CLIENT, "--", "/bin/busybox", "true"]).ok())
    })
    .map(drop)
}

/// Begin with an empty table, and write so much to each replica.
pub fn write(cluster: &Cluster, mib: u32, copies: Copies) -> Result<()> {
    say(cluster, &["empty", copies.number()])?;
    on_all(cluster, &["nodetool", "clearsnapshot", "--all"])?;
    // With one copy of each row a third of all rows is on each member.
    let rows = match copies {
        Copies::All => mib * 4,
        Copies::One => mib * 4 * 3,
    };
    for part in 0..PARTS {
        let (from, to) = (rows / PARTS * part, rows / PARTS * (part + 1));
        say(cluster, &["write", &from.to_string(), &to.to_string()])?;
        on_all(cluster, &["nodetool", "flush", "bench"])?;
    }
    Ok(())
}

/// Write one row of so many again, and flush it.
pub fn rewrite(cluster: &Cluster, mib: u32, one_in: u32) -> Result<()> {
    let (rows, one_in) = ((mib * 4).to_string(), one_in.to_string());
    say(cluster, &["write", "0", &rows, &one_in])?;
    on_all(cluster, &["nodetool", "flush", "bench"])
}

/// Throw all rows away.
pub fn empty(cluster: &Cluster) -> Result<()> {
    say(cluster, &["empty", Copies::All.number()])?;
    on_all(cluster, &["nodetool", "clearsnapshot", "--all"])
}

/// What a client waits for one of a hundred requests, in milliseconds: reads and writes of small
/// rows at QUORUM, a hundred a second for so many seconds.
pub fn p99(cluster: &Cluster, seconds: u32) -> Result<f64> {
    let said = say(cluster, &["p99", &seconds.to_string()])?;
    said.trim().parse().with_context(|| format!("reading a percentile: {said}"))
}

/// So many replicas should hold each row from now on.
pub fn keep(cluster: &Cluster, copies: Copies) -> Result<()> {
    say(cluster, &["keep", copies.number()]).map(drop)
}

/// What all servers read for compactions, and stream, at the most; 0 = no limit.
pub fn limit(cluster: &Cluster, compaction: &str, streams: &str) -> Result<()> {
    on_all(cluster, &["nodetool", "setcompactionthroughput", compaction])?;
    on_all(cluster, &["nodetool", "setstreamthroughput", streams])?;
    on_all(cluster, &["nodetool", "setstreamthroughput", "-e", streams])
}

/// A command in every server's container.
pub fn on_all(cluster: &Cluster, command: &[&str]) -> Result<()> {
    for pod in look::member_pods(cluster)? {
        in_server(cluster, &pod, command)?;
    }
    Ok(())
}

/// A command in a server's container.
pub fn in_server(cluster: &Cluster, pod: &str, command: &[&str]) -> Result<String> {
    let words = ["exec", pod, "-c", "cassandra", "--"];
    cluster.kubectl(&[&words[..], command].concat())
}

fn say(cluster: &Cluster, words: &[&str]) -> Result<String> {
    let host = format!("{CLUSTER}-client");
    let command = ["exec", CLIENT, "--", "python3", "-c", PROGRAM, &host];
    cluster.kubectl(&[&command[..], words].concat())
}

/// Rows of 256 KiB. Of one copy each, a write is acknowledged by the one that has it.
const PROGRAM: &str = r#"
import os, sys, time
from cassandra.cluster import Cluster, ExecutionProfile, EXEC_PROFILE_DEFAULT
from cassandra import ConsistencyLevel
from cassandra.concurrent import execute_concurrent_with_args
profile = ExecutionProfile(consistency_level=ConsistencyLevel.ALL, request_timeout=60)
cluster = Cluster([sys.argv[1]], execution_profiles={EXEC_PROFILE_DEFAULT: profile}, connect_timeout=60, control_connection_timeout=60)
session = cluster.connect()
def keep(number):
    options = "{'class': 'NetworkTopologyStrategy', 'dc1': " + number + "}"
    session.execute("CREATE KEYSPACE IF NOT EXISTS bench WITH replication = " + options)
    session.execute("ALTER KEYSPACE bench WITH replication = " + options)
if sys.argv[2] == 'empty':
    keep(sys.argv[3])
    session.execute("CREATE TABLE IF NOT EXISTS bench.blobs (k int PRIMARY KEY, v blob) WITH compaction = {'class': 'SizeTieredCompactionStrategy', 'enabled': 'false'}")
    session.execute("TRUNCATE bench.blobs")
elif sys.argv[2] == 'keep':
    keep(sys.argv[3])
elif sys.argv[2] == 'p99':
    session.execute("CREATE KEYSPACE IF NOT EXISTS felt WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}")
    session.execute("CREATE TABLE IF NOT EXISTS felt.rows (k int PRIMARY KEY, v blob)")
    read = session.prepare("SELECT v FROM felt.rows WHERE k = ?")
    write = session.prepare("INSERT INTO felt.rows (k, v) VALUES (?, ?)")
    read.consistency_level = write.consistency_level = ConsistencyLevel.QUORUM
    value, many, waits = os.urandom(1024), 1000, []
    execute_concurrent_with_args(session, write, ((k, value) for k in range(many)), concurrency=8, raise_on_first_error=True)
    # The rate is kept whatever a request takes: one that is late because the one before it was
    # slow has waited since it was due. The first second is that of the connections.
    begin = time.monotonic()
    for number in range((int(sys.argv[3]) + 1) * 100):
        due = begin + number / 100
        time.sleep(max(0, due - time.monotonic()))
        k = number * 7919 % many
        session.execute(*((read, (k,)) if number % 2 else (write, (k, value))))
        if number >= 100:
            waits.append(time.monotonic() - due)
    waits.sort()
    print(1000 * waits[len(waits) * 99 // 100])
else:
    insert = session.prepare("INSERT INTO bench.blobs (k, v) VALUES (?, ?)")
    rows = range(int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]) if len(sys.argv) > 5 else 1)
    execute_concurrent_with_args(session, insert, ((k, os.urandom(256 * 1024)) for k in rows), concurrency=8, raise_on_first_error=True)
cluster.shutdown()
"#;
