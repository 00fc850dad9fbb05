//! Long histories of many disturbances, by seed. A seed that fails is a
//! history that can be played again: `PALLADION_SIM_SEED=17 cargo test -p
//! palladion-cassandra --test scenarios chaos -- --nocapture`.

use crate::every::a_ring;
use crate::sim::World;
use crate::sim::manifests::a_cluster;
use palladion_cassandra::resources as kinds;
use palladion_plan::Mind;
use palladion_plan::sim::kubernetes::Machine;
use palladion_plan::sim::{Fault, Feed, Random};
use serde_json::json;

/// Histories in the landing tests.
const HISTORIES: u64 = 4;
/// Disturbances of each.
const DISTURBANCES: usize = 8;
/// How many histories to run instead.
const COUNT: &str = "PALLADION_SIM_HISTORIES";
/// One seed, to look at it.
const SEED: &str = "PALLADION_SIM_SEED";

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|v| v.parse().expect("a number"))
}

#[test]
fn whatever_happens_the_ring_is_as_wanted_in_the_end() {
    let ring = a_ring(2, 1);
    let seeds: Vec<u64> = match number(SEED) {
        Some(seed) => vec![seed],
        None => (1..=number(COUNT).unwrap_or(HISTORIES)).collect(),
    };
    let mut failures = Vec::new();
    for seed in &seeds {
        let mut world = ring.clone().shuffled(*seed);
        let outcome = history(&mut world, *seed);
        if number(SEED).is_some() {
            println!("{}", world.story.join("\n"));
        }
        if let Err(why) = outcome {
            println!("seed {seed}: {why}");
            failures.push(format!("seed {seed}: {why}\n{}", world.story.join("\n")));
        }
    }
    println!(
        "histories of {DISTURBANCES} disturbances: {} of {}",
        seeds.len() - failures.len(),
        seeds.len()
    );
    assert!(
        failures.is_empty(),
        "{} of {}; the first:\n{}",
        failures.len(),
        seeds.len(),
        failures[0]
    );
}

fn history(world: &mut World, seed: u64) -> Result<(), String> {
    let mut random = Random::new(seed.wrapping_mul(0x5851_F42D_4C95_7F2D));
    let mut wanted = (2, 1);
    for _ in 0..DISTURBANCES {
        disturb(world, &mut random, &mut wanted)?;
        let seconds = random.within(0..=40);
        world.try_pass(seconds)?;
    }
    world.heal();
    world.try_settle()?;
    let full = wanted.0 + wanted.1;
    let normal = world.normal();
    if (normal, world.ring.full_members()) != (full, full) {
        return Err(format!(
            "{normal} servers are NORMAL and {} are members, {full} are wanted; {}",
            world.ring.full_members(),
            world.waits()
        ));
    }
    let end = world.end();
    if end.conditions["Progressing"] != "False UpToDate"
        || end.conditions["Degraded"] != "False UpToDate"
    {
        return Err(format!("it rests at {:?}; {}", end.conditions, world.waits()));
    }
    Ok(())
}

fn disturb(
    world: &mut World,
    random: &mut Random,
    wanted: &mut (usize, usize),
) -> Result<(), String> {
    match random.within(0..=11) {
        0 | 1 => {
            let faults = [Fault::DieBefore, Fault::DieAfter, Fault::AnswerLost, Fault::Unavailable];
            let fault = faults[pick(random, 4)];
            let at = world.faults.writes() + pick(random, 6);
            world.tell(&format!("{fault:?} is planned at write {at}"));
            world.faults.plan(at, fault);
        }
        2 | 3 => {
            let watches = palladion_cassandra::CassandraMind::default().watches();
            let resource = watches[pick(random, watches.len())].resource;
            let feed = if random.once_in(4) { Feed::Cut } else { Feed::Stale };
            world.set_feed(resource, feed);
            world.try_pass(random.within(1..=60))?;
            world.set_feed(resource, Feed::Live);
        }
        4 => {
            world.power_cut();
            world.try_pass(random.within(0..=30))?;
            world.api_returns();
        }
        5 => {
            let pods = world.names(kinds::POD);
            if !pods.is_empty() {
                world.delete(kinds::POD, &pods[pick(random, pods.len())]);
            }
        }
        6 => {
            let node = ["n1", "n2", "n3"][pick(random, 3)];
            world.set_machine(node, Machine::Down);
            world.try_pass(random.within(1..=60))?;
            world.set_machine(node, Machine::Up);
        }
        7 | 8 => {
            *wanted = ([2, 3][pick(random, 2)], [1, 2][pick(random, 2)]);
            let count = |n: usize| i32::try_from(n).expect("a small number");
            world.set_racks(&a_cluster(&[("a", count(wanted.0)), ("b", count(wanted.1))]));
        }
        9 => {
            let reads = random.within(1..=4);
            world.patch_spec(&json!({ "config": { "concurrent_reads": reads } }));
        }
        10 => world.erase_status(),
        _ => {
            let members = world.names(kinds::MEMBER);
            if !members.is_empty() {
                world.delete(kinds::MEMBER, &members[pick(random, members.len())]);
            }
        }
    }
    Ok(())
}

fn pick(random: &mut Random, of: usize) -> usize {
    let last = i64::try_from(of).expect("a small number") - 1;
    usize::try_from(random.within(0..=last)).expect("not negative")
}

#[test]
fn the_same_seed_is_the_same_history() {
    let play = || {
        let mut world = World::new().with(&a_cluster(&[("a", 1), ("b", 1)])).shuffled(5);
        let _ = history(&mut world, 5);
        world.story
    };
    assert_eq!(play(), play());
}
