//! The operator is killed again and again while a ring is being made: the same
//! ring comes out.

use std::time::Duration;

use palladion_e2e::bed::OPERATOR_NAMESPACE;
use palladion_e2e::{Bed, Ring, ring};

const NAMESPACE: &str = "underfire";
/// The issue asks for at least 20.
const KILLS: usize = 20;

/// Uneven pauses, so that the kills meet every phase; the same in every run.
fn pause(kill: usize) -> Duration {
    Duration::from_millis(400 + (kill * 677 % 2300) as u64)
}

#[test]
fn an_operator_killed_twenty_times_makes_the_same_ring() {
    let bed = Bed::attach();
    bed.fresh_namespace(NAMESPACE).expect("namespace");
    bed.apply(NAMESPACE, &ring::manifest(NAMESPACE, &[("a", 2), ("b", 1)])).expect("apply");
    let ring = Ring { bed: &bed, namespace: NAMESPACE.into(), name: NAMESPACE.into() };
    let mut killed = 0;
    let mut during_creation = 0;
    while killed < KILLS {
        std::thread::sleep(pause(killed));
        let complete = ring.cluster().is_ok_and(|c| c["status"]["members"] == "3/3");
        let words = format!(
            "delete pods -n {OPERATOR_NAMESPACE} -l app.kubernetes.io/name=palladion-operator --grace-period=0 --force --wait=false"
        );
        bed.kubectl(&words).expect("kill");
        killed += 1;
        during_creation += usize::from(!complete);
    }
    println!("{killed} kills, {during_creation} of them before the ring was complete");
    ring.wait_ready(3).expect("the ring forms");
    ring.wait_settled().expect("and settles");
    let members = ring.members().expect("members");
    let mut ids: Vec<_> = members.iter().map(|m| m["status"]["hostID"].to_string()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 3, "three members with a host ID each: {ids:?}");
    ring.wait_alike(3).expect("every member sees the same ring of three");
    let founders = members
        .iter()
        .filter(|m| {
            m["status"]["startHistory"]
                .as_array()
                .into_iter()
                .flatten()
                .any(|s| s["cause"] == "Found")
        })
        .count();
    assert_eq!(founders, 1, "one member founded the ring, once");
    bed.remove_namespace(NAMESPACE).expect("clean up");
}
