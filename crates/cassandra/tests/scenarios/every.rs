//! One fault at every write of a history, each in a world of its own.

use crate::sim::compare::Allowed;
use crate::sim::manifests::{a_cluster, two_racks};
use crate::sim::world::Tick;
use crate::sim::{End, World};
use palladion_plan::sim::Fault;
use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock};

/// More histories than the landing tests have time for: every one instead of
/// a spread of them.
const ALL: &str = "PALLADION_SIM_ALL";

/// A ring at rest that holds rows, racks `a` and `b`. Each is made once.
pub fn a_ring(a: i32, b: i32) -> World {
    static MADE: Mutex<BTreeMap<(i32, i32), World>> = Mutex::new(BTreeMap::new());
    let known = MADE.lock().expect("no test should die here").get(&(a, b)).cloned();
    if let Some(world) = known {
        return world;
    }
    let mut world = World::new().with(&a_cluster(&[("a", a), ("b", b)]));
    world.settle();
    assert_eq!(world.write(20), 20);
    world.story.clear();
    world.destructive.clear();
    world.writes.clear();
    MADE.lock().expect("no test should die here").insert((a, b), world.clone());
    world
}

/// The worlds right before each write of the creation of two racks, and its end.
pub fn creation() -> (Vec<World>, World) {
    static MADE: OnceLock<(Vec<World>, World)> = OnceLock::new();
    MADE.get_or_init(|| before_each_write(World::new().with(&two_racks()))).clone()
}

/// The worlds right before each write of a history, and the world at its end.
pub fn before_each_write(mut world: World) -> (Vec<World>, World) {
    let mut worlds = Vec::new();
    loop {
        let before = world.clone();
        let tick = world.tick().unwrap_or_else(|why| panic!("{why}\n{}", world.last_words()));
        if world.faults.writes() > before.faults.writes() {
            worlds.push(before);
        }
        if tick == Tick::Rest {
            return (worlds, world);
        }
    }
}

/// Landing takes every eighth one of the spread that a test names: beside the stories on
/// testbeds there is no time for more.
const OF_THE_SPREAD: usize = 8;

/// Take a spread of them, all if wished.
pub fn some<T>(worlds: Vec<T>, one_in: usize, from: usize) -> Vec<T> {
    if std::env::var_os(ALL).is_some() {
        return worlds;
    }
    // A short history is tried at least once.
    let one_in = (one_in * OF_THE_SPREAD).min(worlds.len().max(1));
    worlds.into_iter().skip(from % one_in).step_by(one_in).collect()
}

/// Disturb each world and let it settle; count how many end as they should.
pub fn all_end_alike(
    what: &str,
    worlds: Vec<World>,
    expected: &End,
    disturb: impl Fn(&mut World),
    compare: impl Fn(&mut World, &End) -> Result<(), String>,
) {
    let total = worlds.len();
    assert!(total > 0, "{what}: there is nothing to disturb");
    let mut failures = Vec::new();
    for mut world in worlds {
        let write = world.faults.writes();
        disturb(&mut world);
        let outcome = world.try_settle().and_then(|()| compare(&mut world, expected));
        if let Err(why) = outcome {
            failures.push(format!("at write {write}: {why}\n{}", world.last_words()));
        }
    }
    println!("{what}: {} of {total}", total - failures.len());
    assert!(
        failures.is_empty(),
        "{what}: {} of {total} ended otherwise; the first:\n{}",
        failures.len(),
        failures[0]
    );
}

/// The same end, the same objects and the same destructive steps, each for the
/// same reason.
pub fn same_end(world: &mut World, expected: &End) -> Result<(), String> {
    world.end().is_like(expected, &[])
}

/// The same, but for what the disturbance itself brings with it.
pub fn same_but(allowed: &[Allowed]) -> impl Fn(&mut World, &End) -> Result<(), String> {
    move |world: &mut World, expected: &End| world.end().is_like(expected, allowed)
}

/// A write that was ready is sent when its sender is no leader any more.
pub fn in_flight(world: &mut World) {
    world.faults.plan(world.faults.writes(), Fault::FreezeInFlight);
    world.until(|w| w.faults.is_over());
    world.tell("the leader is frozen with a write in its hands");
    world.start_operator();
    world.pass(40);
    world.wake_and_end_the_old_leader();
}

/// The operator dies, or an answer is lost, at every write; and the end
/// of the undisturbed history.
pub fn killed_at_every_write(what: &str, world: World, one_in: usize) -> World {
    let (worlds, end) = before_each_write(world);
    let expected = end.end();
    let faults = [Fault::DieAfter, Fault::AnswerLost, Fault::DieBefore];
    let worlds = some(worlds, one_in, 0);
    let disturb = |world: &mut World| {
        let writes = world.faults.writes();
        world.faults.plan(writes, faults[writes / one_in % faults.len()]);
    };
    all_end_alike(what, worlds, &expected, disturb, same_end);
    end
}
