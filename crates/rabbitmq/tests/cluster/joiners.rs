//! Joiners whose pods end while they join.

use super::acts::pod;
use super::model::data;
use super::world::World;
use palladion_api::member::PermitState;
use palladion_rabbitmq::resources as kinds;
use serde_json::json;

impl World {
    /// How many nodes there are, by the tables of the first that runs.
    fn cluster(&self) -> usize {
        self.rabbit.running().first().map_or(0, |p| data(&self.kube.disks, p).cluster.len())
    }
}

/// The first of two pauses while the second is away: nobody serves that could be asked. It
/// knows the second, whose own files do not say so yet and whose permit has failed.
#[test]
fn the_second_of_two_that_has_not_noted_its_join_goes_on_in_a_new_pod() {
    let mut world = World::settled(1);
    world.patch_spec(&json!({ "nodes": 3 }));
    world.until(|w| w.cluster() == 2);
    world.kill(1);
    let volume = &mut world.disk(1).content;
    volume.data.as_mut().unwrap().is_noted = false;
    volume.ledger.permit.as_mut().unwrap().state = PermitState::Failed;
    world.delete(kinds::POD, &pod(1));
    world.settle();
    assert_eq!(world.refused, Vec::<String>::new(), "{}", world.last_words());
    world.expect(3);
}
