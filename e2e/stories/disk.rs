//! Disks that are nearly full: nobody leaves to a member that could not take
//! the data. The volumes are small file systems of their own, filled for real.

use std::time::Duration;

use palladion_api::reasons::Reason;
use palladion_e2e::story::Story;
use palladion_e2e::{Bed, Ring, a_ring, bed, wait_for};

const NAMESPACE: &str = "disk";
const STAYS: &str = "disk-dc1-a-0";
const LEAVES: &str = "disk-dc1-a-1";
/// Room for the server's own files, and for all rows on one member.
const VOLUME_MIB: u32 = 500;
/// Rows of one MiB that cannot be compressed.
const ROWS: u64 = 160;
/// Less than a quarter of the rows take with half as much again, should the
/// leaver have so few; more than a server needs to go on.
const FREE_MIB: u64 = 40;
const SOON: Duration = Duration::from_secs(180);

const WRITE: &str = r#"
import os, sys
from cassandra.cluster import Cluster
session = Cluster([sys.argv[1]], connect_timeout=20, control_connection_timeout=20).connect()
session.execute("CREATE KEYSPACE IF NOT EXISTS big WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 1}")
session.execute("CREATE TABLE IF NOT EXISTS big.rows (id int PRIMARY KEY, body blob)")
insert = session.prepare("INSERT INTO big.rows (id, body) VALUES (?, ?)")
for number in range(int(sys.argv[2])):
    session.execute(insert, (number, os.urandom(1 << 20)), timeout=30)
"#;

/// Few rows at a time: a read of whole pages would need more than the heap.
const READ: &str = r#"
import sys
from cassandra.cluster import Cluster
session = Cluster([sys.argv[1]], connect_timeout=20, control_connection_timeout=20).connect()
session.default_fetch_size = 4
print(sum(len(row.body) == 1 << 20 for row in session.execute("SELECT body FROM big.rows", timeout=30)))
"#;

pub fn story() -> Story {
    Story::named(NAMESPACE)
        .breaks_machines()
        .step("nobody leaves to a disk that cannot take the data", nobody_leaves_to_a_full_disk)
        .in_soak()
        .into()
}

/// What is on these volumes counts as memory of the pods.
fn a_manifest(members: u32) -> String {
    a_ring()
        .racks(&[("a", members)])
        .manifest(NAMESPACE)
        .replace("limits: {memory: 1Gi}", "limits: {memory: 2Gi}")
}

/// Small file systems in the place of all free volumes, until it is dropped.
struct SmallVolumes<'a> {
    bed: &'a Bed,
    names: Vec<String>,
}

impl<'a> SmallVolumes<'a> {
    /// In place of every volume that is or may become free: the ring must not
    /// find one that is as large as the machine's own disk.
    fn mount(bed: &'a Bed) -> Self {
        let names = bed.free_volumes().expect("no test before this one should keep a volume");
        for name in &names {
            bed.cluster.shrink_volume(name, VOLUME_MIB).expect("shrink");
        }
        Self { bed, names }
    }
}

impl Drop for SmallVolumes<'_> {
    fn drop(&mut self) {
        for name in &self.names {
            // The one that is still in use says why the test failed.
            if let Err(error) = self.bed.cluster.unhide_volume(name) {
                eprintln!("{error:#}");
            }
        }
    }
}

/// Bytes that are free on a member's volume.
fn free(bed: &Bed, member: &str) -> u64 {
    let words = ["df", "--output=avail", "-B1", "/var/lib/cassandra"];
    let said = bed.exec(NAMESPACE, member, &words).expect("df");
    let bytes = said.lines().last().and_then(|l| l.trim().parse().ok());
    bytes.expect("a number of bytes")
}

fn nobody_leaves_to_a_full_disk() {
    let bed = bed();
    bed.remove_namespace(NAMESPACE).expect("a clean start");
    let small = SmallVolumes::mount(bed);
    let ring = Ring::create_from(bed, NAMESPACE, &a_manifest(2), 2).expect("the ring should form");
    ring.wait_settled().expect("settled");
    ring.write_data(1).expect("rows should be written");
    for member in [STAYS, LEAVES] {
        let room = free(bed, member);
        assert!(room < u64::from(VOLUME_MIB) << 20, "{member}: {room} bytes");
    }
    let count = ROWS.to_string();
    let address = format!("{NAMESPACE}-client");
    ring.in_client(&["python3", "-c", WRITE, &address, &count]).expect("rows should be written");
    for member in [STAYS, LEAVES] {
        bed.exec(NAMESPACE, member, &["nodetool", "flush", "big"]).expect("flush");
    }
    let ballast = free(bed, STAYS) - (FREE_MIB << 20);
    let fill = format!("head -c {ballast} /dev/zero > /var/lib/cassandra/ballast");
    bed.exec(NAMESPACE, STAYS, &["bash", "-c", &fill]).expect("fill the disk");
    bed.apply(NAMESPACE, &a_manifest(1)).expect("apply");
    let words = ring.wait_reason("Progressing", Reason::LeaveRefused, SOON).expect("refused");
    assert!(words.contains(" MiB free"), "{words}");
    assert!(words.contains(&format!("member {STAYS} would receive")), "{words}");
    println!("told: {words}");
    let leaver = ring.member(LEAVES).expect("the member");
    assert!(leaver["spec"]["intent"].is_null(), "{}", leaver["spec"]);
    // Nothing but room is needed for it to go on.
    bed.exec(NAMESPACE, STAYS, &["rm", "/var/lib/cassandra/ballast"]).expect("make room");
    wait_for("the member to leave", Duration::from_secs(400), || {
        Ok((ring.cluster()?["status"]["members"] == "1/1").then_some(()))
    })
    .expect("left");
    // The record of who has left goes a moment later.
    ring.wait_members(1).expect("one member");
    let found = ring.in_client(&["python3", "-c", READ, &address]);
    let found = found.expect("rows should be read");
    assert_eq!(found.trim(), count, "all rows have moved");
    ring.check_data().expect("and all small ones");
    bed.kubectl(&format!("delete cassandracluster {NAMESPACE} -n {NAMESPACE} --wait=true"))
        .expect("delete");
    wait_for("its pods to end", SOON, || {
        let pods = bed.list(NAMESPACE, "pods")?;
        let client_alone = pods.iter().all(|p| p["metadata"]["name"] == "client");
        Ok(client_alone.then_some(()))
    })
    .expect("ended");
    drop(small);
    bed.remove_namespace(NAMESPACE).expect("clean up");
}
