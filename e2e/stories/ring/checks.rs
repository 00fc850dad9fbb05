//! The checks themselves, seen to fail where a count at QUORUM would not.

use std::thread::sleep;
use std::time::Duration;

use palladion_e2e::checked::{KEYSPACE, Writes};
use palladion_e2e::{Ring, bed, wait_for};

use super::{NAMESPACE, SOON};

/// Long enough that the one that is away misses some rows.
const WRITTEN_FOR: Duration = Duration::from_secs(5);

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

/// The others took writes without it and keep no hints: it is up, NORMAL and behind.
pub(super) fn a_replica_that_is_behind(ring: &Ring<'_>) {
    let names = ring.member_names().expect("names");
    let (others, late) = (&names[..2], &names[2]);
    let nodetool = |member: &str, verb: &str| {
        bed()
            .exec(NAMESPACE, member, &["nodetool", verb])
            .unwrap_or_else(|e| panic!("{verb}: {e:#}"))
    };
    others.iter().for_each(|member| drop(nodetool(member, "disablehandoff")));
    nodetool(late, "disablegossip");
    wait_for("the others to see it down", SOON, || {
        Ok(others.iter().all(|member| nodetool(member, "status").contains("DN ")).then_some(()))
    })
    .expect("it is out of gossip");
    let writing = ring.writing(Writes::Rows).expect("writing");
    sleep(WRITTEN_FOR);
    let tally = writing.stop().expect("written");
    println!("written without one of three: {tally:?}");
    nodetool(late, "enablegossip");
    others.iter().for_each(|member| drop(nodetool(member, "enablehandoff")));
    ring.wait_well().expect("for Kubernetes and the members all is well");
    let found = ring.check_data().expect_err("a replica is behind").to_string();
    println!("found, as it should be: {found}");
    assert!(found.contains("replica incomplete"), "{found}");
    assert!(!found.contains("lost:"), "the others have all of it: {found}");
    nodetool(late, "repair");
    ring.check_data().expect("all rows");
}
