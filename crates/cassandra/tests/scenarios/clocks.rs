//! Clocks of machines that differ from the operator's: whoever is behind or
//! ahead makes nobody write in a storm, and the status does not flap.

use crate::nodes::{LAST, spread};
use crate::sim::World;
use crate::sim::manifests::a_cluster;
use crate::sim::ring::Phase;
use jiff::SignedDuration;
use palladion_cassandra::resources as kinds;

const THIRD: &str = "demo-dc1-b-0";

/// Every five seconds a question to three members, their answers, and the turn.
const WRITES_IN_A_MINUTE: usize = 120;

/// It is asked again, and no more often than that.
fn is_asked_now_and_then(world: &mut World) {
    let before = world.writes.len();
    world.pass(60);
    let writes = world.writes.len() - before;
    assert!(writes > 10, "{writes} writes: it is not asked again\n{}", world.last_words());
    assert!(writes < WRITES_IN_A_MINUTE, "{writes} writes\n{}", world.last_words());
}

/// A member has left, and one with such a clock hears nothing of it.
fn one_dissents(ahead: SignedDuration) {
    let mut world = spread(3, 1);
    world.set_clock(THIRD, ahead);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    world.until(|w| w.ring.in_phase(&Phase::Leaving).is_some());
    world.until(|w| w.ring.in_phase(&Phase::Leaving).is_none());
    world.cut_off(THIRD);
    world.pass(60);
    is_asked_now_and_then(&mut world);
    world.reconnect();
    world.pass(600);
    world.expect_ring(3);
}

#[test]
fn one_that_dissents_is_not_asked_in_a_storm_where_its_clock_is_ahead() {
    one_dissents(SignedDuration::from_secs(6));
}

#[test]
fn one_that_dissents_is_not_asked_in_a_storm_where_its_clock_is_behind() {
    one_dissents(SignedDuration::from_mins(-1));
}

/// Is it said that members do not see each other?
fn disagrees(world: &World) -> bool {
    world.condition("Degraded").starts_with("True MembersDisagree")
}

#[test]
fn what_is_said_of_a_member_whose_clock_is_ahead_is_not_taken_back() {
    let mut world = spread(2, 1);
    world.set_clock(LAST, SignedDuration::from_mins(10));
    world.delete(kinds::POD, LAST);
    world.until(|w| w.normal() == 2);
    world.until(|w| w.normal() == 3);
    world.pass(10);
    world.cut_off(LAST);
    world.pass(120);
    assert!(disagrees(&world), "{}\n{}", world.condition("Degraded"), world.last_words());
    for second in 0..900 {
        if second % 10 == 0 {
            // It looks again whenever something changes.
            world.annotate_cluster("example.com/looked-at", &second.to_string());
        }
        world.pass(1);
        assert!(disagrees(&world), "{second}: {}", world.condition("Degraded"));
    }
    world.reconnect();
    world.pass(60);
    assert!(!disagrees(&world), "{}", world.last_words());
}
