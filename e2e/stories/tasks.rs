//! Tasks over the members of a ring: each kind of work is done on every member,
//! one at a time and in order; a repair mends what a member lacks; an abort ends
//! what runs within seconds; whoever is killed in the middle costs one try.

mod abort;
mod killed;
mod kinds;
mod repair;

use std::time::Duration;

use anyhow::Result;
use palladion_e2e::bed::text;
use palladion_e2e::story::Story;
use palladion_e2e::{Ring, WantedRing, a_ring, bed, wait_for};
use serde_json::{Value, json};

const NAMESPACE: &str = "tasks";
/// The work on so few rows takes a second; a busy machine takes longer.
const SOON: Duration = Duration::from_secs(240);

fn wanted() -> WantedRing {
    a_ring().racks(&[("a", 2), ("b", 1)]).rows(3)
}

pub fn story() -> Story {
    Story::named(NAMESPACE)
        .ring(wanted())
        .step("every kind of work is done on all members, one after the other", kinds::in_order)
        .step("a repair mends what a member lacks", repair::of_lost_rows)
        .step("an abort ends a compaction within seconds", abort::of_a_compaction)
        .step("a server that is killed in the middle costs one try", killed::the_server)
        .in_soak()
        .step("members are restarted one after the other", kinds::restarts)
        .step("an agent that is killed in the middle is waited for", killed::the_agent)
        .in_soak()
        .step("a pod that is deleted in the middle costs one try", killed::the_pod)
        .in_soak()
        .into()
}

/// Ask for this: the spec of a task without its cluster.
fn ask(task: &str, spec: Value) {
    let mut spec = spec;
    spec["cluster"] = json!(NAMESPACE);
    let manifest = json!({
        "apiVersion": "palladion.dev/v1alpha1",
        "kind": "CassandraTask",
        "metadata": { "name": task },
        "spec": spec,
    });
    bed().apply(NAMESPACE, &manifest.to_string()).expect("the task is accepted");
}

fn read(task: &str) -> Result<Value> {
    Ok(bed().get(NAMESPACE, "cassandratask", task)?.unwrap_or_default())
}

/// Wait as a user does, until the task is done.
fn wait_done(task: &str) -> Value {
    wait_phase(task, "Done")
}

/// Wait until a task is in this phase; fails as soon as it has ended in another.
fn wait_phase(task: &str, phase: &str) -> Value {
    let ended = ["Done", "Partial", "Refused", "Aborted", "Failed"];
    let mut last = Value::Null;
    let found = wait_for(&format!("the task {task} to be {phase}"), SOON, || {
        last = read(task)?;
        let now = text(&last, "/status/phase");
        Ok((now == phase || ended.contains(&now)).then(|| now.to_string()))
    });
    let found = found.unwrap_or_else(|error| panic!("{error:#}; it is {}", last["status"]));
    assert_eq!(found, phase, "{}", last["status"]);
    last
}

/// Wait until a server compacts what there is much of for this task, and return
/// its member.
fn wait_at_work(task: &str) -> String {
    wait_for(&format!("a server to be at work for {task}"), SOON, || {
        let task = read(task)?;
        let member = text(&task, "/status/current/member").to_string();
        if member.is_empty() {
            return Ok(None);
        }
        let words = ["nodetool", "compactionstats"];
        let running = bed().exec(NAMESPACE, &member, &words)?;
        Ok(running.contains("blobs").then_some(member))
    })
    .expect("at work")
}

/// A command in the server's container, as an administrator types it.
fn in_server(member: &str, command: &str) -> String {
    let words = ["bash", "-c", command];
    bed().exec(NAMESPACE, member, &words).unwrap_or_else(|e| panic!("{member}: {command}: {e:#}"))
}

/// A table of two SSTables on every member that take some twenty seconds to
/// compact with a limit of 1 MiB/s; and that limit.
fn much_to_compact(ring: &Ring<'_>) {
    let members = ring.member_names().expect("names");
    for part in ["0", "1"] {
        let host = format!("{NAMESPACE}-client");
        ring.in_client(&["python3", "-c", BLOBS, &host, part]).expect("written");
        for member in &members {
            in_server(member, "nodetool flush much");
        }
    }
    for member in &members {
        assert_eq!(sstables(member), 2, "{member} has something to compact");
        in_server(member, "nodetool setcompactionthroughput 1");
    }
}

/// How many SSTables a member has of that table.
fn sstables(member: &str) -> usize {
    let listed = in_server(member, "ls /var/lib/cassandra/data/much/blobs-*/*-Data.db | wc -l");
    listed.trim().parse().expect("a number")
}

fn end_of_much(ring: &Ring<'_>) {
    for member in ring.member_names().expect("names") {
        in_server(&member, "nodetool setcompactionthroughput 64");
    }
    ring.cql(&["DROP KEYSPACE much"]).expect("dropped");
    ring.wait_settled().expect("settled");
}

/// Writes 24 MiB that do not compress, in small partitions: a server looks between
/// two of them whether it should stop.
const BLOBS: &str = r#"
import os, sys
from cassandra.cluster import Cluster, ExecutionProfile, EXEC_PROFILE_DEFAULT
from cassandra import ConsistencyLevel
profile = ExecutionProfile(consistency_level=ConsistencyLevel.ALL, request_timeout=20)
cluster = Cluster([sys.argv[1]], execution_profiles={EXEC_PROFILE_DEFAULT: profile}, connect_timeout=20, control_connection_timeout=20)
session = cluster.connect()
session.execute("CREATE KEYSPACE IF NOT EXISTS much WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}")
session.execute("CREATE TABLE IF NOT EXISTS much.blobs (k int PRIMARY KEY, v blob) WITH compaction = {'class': 'SizeTieredCompactionStrategy', 'enabled': 'false'}")
insert = session.prepare("INSERT INTO much.blobs (k, v) VALUES (?, ?)")
part = int(sys.argv[2])
for k in range(96):
    session.execute(insert, (1000 * part + k, os.urandom(256 * 1024)))
cluster.shutdown()
"#;
