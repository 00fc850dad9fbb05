//! One fault at every write of a history, each in a world of its own: the end is the same.

use super::world::{World, cluster_key};
use palladion_plan::sim::Fault;
use serde_json::json;

/// More histories than the landing tests have time for: every one instead of a spread.
const ALL: &str = "PALLADION_SIM_ALL";

/// The worlds right before each write of a history, and the world at its end.
pub(super) fn before_each_write(mut world: World) -> (Vec<World>, World) {
    let mut worlds = Vec::new();
    loop {
        let before = world.clone();
        let goes_on = world.tick().unwrap_or_else(|why| panic!("{why}\n{}", world.last_words()));
        if world.faults.writes() > before.faults.writes() {
            worlds.push(before);
        }
        if !goes_on {
            return (worlds, world);
        }
    }
}

/// What counts of an end: who is in the cluster, on which volumes, where the replicas are,
/// and what the status says of it.
fn end(world: &World) -> (Vec<i32>, serde_json::Value, String) {
    let progressing = world.condition("Progressing");
    (world.replicas("orders"), world.status()["cluster"].clone(), progressing)
}

/// The operator dies, or an answer is lost, at every write.
fn disturbed(what: &str, world: World, nodes: i64, one_in: usize) {
    let (worlds, calm) = before_each_write(world);
    let wanted = end(&calm);
    assert!(worlds.len() > 3, "{what} writes only {} times", worlds.len());
    let faults = [Fault::DieAfter, Fault::AnswerLost, Fault::DieBefore, Fault::Unavailable];
    let one_in = if std::env::var_os(ALL).is_some() { 1 } else { one_in };
    let mut tried = 0;
    for (index, mut world) in worlds.into_iter().enumerate().filter(|(i, _)| i % one_in == 0) {
        let fault = faults[index / one_in % faults.len()];
        world.faults.plan(world.faults.writes(), fault);
        if let Err(why) = world.try_settle() {
            panic!("{what}, {fault:?} at write {index}: {why}\n{}", world.last_words());
        }
        assert!(world.faults.is_over(), "{what}: {fault:?} at write {index} did not happen");
        world.expect(nodes);
        assert_eq!(
            end(&world),
            wanted,
            "{what}: {fault:?} at write {index}\n{}",
            world.last_words()
        );
        tried += 1;
    }
    println!("{what}: {tried} histories");
}

#[test]
fn a_creation() {
    disturbed("the creation of three", World::new().with(3), 3, 3);
}

#[test]
fn a_growth() {
    let mut world = World::settled(1);
    world.patch_spec(&json!({ "nodes": 3 }));
    disturbed("growth to three", world, 3, 2);
}

#[test]
fn a_shrinking() {
    let mut world = World::settled(3);
    world.patch_spec(&json!({ "nodes": 1 }));
    disturbed("shrinking to one", world, 1, 2);
}

#[test]
fn a_replacement() {
    let mut world = World::settled(3);
    world.wipe(1);
    disturbed("a replacement", world, 3, 2);
}

#[test]
fn a_rollout() {
    let mut world = World::settled(3);
    world.patch_spec(&json!({ "config": { "net_ticktime": "30" } }));
    disturbed("a rollout", world, 3, 2);
}

/// The status of the cluster is erased, and with it turn and initialization.
fn erased(what: &str, world: World, nodes: i64, one_in: usize) {
    let (worlds, _) = before_each_write(world);
    for (index, mut world) in worlds.into_iter().enumerate().filter(|(i, _)| i % one_in == 0) {
        world.tell("somebody erases the status");
        world.store.put_status(&cluster_key(), json!({})).unwrap();
        if let Err(why) = world.try_settle() {
            panic!("{what} at write {index}: {why}\n{}", world.last_words());
        }
        world.expect(nodes);
        assert_eq!(world.rabbit.begun, 1, "{what} at write {index}\n{}", world.last_words());
    }
}

#[test]
fn the_status_may_be_erased_at_any_write() {
    erased("the creation of three", World::new().with(3), 3, 4);
    let mut world = World::settled(1);
    world.patch_spec(&json!({ "nodes": 3 }));
    erased("growth to three", world, 3, 4);
    let mut world = World::settled(3);
    world.patch_spec(&json!({ "nodes": 1 }));
    erased("shrinking to one", world, 1, 4);
    let mut world = World::settled(3);
    world.wipe(1);
    erased("a replacement", world, 3, 4);
}

/// A write that was ready is sent when its sender is no leader any more.
#[test]
fn a_leader_that_was_frozen_with_a_write_in_its_hands_does_no_harm() {
    let mut world = World::settled(1);
    world.patch_spec(&json!({ "nodes": 3 }));
    let (worlds, _) = before_each_write(world);
    for mut world in worlds.into_iter().step_by(3) {
        world.faults.plan(world.faults.writes(), Fault::FreezeInFlight);
        world.until(|w| w.faults.is_over());
        world.start_operator();
        world.pass(40);
        world.operators[0].thaw();
        while world.operators[0].is_busy() {
            let _ = world.operators[0].step(&mut world.store, &mut world.faults);
        }
        world.operators.remove(0);
        world.settle();
        world.expect(3);
    }
}
