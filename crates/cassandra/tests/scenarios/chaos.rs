//! Long histories of many disturbances, by seed: of processes, watches, machines,
//! volumes, networks, clocks, leaders, records, spec and tasks, while clients write through
//! whoever serves, at any level. With two copies of a row `QUORUM` asks both; with three, which
//! every other seed has, it shows what one of them lacks. Hours and days pass among the seconds:
//! hints and tombstones are not kept for ever. A seed that fails is a history that can be
//! played again: `PALLADION_SIM_SEED=17 cargo test -p
//! palladion-cassandra --test scenarios chaos -- --nocapture`.

use crate::jobs::task;
use crate::nodes::spread_with;
use crate::sim::World;
use crate::sim::manifests::a_cluster;
use crate::sim::ring::Phase;
use crate::sim::rows::Level;
use crate::sim::world::cluster_key;
use crate::tasks;
use crate::terminated::terminate;
use jiff::SignedDuration;
use palladion_api::labels;
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::kubernetes::Machine;
use palladion_plan::sim::{Fault, Feed, Random};
use palladion_plan::{Mind, ObjectKey};
use serde_json::json;

/// Histories in the landing tests, and where all are asked for.
const HISTORIES: (u64, u64) = (4, 150);
/// More histories than the landing tests have time for.
const ALL: &str = "PALLADION_SIM_ALL";
/// Disturbances of each.
const DISTURBANCES: usize = 10;
const ZONE: &str = "topology.kubernetes.io/zone";
/// Rows that clients write after each.
const ROWS: u32 = 3;
/// Rows that they delete after some.
const DELETED: u32 = 2;
const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;
/// One machine was down for so long; a ring that is stopped for days may have more.
const MOST_TOO_OLD: usize = 3;
/// How many histories to run instead.
const COUNT: &str = "PALLADION_SIM_HISTORIES";
/// One seed, to look at it.
const SEED: &str = "PALLADION_SIM_SEED";

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|v| v.parse().expect("a number"))
}

