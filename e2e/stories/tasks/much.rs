//! Data that takes a server some time to go through.

use anyhow::Result;
use palladion_e2e::{Ring, bed, wait_for};

use super::{NAMESPACE, SOON, in_server};

/// How many replicas hold what is written.
#[derive(Clone, Copy)]
pub(super) enum Copies {
    All,
    Two,
    One,
}

impl Copies {
    fn number(self) -> &'static str {
        match self {
            Copies::All => "3",
            Copies::Two => "2",
            Copies::One => "1",
        }
    }
}

/// A table of two SSTables on every member that take some twenty seconds to
/// compact with a limit of 1 MiB/s; and that limit.
pub(super) fn much_to_compact(ring: &Ring<'_>) {
    written(ring, 2, Copies::All);
    for member in &ring.member_names().expect("names") {
        in_server(member, "nodetool setcompactionthroughput 1");
    }
}

/// Four SSTables, of which every member owns a third and holds all: more than its
/// compactors take at a time.
pub(super) fn much_to_clean_up(ring: &Ring<'_>) {
    written(ring, 4, Copies::All);
    copies(ring, Copies::One);
    for member in &ring.member_names().expect("names") {
        in_server(member, "nodetool setcompactionthroughput 1");
    }
}

/// What only one member holds of each row and all should have, with a limit for what is
/// streamed of 1 Mbit/s.
pub(super) fn much_to_repair(ring: &Ring<'_>) {
    much_to_bring_to(ring, Copies::All);
}

/// The same, of which so many members should have each row.
pub(super) fn much_to_bring_to(ring: &Ring<'_>, replicas: Copies) {
    written(ring, 2, Copies::One);
    copies(ring, replicas);
    ring.member_names().expect("names").iter().for_each(|member| hold_back(member));
}

/// What all members have but this one, which has lost it, with the same limit.
pub(super) fn much_that_one_lacks(ring: &Ring<'_>, member: &str) {
    written(ring, 2, Copies::All);
    ring.loses_rows_of(member, "much/blobs").expect("it has lost them");
    ring.member_names().expect("names").iter().for_each(|member| hold_back(member));
}

/// Let a server send 1 Mbit/s and no more.
fn hold_back(member: &str) {
    in_server(member, "nodetool setstreamthroughput 1");
    // Whole SSTables have a limit of their own since 4.1.
    in_server(member, "nodetool setstreamthroughput -e 1 || true");
}

/// As fast as a server is by itself. Not every version has the third.
const LET_GO: &str = "nodetool setcompactionthroughput 64 && nodetool setstreamthroughput 200 && { nodetool setstreamthroughput -e 200 || true; }";

/// Make a server so fast as soon as it answers. Of one that starts again its server's own limits
/// hold, and a pod that was deleted answers until its server has drained.
pub(super) fn let_go_once_up(member: &str) -> Result<()> {
    wait_for("the server to be as fast as it can", SOON, || {
        bed().exec(NAMESPACE, member, &["bash", "-c", LET_GO]).map(|_| Some(()))
    })
}

/// Make a server so fast.
pub(super) fn let_go(member: &str) {
    in_server(member, LET_GO);
}

/// So many SSTables on every member that holds any of them.
fn written(ring: &Ring<'_>, parts: usize, copies: Copies) {
    let members = ring.member_names().expect("names");
    let host = format!("{NAMESPACE}-client");
    for part in 0..parts {
        let part = part.to_string();
        ring.in_client(&["python3", "-c", BLOBS, &host, &part, copies.number()]).expect("written");
        for member in &members {
            in_server(member, "nodetool flush much");
        }
    }
    for member in &members {
        assert_eq!(sstables(member), parts, "{member} has something to do");
    }
}

fn copies(ring: &Ring<'_>, copies: Copies) {
    let number = copies.number();
    let statement = format!(
        "ALTER KEYSPACE much WITH replication = {{'class': 'NetworkTopologyStrategy', 'dc1': {number}}}"
    );
    ring.cql(&[&statement]).expect("altered");
}

/// How many SSTables a member has of that table.
pub(super) fn sstables(member: &str) -> usize {
    let listed = in_server(member, "ls /var/lib/cassandra/data/much/blobs-*/*-Data.db | wc -l");
    listed.trim().parse().expect("a number")
}

/// Bytes of that table that a replica has, by what is on its disk.
pub(super) fn bytes(member: &str) -> u64 {
    let count = "nodetool flush much; cat /var/lib/cassandra/data/much/blobs-*/*-Data.db | wc -c";
    in_server(member, count).trim().parse().expect("a number")
}

/// All rows of that table, as a client counts them.
pub(super) fn rows(ring: &Ring<'_>) -> usize {
    ring.cql(&["SELECT DISTINCT k FROM much.blobs"]).expect("rows").len()
}

pub(super) fn end_of_much(ring: &Ring<'_>) {
    for member in ring.member_names().expect("names") {
        let_go(&member);
    }
    ring.cql(&["DROP KEYSPACE much"]).expect("dropped");
    ring.wait_settled().expect("settled");
}

/// Rows of each part.
pub(super) const ROWS: usize = 96;

/// Writes 24 MiB that do not compress, in small partitions: a server looks between
/// two of them whether it should stop.
const BLOBS: &str = r#"
import os, sys
from cassandra.cluster import Cluster, ExecutionProfile, EXEC_PROFILE_DEFAULT
from cassandra import ConsistencyLevel
profile = ExecutionProfile(consistency_level=ConsistencyLevel.ALL, request_timeout=20)
cluster = Cluster([sys.argv[1]], execution_profiles={EXEC_PROFILE_DEFAULT: profile}, connect_timeout=20, control_connection_timeout=20)
session = cluster.connect()
session.execute("CREATE KEYSPACE IF NOT EXISTS much WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': " + sys.argv[3] + "}")
session.execute("CREATE TABLE IF NOT EXISTS much.blobs (k int PRIMARY KEY, v blob) WITH compaction = {'class': 'SizeTieredCompactionStrategy', 'enabled': 'false'}")
insert = session.prepare("INSERT INTO much.blobs (k, v) VALUES (?, ?)")
part = int(sys.argv[2])
for k in range(96):
    session.execute(insert, (1000 * part + k, os.urandom(256 * 1024)))
cluster.shutdown()
"#;
