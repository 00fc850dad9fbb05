//! The checks themselves, seen to fail where a count at QUORUM would not.

use palladion_e2e::checked::KEYSPACE;
use palladion_e2e::{Ring, bed, wait_for};
use palladion_testbed::faults::Victim;

use super::{NAMESPACE, SOON};

/// A server that is drained has nothing in its commit log that would bring the
/// rows back.
const WITHOUT_ITS_ROWS: &str = "nodetool drain && rm /var/lib/cassandra/data/kept/rows-*/*-*-*";

pub(super) fn a_replica_that_holds_nothing(ring: &Ring<'_>) {
    let ids = ring.host_ids().expect("host IDs");
    let name = &ring.member_names().expect("names")[2];
    let started =
        || anyhow::Ok(ring.member(name)?["status"]["startHistory"][0]["startedAt"].clone());
    let before = started().expect("its start");
    bed().exec(NAMESPACE, name, &["bash", "-c", WITHOUT_ITS_ROWS]).expect("rows deleted");
    bed().cluster.kill(NAMESPACE, name, "cassandra", &Victim::Init).expect("kill");
    wait_for("the server to be started again", SOON, || Ok((started()? != before).then_some(())))
        .expect("started");
    ring.wait_ready(3).expect("all ready");
    ring.wait_settled().expect("settled");
    assert_eq!(ring.host_ids().expect("host IDs"), ids, "for Kubernetes all is well");
    let found = ring.check_data().expect_err("a replica holds nothing").to_string();
    println!("found, as it should be: {found}");
    assert!(found.contains("missing from a replica"), "{found}");
    assert!(found.contains("replica incomplete"), "{found}");
    assert!(!found.contains("lost:"), "the others have all of it: {found}");
    bed().exec(NAMESPACE, name, &["nodetool", "repair", "--full", KEYSPACE]).expect("repaired");
    ring.check_data().expect("all rows");
}
