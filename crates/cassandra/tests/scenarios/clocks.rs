//! Clocks of machines that differ from the operator's: whoever is behind or
//! ahead makes nobody write in a storm.

use crate::nodes::spread;
use crate::sim::World;
use crate::sim::manifests::a_cluster;
use crate::sim::ring::Phase;
use jiff::SignedDuration;

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
