//! A repair, seen to bring back what a replica lacked.

use palladion_e2e::checked::KEYSPACE;
use palladion_e2e::{Ring, bed, wait_for};
use palladion_testbed::faults::Victim;
use serde_json::json;

use super::{NAMESPACE, SOON, ask, in_server, wait_done};

/// A server that is drained has nothing in its commit log that would bring the
/// rows back.
const WITHOUT_ITS_ROWS: &str = "nodetool drain && rm /var/lib/cassandra/data/kept/rows-*/*-*-*";

pub(super) fn of_lost_rows(ring: &Ring<'_>) {
    let name = &ring.member_names().expect("names")[2];
    let started =
        || anyhow::Ok(ring.member(name)?["status"]["startHistory"][0]["startedAt"].clone());
    let before = started().expect("its start");
    in_server(name, WITHOUT_ITS_ROWS);
    bed().cluster.kill(NAMESPACE, name, "cassandra", &Victim::Init).expect("kill");
    wait_for("the server to be started again", SOON, || Ok((started()? != before).then_some(())))
        .expect("started");
    ring.wait_ready(3).expect("all ready");
    ring.wait_settled().expect("settled");
    let found = ring.check_data().expect_err("a replica holds nothing").to_string();
    assert!(found.contains("replica incomplete"), "{found}");
    ask("mend", json!({ "repair": { "keyspaces": [KEYSPACE] } }));
    wait_done("mend");
    ring.check_data().expect("all rows, on every replica");
}
