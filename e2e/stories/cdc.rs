//! Change data capture on real servers: a reader beside each of them, without one until clients are
//! refused, with it again, and a member that leaves before its reader has read all.

use std::time::Duration;

use palladion_api::reasons::Reason;
use palladion_e2e::story::Story;
use palladion_e2e::{Ring, WantedRing, a_ring, bed, wait_for};
use serde_json::json;

const NAMESPACE: &str = "cdc";
const STAYS: &str = "cdc-dc1-a-0";
const LEAVES: &str = "cdc-dc1-a-1";
const SOON: Duration = Duration::from_secs(240);
/// A leave, and the end of its server.
const LEAVES_IN: Duration = Duration::from_secs(600);
/// Rows of 4 KiB: many more than 16 MiB have room for.
const MOST: u32 = 8000;
/// Rows behind those that are counted, so that the segments of these are complete: three of 2 MiB.
const BEHIND: u32 = 1600;

/// Deletes complete segments, and notes which rows it has found in them, while `/tmp/stop` is not
/// there.
const READER: &str = r#"
import glob, os, re, time
row, seen = re.compile(rb"row-[0-9]{6}"), set()
while True:
    time.sleep(0.5)
    if os.path.exists("/tmp/stop"):
        continue
    for index in sorted(glob.glob("/cdc/*_cdc.idx")):
        words = open(index).read().split()
        if words[1:] != ["COMPLETED"]:
            continue
        segment = index[: -len("_cdc.idx")] + ".log"
        seen.update(row.findall(open(segment, "rb").read(int(words[0]))))
        with open("/tmp/rows.part", "wb") as rows:
            rows.write(b"".join(sorted(name + b"\n" for name in seen)))
        os.rename("/tmp/rows.part", "/tmp/rows")
        os.remove(segment)
        os.remove(index)
"#;

/// Has the user of the sidecar a way to write to a segment of the server?
const INTRUDER: &str = r#"
import glob, os
segment = sorted(glob.glob("/cdc/*.log"))[0]
assert os.getuid() == 65532, os.getuid()
open(segment, "rb").read(64)
try:
    open(segment, "r+b")
    print("writes")
except PermissionError:
    print("kept out")
"#;

/// Prints how many rows were acknowledged, and what ended that.
const WRITE: &str = r#"
import sys
from cassandra import ConsistencyLevel
from cassandra.cluster import Cluster
host, table, word, first, end = sys.argv[1:4] + [sys.argv[4]] + [int(sys.argv[5])]
session = Cluster([host], connect_timeout=20, control_connection_timeout=20).connect()
insert = session.prepare("INSERT INTO shop.%s (id, v) VALUES (?, ?)" % table)
insert.consistency_level = ConsistencyLevel.ALL
done, why = int(first), "none"
while done < end:
    try:
        session.execute(insert, (done, "%s-%06d-" % (word, done) + "x" * 4080), timeout=30)
    except Exception as error:
        why = type(error).__name__
        break
    done += 1
print(done, why)
"#;

pub fn story() -> Story {
    Story::named(NAMESPACE)
        .step("a reader that stops has clients refused and loses no row", a_reader_loses_no_row)
        .in_soak()
        .into()
}

fn wanted(members: u32) -> WantedRing {
    let reader = json!([{
        "name": "reader", "image": "palladion.dev/tools:dev",
        "command": ["python3", "-u", "-c", READER], "cdc": "ReadWrite",
    }]);
    let sidecars = Box::leak(format!("sidecars: {reader}").into_boxed_str());
    a_ring()
        .racks(&[("a", members)])
        .line("cdc: {mode: \"On\", totalSpace: 16Mi}")
        .line("config: {commitlog_segment_size: 2MiB}")
        .line(sidecars)
}

fn in_reader(member: &str, command: &[&str]) -> anyhow::Result<String> {
    let place = ["exec", "-n", NAMESPACE, member, "-c", "reader", "--"];
    bed().cluster.kubectl(&[&place[..], command].concat())
}

fn stop_reading(member: &str) {
    in_reader(member, &["/bin/busybox", "touch", "/tmp/stop"]).expect("its /tmp");
}

fn read_again(member: &str) {
    in_reader(member, &["/bin/busybox", "rm", "/tmp/stop"]).expect("its /tmp");
}

/// Rows that a reader has found.
fn rows(member: &str) -> anyhow::Result<usize> {
    Ok(in_reader(member, &["/bin/busybox", "cat", "/tmp/rows"])?.lines().count())
}

