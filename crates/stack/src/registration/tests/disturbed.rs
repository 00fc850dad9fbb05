//! Everything at once, by chance: answers are lost, operators die, the service goes
//! away, pods come and go, and what registers them changes.

use super::world::{World, pod};
use super::{Lookup, Target};
use jiff::SignedDuration;
use palladion_api::registration::EntryState;
use palladion_plan::sim::Random;

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

fn disturb(world: &mut World, random: &mut Random) {
    match random.within(0..=11) {
        0 => world.lose = 1,
        1 => world.restart(),
        2 => world.target = Target::Nowhere,
        3 => world.target = Target::Away,
        4 | 5 => world.target = Target::Active,
        6 => {
            let name = NAMES[random.within(0..=5) as usize];
            match world.wanted.iter().position(|pod| pod.name == name) {
                Some(at) => drop(world.wanted.remove(at)),
                None => world.wanted.push(pod(name, "10.0.0.1")),
            }
        }
        7 => world.broken = vec![NAMES[random.within(0..=5) as usize].to_string()],
        8 => world.broken.clear(),
        9 => {
            let hash = Some(format!("h{}", random.within(0..=1)));
            world.wanted.iter_mut().for_each(|pod| pod.hash.clone_from(&hash));
        }
        10 => {
            // Done, and the operator that has sent it dies before it hears of it.
            world.silent = true;
            world.send_open();
            world.silent = false;
            world.restart();
        }
        _ => {}
    }
}

fn run(seed: u64, lookup: &Lookup) -> World {
    let mut random = Random::new(seed);
    let mut world = World::new(&[]);
    world.lookup = lookup.clone();
    world.brings_no_id = seed.is_multiple_of(2);
    world.resync = Some(SignedDuration::from_secs(100));
    for _ in 0..400 {
        disturb(&mut world, &mut random);
        world.now += SignedDuration::from_secs(random.within(0..=19));
        world.decide();
        if *lookup != Lookup::Impossible {
            assert_eq!(world.doubles(), [] as [&str; 0], "seed {seed}");
        }
    }
    (world.target, world.lose) = (Target::Active, 0);
    world.broken.clear();
    world.pass(200);
    world
}

#[test]
fn in_the_end_all_are_registered_that_should_be_and_no_others() {
    let asks = Lookup::Possible(Default::default());
    let brings = Lookup::Possible(["id".to_string()].into());
    for seed in 0..200 {
        for lookup in [&asks, &brings, &Lookup::Impossible] {
            let world = run(seed, lookup);
            let mut wanted: Vec<&str> = world.wanted.iter().map(|pod| pod.name.as_str()).collect();
            wanted.sort_unstable();
            assert_eq!(world.names(), wanted, "seed {seed}, {lookup:?}");
            let states = world.states();
            assert!(states.iter().all(|(_, s)| *s == EntryState::Registered), "{states:?}");
            assert!(world.entries.iter().all(|entry| entry.call.is_none()), "seed {seed}");
        }
    }
}

#[test]
fn such_a_run_does_see_doubles_where_nobody_can_be_asked() {
    let seen = (0..50).any(|seed| !run(seed, &Lookup::Impossible).doubles().is_empty());
    assert!(seen, "the test would not see what it is for");
}
