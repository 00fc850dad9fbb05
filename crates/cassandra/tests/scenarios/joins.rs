//! What a member lacks that has joined, and how anybody knows.

use crate::every::a_ring;
use crate::sim::World;
use crate::sim::manifests::a_cluster;

const JOINER: &str = "demo-dc1-a-2";

/// Repairs of the joiner that were begun, but for those of the system keyspaces.
fn repairs(world: &World) -> usize {
    world.begun_by(JOINER).iter().filter(|id| id.starts_with("pay-repair")).count()
}

fn grows(deaf: &[&str]) -> World {
    let mut world = a_ring(2, 1);
    world.ring.deaf = deaf.iter().map(|name| name.to_string()).collect();
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    world.until(|w| w.normal() == 4);
    world.ring.deaf.clear();
    world.settle();
    world.expect_ring(4);
    world
}

/// What the other coordinated meanwhile went to the old owners alone.
#[test]
fn a_joiner_of_which_one_member_has_not_heard_is_repaired() {
    let world = grows(&["demo-dc1-b-0"]);
    assert_eq!(repairs(&world), 1, "{}", world.last_words());
}

/// A repair of all ranges takes hours in a large ring.
#[test]
fn a_joiner_of_which_all_have_heard_is_not_repaired() {
    let world = grows(&[]);
    assert_eq!(repairs(&world), 0, "{}", world.last_words());
}
