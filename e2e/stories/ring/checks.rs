//! The checks themselves, seen to fail where a count at QUORUM would not.

use palladion_e2e::checked::KEYSPACE;
use palladion_e2e::{Ring, bed};

use super::NAMESPACE;

pub(super) fn a_replica_that_holds_nothing(ring: &Ring<'_>) {
    let ids = ring.host_ids().expect("host IDs");
    let name = &ring.member_names().expect("names")[2];
    ring.loses_rows(name).expect("rows deleted");
    assert_eq!(ring.host_ids().expect("host IDs"), ids, "for Kubernetes all is well");
    let found = ring.check_data().expect_err("a replica holds nothing").to_string();
    println!("found, as it should be: {found}");
    assert!(found.contains("missing from a replica"), "{found}");
    assert!(found.contains("replica incomplete"), "{found}");
    assert!(!found.contains("lost:"), "the others have all of it: {found}");
    bed().exec(NAMESPACE, name, &["nodetool", "repair", "--full", KEYSPACE]).expect("repaired");
    ring.check_data().expect("all rows");
}
