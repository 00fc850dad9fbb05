//! A ring is made.

use crate::sim::World;
use crate::sim::manifests::two_racks;

#[test]
fn a_ring_of_two_racks_is_made() {
    let mut world = World::new().with(&two_racks());
    world.settle();
    world.expect_ring(3);
    insta::assert_snapshot!(world.story.join("\n"));
}
