//! Data to repair and to compact: random bytes, on all replicas or on one of each row.

use std::time::Duration;

use anyhow::Result;
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

/// So many replicas should hold each row from now on.
pub fn keep(cluster: &Cluster, copies: Copies) -> Result<()> {
    say(cluster, &["keep", copies.number()])
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

fn say(cluster: &Cluster, words: &[&str]) -> Result<()> {
    let host = format!("{CLUSTER}-client");
    let command = ["exec", CLIENT, "--", "python3", "-c", PROGRAM, &host];
    cluster.kubectl(&[&command[..], words].concat()).map(drop)
}

/// Rows of 256 KiB. Of one copy each, a write is acknowledged by the one that has it.
const PROGRAM: &str = r#"
import os, sys
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
else:
    insert = session.prepare("INSERT INTO bench.blobs (k, v) VALUES (?, ?)")
    rows = range(int(sys.argv[3]), int(sys.argv[4]))
    execute_concurrent_with_args(session, insert, ((k, os.urandom(256 * 1024)) for k in rows), concurrency=8, raise_on_first_error=True)
cluster.shutdown()
"#;