/// Write rows of this word to the table, from one number up to another: where it ended, and why.
fn write(ring: &Ring<'_>, table: &str, word: &str, from: u32, to: u32) -> (u32, String) {
    let address = format!("{NAMESPACE}-client");
    let (from, to) = (from.to_string(), to.to_string());
    let command = ["python3", "-c", WRITE, &address, table, word, &from, &to];
    let said = ring.in_client(&command).expect("a client");
    let (done, why) = said.trim().split_once(' ').unwrap_or_else(|| panic!("{said}"));
    (done.parse().unwrap_or_else(|_| panic!("{said}")), why.to_string())
}

fn a_reader_loses_no_row() {
    let ring = Ring::with_client(bed(), NAMESPACE).expect("a client");
    bed().apply(NAMESPACE, &wanted(2).manifest(NAMESPACE)).expect("apply");
    ring.wait_ready(2).expect("the ring should form");
    ring.wait_settled().expect("settled");
    let replication = |copies: u8| {
        format!("WITH replication = {{'class': 'NetworkTopologyStrategy', 'dc1': {copies}}}")
    };
    ring.cql(&[
        &format!("CREATE KEYSPACE shop {}", replication(2)),
        "CREATE TABLE shop.orders (id int PRIMARY KEY, v text) WITH cdc = true",
        "CREATE TABLE shop.other (id int PRIMARY KEY, v text)",
    ])
    .expect("tables");
    let said = in_reader(STAYS, &["python3", "-c", INTRUDER]).expect("a look");
    assert_eq!(said.trim(), "kept out");

    // Without readers, until it is full.
    for member in [STAYS, LEAVES] {
        stop_reading(member);
    }
    let (full, why) = write(&ring, "orders", "row", 0, MOST);
    println!("{full} rows until {why}");
    assert!(full > 1000 && full < MOST && why == "WriteFailure", "{full} {why}");
    let words = ring.wait_reason("Degraded", Reason::CdcFull, SOON).expect("it is said");
    assert!(words.contains("refuses writes"), "{words}");
    let others = write(&ring, "other", "other", 0, 100);
    assert_eq!(others, (100, "none".to_string()), "tables without change data capture go on");

    // With them again: what was refused may be written, too.
    for member in [STAYS, LEAVES] {
        read_again(member);
    }
    let end = wait_for("writes to go on", SOON, || {
        let (done, why) = write(&ring, "orders", "row", full, full + 1);
        Ok((why == "none").then_some(done))
    });
    let end = end.expect("writes go on");
    let (end, why) = write(&ring, "orders", "row", end, end + 1000);
    assert_eq!(why, "none", "with a reader nothing is refused");
    let (_, why) = write(&ring, "orders", "behind", MOST, MOST + BEHIND);
    assert_eq!(why, "none");
    let all = usize::try_from(end).expect("a count");
    for member in [STAYS, LEAVES] {
        // One more where a replica had taken what was refused at the end.
        wait_for(&format!("{member} to have read {all} rows"), SOON, || {
            Ok((rows(member)? >= all).then_some(()))
        })
        .expect("each replica has each row");
        println!("{member}: {} rows of {all}", rows(member).expect("rows"));
    }
    wait_for("nothing to be amiss", SOON, || {
        let degraded = ring.condition("Degraded")?.unwrap_or_default();
        Ok((degraded["status"] == "False").then_some(()))
    })
    .expect("the ring is well");

    // A member leaves: its last segments are read before its pod goes.
    ring.cql(&[&format!("ALTER KEYSPACE shop {}", replication(1))]).expect("one copy");
    stop_reading(LEAVES);
    let (last, why) = write(&ring, "orders", "row", end, end + 200);
    assert_eq!(why, "none");
    let before = rows(LEAVES).expect("rows");
    bed().apply(NAMESPACE, &wanted(1).manifest(NAMESPACE)).expect("apply");
    ring.wait_told("Progressing", Reason::CdcUndelivered, "its pod stays", LEAVES_IN)
        .expect("it waits for the reader");
    let pods = ring.pod_uids().expect("pods");
    assert!(pods.iter().any(|(name, _)| name == LEAVES), "{pods:?}");
    read_again(LEAVES);
    let of_the_last = wait_for("its last rows to be read", SOON, || {
        let now = rows(LEAVES)?;
        Ok((now > before).then_some(now - before))
    });
    println!("{} of the last {} rows were on {LEAVES}", of_the_last.expect("read"), last - end);
    ring.wait_members(1).expect("and it goes");
    ring.wait_settled().expect("settled");
    bed().remove_namespace(NAMESPACE).expect("removed");
}
