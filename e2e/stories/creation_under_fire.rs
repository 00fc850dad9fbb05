//! The operator is killed again and again while a ring is being made: the same
//! ring comes out.

use std::time::Duration;

use palladion_e2e::fields::CAUSE_INITIALIZE;
use palladion_e2e::story::Story;
use palladion_e2e::{Ring, a_ring, bed};

const NAMESPACE: &str = "underfire";
/// The issue asks for at least 20.
const KILLS: usize = 20;

pub fn story() -> Story {
    Story::named("creation-under-fire")
        .step("an operator killed twenty times creates the same ring", killed_twenty_times)
        .in_soak()
        .into()
}

/// Uneven pauses, so that the kills meet every phase; the same in every run.
fn pause(kill: usize) -> Duration {
    Duration::from_millis(400 + (kill * 677 % 2300) as u64)
}

fn killed_twenty_times() {
    let bed = bed();
    bed.fresh_namespace(NAMESPACE).expect("namespace");
    bed.apply(NAMESPACE, &a_ring().racks(&[("a", 2), ("b", 1)]).manifest(NAMESPACE))
        .expect("apply");
    let ring = Ring::at(bed, NAMESPACE);
    let mut killed = 0;
    let mut during_creation = 0;
    while killed < KILLS {
        std::thread::sleep(pause(killed));
        let complete = ring.cluster().is_ok_and(|c| c["status"]["members"] == "3/3");
        bed.kill_operator().expect("kill");
        killed += 1;
        during_creation += usize::from(!complete);
    }
    println!("{killed} kills, {during_creation} of them before the ring was complete");
    assert!(during_creation * 2 >= KILLS, "most kills should meet the creation");
    ring.wait_ready(3).expect("the ring forms");
    ring.wait_settled().expect("and settles");
    let members = ring.members().expect("members");
    let mut ids: Vec<_> = members.iter().map(|m| m["status"]["hostID"].to_string()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 3, "three members with a host ID each: {ids:?}");
    ring.wait_alike(3).expect("every member sees the same ring of three");
    let initializers = members
        .iter()
        .filter(|m| {
            m["status"]["startHistory"]
                .as_array()
                .into_iter()
                .flatten()
                .any(|s| s["cause"] == CAUSE_INITIALIZE)
        })
        .count();
    assert_eq!(initializers, 1, "one member initialized the ring, once");
    bed.remove_namespace(NAMESPACE).expect("clean up");
}
