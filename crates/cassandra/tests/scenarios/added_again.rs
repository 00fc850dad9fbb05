//! A datacenter that was added to a ring, when what its members were rebuilt from is not what is
//! there now: a keyspace went and came again.

use crate::added::{MEMBER, OTHER, to_add};
use crate::sim::World;
use crate::sim::far::{HERE, SYSTEM};
use palladion_api::labels;
use palladion_cassandra::resources as kinds;

/// A datacenter of two members that takes clients, and is named by these.
fn opened() -> World {
    let mut world = to_add();
    world.settle();
    for keyspace in SYSTEM.into_iter().chain(["shop"]) {
        world.ring.alter(keyspace, HERE, 2);
    }
    world.settle();
    assert_eq!(lacked(&world), Vec::<String>::new(), "{}", world.last_words());
    world
}

/// What the servers here do not have, although it names them.
fn lacked(world: &World) -> Vec<String> {
    let servers = world.ring.servers.values();
    let mut all: Vec<String> =
        servers.flat_map(|s| world.ring.lacked_on(&s.disk, &world.kube.disks)).collect();
    all.sort();
    all.dedup();
    all
}

/// Clients have written elsewhere meanwhile.
#[test]
fn copies_that_went_and_came_again_are_rebuilt() {
    let mut world = opened();
    world.ring.alter("shop", HERE, 0);
    world.pass(600);
    world.ring.alter("shop", HERE, 2);
    world.settle();
    assert_eq!(lacked(&world), Vec::<String>::new(), "{}", world.last_words());
}

/// It is another keyspace, of the same name.
#[test]
fn a_keyspace_that_was_dropped_and_created_is_rebuilt() {
    let mut world = opened();
    world.ring.drop_keyspace("shop");
    world.pass(600);
    world.ring.alter("shop", crate::sim::far::THERE, 2);
    world.pass(600);
    world.ring.alter("shop", HERE, 2);
    world.settle();
    assert_eq!(lacked(&world), Vec::<String>::new(), "{}", world.last_words());
}

/// A newcomer has no more than those that it streams from.
#[test]
fn a_newcomer_of_such_a_datacenter_takes_no_clients_without_the_rows() {
    let mut world = opened();
    world.ring.hanging.extend([MEMBER.to_string(), OTHER.to_string()]);
    world.ring.alter("shop", HERE, 0);
    world.pass(600);
    world.ring.alter("shop", HERE, 2);
    world.pass(600);
    world.ring.hanging.clear();
    world.delete(kinds::POD, OTHER);
    world.wipe_volume(OTHER);
    world.label(kinds::MEMBER, OTHER, labels::REPLACE);
    world.settle();
    assert_eq!(lacked(&world), Vec::<String>::new(), "{}", world.last_words());
}
