//! A repair, seen to bring back what a replica lacked.

use palladion_e2e::Ring;
use palladion_e2e::checked::KEYSPACE;
use serde_json::json;

use super::{ask, wait_done};

pub(super) fn of_lost_rows(ring: &Ring<'_>) {
    let name = &ring.member_names().expect("names")[2];
    ring.loses_rows(name).expect("rows deleted");
    let found = ring.check_data().expect_err("a replica holds nothing").to_string();
    assert!(found.contains("replica incomplete"), "{found}");
    ask("mend", json!({ "repair": { "keyspaces": [KEYSPACE] } }));
    wait_done("mend");
    ring.check_data().expect("all rows, on every replica");
}