#[test]
fn whatever_happens_the_ring_is_as_wanted_in_the_end() {
    let rings = [a_ring(2), a_ring(3)];
    let histories = std::env::var_os(ALL).map_or(HISTORIES.0, |_| HISTORIES.1);
    let seeds: Vec<u64> = match number(SEED) {
        Some(seed) => vec![seed],
        None => (1..=number(COUNT).unwrap_or(histories)).collect(),
    };
    let mut failures = Vec::new();
    for seed in &seeds {
        let mut world = rings[usize::from(seed % 2 == 0)].clone().shuffled(*seed);
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

/// Three members and a keyspace with so many copies.
fn a_ring(copies: usize) -> World {
    let mut ring = World::new();
    ring.ring.copies = copies;
    let mut ring = spread_with(ring, 2, 1);
    // A lost machine is given up at once: the rest of the history is short.
    ring.patch_spec(&json!({ "nodeGoneGraceSeconds": 0 }));
    ring.settle();
    ring
}

/// What a history has come to.
struct Course {
    random: Random,
    /// Members that are wanted of rack a and of rack b.
    wanted: (usize, usize),
    loss: Loss,
    tasks: usize,
}

/// One loss is what a ring survives, until it is whole again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Loss {
    Nothing,
    Volume,
}

fn history(world: &mut World, seed: u64) -> Result<(), String> {
    let random = Random::new(seed.wrapping_mul(0x5851_F42D_4C95_7F2D));
    let mut course = Course { random, wanted: (2, 1), loss: Loss::Nothing, tasks: 0 };
    for _ in 0..DISTURBANCES {
        disturb(world, &mut course)?;
        clients_write(world, &mut course.random);
        let seconds = a_while(&mut course.random);
        world.try_pass(seconds)?;
    }
    world.heal();
    world.try_settle()?;
    who_is_too_old_is_replaced(world)?;
    let full = course.wanted.0 + course.wanted.1;
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

/// One of all that can happen.
fn disturb(world: &mut World, course: &mut Course) -> Result<(), String> {
    match course.random.within(0..=20) {
        0 | 1 => {
            let faults = [Fault::DieBefore, Fault::DieAfter, Fault::AnswerLost, Fault::Unavailable];
            let fault = faults[pick(&mut course.random, 4)];
            let at = world.faults.writes() + pick(&mut course.random, 6);
            world.tell(&format!("{fault:?} is planned at write {at}"));
            world.faults.plan(at, fault);
            Ok(())
        }
        2 | 3 => a_watch_lags(world, &mut course.random),
        4 => {
            world.power_cut();
            world.try_pass(course.random.within(0..=30))?;
            world.api_returns();
            Ok(())
        }
        5 => {
            let pods = world.names(kinds::POD);
            if !pods.is_empty() {
                world.delete(kinds::POD, &pods[pick(&mut course.random, pods.len())]);
            }
            Ok(())
        }
        6 => a_machine_is_down(world, course),
        7 | 8 => {
            course.wanted =
                ([2, 3][pick(&mut course.random, 2)], [1, 2][pick(&mut course.random, 2)]);
            let count = |n: usize| i32::try_from(n).expect("a small number");
            let (a, b) = course.wanted;
            world.set_racks(&a_cluster(&[("a", count(a)), ("b", count(b))]));
            Ok(())
        }
        9 => {
            let reads = course.random.within(1..=4);
            world.patch_spec(&json!({ "config": { "concurrent_reads": reads } }));
            Ok(())
        }
        10 => {
            world.erase_status();
            Ok(())
        }
        11 => {
            let members = world.names(kinds::MEMBER);
            if !members.is_empty() {
                world.delete(kinds::MEMBER, &members[pick(&mut course.random, members.len())]);
            }
            Ok(())
        }
        12 | 13 => a_network_is_cut(world, &mut course.random),
        14 => {
            a_clock_is_off(world, &mut course.random);
            Ok(())
        }
        15 | 16 => a_leader_is_frozen(world, &mut course.random),
        17 => {
            a_replacement(world, course);
            Ok(())
        }
        18 => {
            a_job(world, course);
            Ok(())
        }
        _ => {
            something_is_lost(world, course);
            Ok(())
        }
    }
}

fn a_watch_lags(world: &mut World, random: &mut Random) -> Result<(), String> {
    let watches = palladion_cassandra::CassandraMind::default().watches();
    let resource = watches[pick(random, watches.len())].resource;
    let feed = if random.once_in(4) { Feed::Cut } else { Feed::Stale };
    world.set_feed(resource, feed);
    world.try_pass(random.within(1..=60))?;
    world.set_feed(resource, Feed::Live);
    Ok(())
}

fn a_machine(world: &World, random: &mut Random) -> String {
    let machines: Vec<&String> = world.kube.machines.keys().collect();
    machines[pick(random, machines.len())].clone()
}

/// A member that has a server in the ring, if there is one.
fn a_full_member(world: &World, random: &mut Random) -> Option<String> {
    let servers = world.ring.servers.values();
    let full = servers.filter(|s| s.phase == Phase::Normal).map(|s| s.member.clone());
    let mut full: Vec<String> = full.collect();
    full.sort();
    (!full.is_empty()).then(|| full[pick(random, full.len())].clone())
}

fn a_network_is_cut(world: &mut World, random: &mut Random) -> Result<(), String> {
    let Some(member) = a_full_member(world, random) else {
        return Ok(());
    };
    world.cut_off(&member);
    world.try_pass(random.within(1..=90))?;
    clients_write(world, random);
    if random.once_in(6) {
        world.try_pass(random.within(1..=5) * HOUR)?;
        clients_write(world, random);
    }
    world.reconnect();
    Ok(())
}

/// Seldom for so long that nobody keeps hints any more, or even tombstones: then its member
/// will be replaced, which is a loss.
fn a_machine_is_down(world: &mut World, course: &mut Course) -> Result<(), String> {
    let node = a_machine(world, &mut course.random);
    world.set_machine(&node, Machine::Down);
    world.try_pass(course.random.within(1..=60))?;
    clients_write(world, &mut course.random);
    let seconds = match course.random.within(0..=11) {
        0 if can_lose(world, course) => {
            course.loss = Loss::Volume;
            12 * DAY
        }
        0..=3 => course.random.within(1..=5) * HOUR,
        _ => course.random.within(1..=60),
    };
    world.try_pass(seconds)?;
    clients_write(world, &mut course.random);
    world.set_machine(&node, Machine::Up);
    Ok(())
}

/// From one disturbance to the next: seconds, and now and then hours or days.
fn a_while(random: &mut Random) -> i64 {
    match random.within(0..=11) {
        0 => random.within(1..=5) * HOUR,
        1 => random.within(1..=11) * DAY,
        _ => random.within(0..=40),
    }
}

/// They write through somebody who serves, and delete some.
fn clients_write(world: &mut World, random: &mut Random) {
    let level = [Level::Quorum, Level::Quorum, Level::One, Level::All][pick(random, 4)];
    let through = a_full_member(world, random).unwrap_or_default();
    let done = world.write_at(ROWS, level, &through);
    world.tell(&format!("{done} of {ROWS} rows are written through {through} at {level:?}"));
    some_are_deleted(world, random);
}

/// A person has those replaced whose data is too old to start with, one after the other.
fn who_is_too_old_is_replaced(world: &mut World) -> Result<(), String> {
    for _ in 0..MOST_TOO_OLD {
        let is_too_old = |m: &serde_json::Value| m["status"]["server"]["reason"] == "DataTooOld";
        let members = world.store.list(kinds::MEMBER);
        let Some(member) =
            members.filter(|(_, m)| is_too_old(m)).map(|(key, _)| key.name.clone()).next()
        else {
            return Ok(());
        };
        world.give_up(&member);
        terminate(world, &member, "Now");
        world.try_pass(60)?;
        world.label(kinds::MEMBER, &member, labels::REPLACE);
        world.try_settle()?;
    }
    Ok(())
}

/// Is nothing lost yet, or is the ring whole again: are all up, and all repairs done?
fn can_lose(world: &World, course: &Course) -> bool {
    if course.loss == Loss::Nothing {
        return true;
    }
    let members: Vec<_> = world.store.list(kinds::MEMBER).map(|(_, m)| m).collect();
    let is_repaired = |m: &serde_json::Value| {
        let mut pending = m["spec"]["pendingMaintenance"].as_array().into_iter().flatten();
        m["spec"]["replace"].is_null() && !pending.any(|debt| debt["kind"] == "Repair")
    };
    let up = world.normal();
    up >= world.ring.copies
        && up == world.ring.full_members()
        && up == members.len()
        && members.iter().all(|m| is_repaired(m))
        && world.store.get(&cluster_key()).is_some_and(|c| c["status"]["turn"].is_null())
}

/// By less than what answers may be old.
fn a_clock_is_off(world: &mut World, random: &mut Random) {
    let off = SignedDuration::from_secs(random.within(-20..=20));
    match a_full_member(world, random) {
        Some(member) if random.once_in(2) => world.set_clock(&member, off),
        Some(_) | None => world.set_leaders_clock(-off.abs()),
    }
}

/// It is frozen with a write in its hands, and wakes when another one leads.
fn a_leader_is_frozen(world: &mut World, random: &mut Random) -> Result<(), String> {
    let at = world.faults.writes() + pick(random, 3);
    world.faults.plan(at, Fault::FreezeInFlight);
    world.tell(&format!("the leader will be frozen with write {at} in its hands"));
    for _ in 0..random.within(1..=30) {
        world.try_pass(1)?;
    }
    if world.faults.is_over() {
        world.start_operator();
        world.try_pass(random.within(0..=40))?;
        world.wake_and_end_the_old_leader();
    } else {
        world.faults.plan(usize::MAX, Fault::DieBefore);
    }
    Ok(())
}

/// What was deleted may not come back, whoever missed the deletion.
fn some_are_deleted(world: &mut World, random: &mut Random) {
    if random.once_in(3) {
        let rows = i64::from(world.ring.clients.rows) - 1;
        let some = (0..DELETED).map(|_| u32::try_from(random.within(0..=rows)).unwrap_or_default());
        world.delete_rows(some.collect::<Vec<_>>());
    }
}

/// All members are to do something, one after the other.
fn a_job(world: &mut World, course: &mut Course) {
    let kinds = ["restart", "cleanup", "repair", "upgradeSSTables"];
    let kind = kinds[pick(&mut course.random, kinds.len())];
    course.tasks += 1;
    tasks::ask(world, &format!("job-{}", course.tasks), &task(kind, &json!({})));
}

/// A member is to be replaced whether it lives or not; its data is given up.
fn a_replacement(world: &mut World, course: &mut Course) {
    let Some(member) = a_full_member(world, &mut course.random) else {
        return;
    };
    if can_lose(world, course) {
        course.loss = Loss::Volume;
        course.tasks += 1;
        world.give_up(&member);
        let name = format!("replace-{}", course.tasks);
        tasks::ask(world, &name, &tasks::replace(&member));
    }
}

/// The volume of a member, or its machine with all that is on it.
fn something_is_lost(world: &mut World, course: &mut Course) {
    let Some(member) = a_full_member(world, &mut course.random) else {
        return;
    };
    if !can_lose(world, course) {
        return;
    }
    course.loss = Loss::Volume;
    if course.random.once_in(2) {
        world.delete(kinds::POD, &member);
        world.wipe_volume(&member);
        return;
    }
    let node = world.node_of(&member);
    let there = world.store.list(kinds::POD).filter(|(_, pod)| pod["spec"]["nodeName"] == *node);
    if there.count() == 1 {
        let key = ObjectKey::new(kinds::NODE, "", &node);
        let zone = &world.store.get(&key).expect("its Node")["metadata"]["labels"][ZONE];
        let zone = zone.as_str().expect("it has a zone").to_string();
        world.lose_node(&node);
        // Another machine of that zone, for whoever may run nowhere else.
        world.register_node("n9", &zone);
    }
}

fn pick(random: &mut Random, of: usize) -> usize {
    let last = i64::try_from(of).expect("a small number") - 1;
    usize::try_from(random.within(0..=last)).expect("not negative")
}

#[test]
fn the_same_seed_is_the_same_history() {
    let play = || {
        let mut world = World::new().with(&a_cluster(&[("a", 1), ("b", 1)])).shuffled(5);
        // It begins before there is a ring, whose only member may be lost: how it ends is
        // compared with the rest.
        let end = history(&mut world, 5);
        (end, world.story)
    };
    assert_eq!(play(), play());
}
