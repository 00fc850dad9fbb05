//! A ring that begins with a backup and goes on to a point in time: what was archived since then is
//! replayed by servers that are started for it, before anybody is let in.

use crate::every::{all_end_alike, before_each_write, in_flight, some};
use crate::restores::{expect_said, patch, phase};
use crate::sim::World;
use crate::sim::compare::End;
use crate::sim::restores::TABLE;
use crate::whole_ring::{
    amiss, ask, closed, is_restored, of_cluster, starts, stays_closed, waiting,
};
use jiff::{SignedDuration, Timestamp};
use palladion_api::ids::HostId;
use palladion_api::reasons::Reason;
use palladion_api::restore::RestorePhase;
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::Fault;
use serde_json::json;

/// After the backup, in seconds.
const LATER: i64 = 60;

fn later(world: &World, seconds: i64) -> Timestamp {
    let taken = world.ring.store.taken.expect("a backup");
    taken + SignedDuration::from_secs(seconds)
}

/// A ring that waits for its restore, and a backup that was taken two minutes ago.
fn with_a_backup() -> World {
    let mut world = waiting(&[("a", 2), ("b", 1)]);
    // Whole seconds, as a restore names them.
    let taken = Timestamp::from_second(world.now().as_second()).expect("a time");
    world.ring.store.taken = Some(taken);
    world.pass(120);
    world
}

fn begun() -> World {
    let mut world = with_a_backup();
    let to = later(&world, LATER);
    ask(&mut world, &json!({ "pointInTime": to.to_string() }));
    world
}

fn replaying() -> World {
    let mut world = begun();
    let is_replaying = |w: &World| phase(w, "back") == Some(RestorePhase::Replaying);
    assert!(world.comes_to(is_replaying), "{}", world.last_words());
    world
}

/// Why not all of the commit logs are replayed up to the time.
fn behind(world: &World) -> Option<String> {
    let to = later(world, LATER).as_second();
    let table = world.ring.tables.get(TABLE)?;
    let is_there = table.replayed.len() == 3 && table.replayed.values().all(|at| *at == to);
    (!is_there).then(|| format!("{table:?}"))
}

#[track_caller]
fn is_rewound(world: &World) {
    is_restored(world);
    assert_eq!(behind(world), None);
}

#[test]
fn a_ring_goes_on_to_a_point_in_time_before_anybody_is_let_in() {
    let mut world = replaying();
    expect_said(&world, "back", Reason::RestoreReplaying, "0 of 3 done");
    assert_eq!(closed(&world), 3);
    world.settle();
    is_rewound(&world);
    let to = later(&world, LATER).to_string();
    expect_said(&world, "back", Reason::RestoreComplete, &format!("restored to {to}"));
    assert_eq!(starts(&world), 9, "each starts once more, to replay");
    assert!(world.ring.servers.values().all(|server| server.rewound.is_none()));
    assert_eq!(world.write(20), 20);
}

#[test]
fn a_time_that_is_not_archived_for_every_member_starts_nobody() {
    let mut world = with_a_backup();
    let until = later(&world, LATER - 1);
    world.ring.store.archived.insert(HostId::new("host-902"), until);
    let to = later(&world, LATER);
    ask(&mut world, &json!({ "pointInTime": to.to_string() }));
    world.settle();
    assert_eq!((phase(&world, "back"), starts(&world)), (Some(RestorePhase::Failed), 0));
    expect_said(&world, "back", Reason::PointNotCovered, "1 of the 3 members");
    let why = format!("member host-902: its archive ends at {until}");
    expect_said(&world, "back", Reason::PointNotCovered, &why);
    assert!(of_cluster(&world)["status"]["restore"].is_null());
    // To the time that it names it is restored.
    world.delete(kinds::RESTORE, "back");
    world.settle();
    ask(&mut world, &json!({ "pointInTime": until.to_string() }));
    world.settle();
    is_restored(&world);
}

#[test]
fn a_time_before_the_end_of_the_backup_or_in_the_future_starts_nobody() {
    for (seconds, why) in [(0, "not behind the backup"), (86_400, "in the future")] {
        let mut world = with_a_backup();
        let to = later(&world, seconds);
        ask(&mut world, &json!({ "pointInTime": to.to_string() }));
        world.settle();
        assert_eq!((phase(&world, "back"), starts(&world)), (Some(RestorePhase::Failed), 0));
        expect_said(&world, "back", Reason::PointNotCovered, why);
    }
}

#[test]
fn older_agents_are_waited_for_before_anybody_starts() {
    let mut world = with_a_backup();
    world.set_protocol(11);
    world.pass(30);
    let to = later(&world, LATER);
    ask(&mut world, &json!({ "pointInTime": to.to_string() }));
    world.pass(120);
    expect_said(&world, "back", Reason::AgentTooOld, "roll out a newer agent");
    assert_eq!(starts(&world), 0);
}

/// A server that comes back by itself is a plain one, and is started once more for the replay.
#[test]
fn servers_and_pods_that_end_meanwhile_come_back_and_replay() {
    for what in 0..2 {
        for after in [1, 20, 60] {
            let mut world = replaying();
            world.pass(after);
            match what {
                0 => {
                    for member in ["demo-dc1-a-0", "demo-dc1-b-0"] {
                        world.kill_server(member);
                    }
                }
                _ => world.delete_all_pods(),
            }
            world.settle();
            is_rewound(&world);
        }
    }
}

#[test]
fn one_that_is_taken_back_meanwhile_leaves_a_ring_that_takes_no_clients() {
    for deleted in [false, true] {
        let mut world = replaying();
        world.pass(5);
        match deleted {
            true => world.delete(kinds::RESTORE, "back"),
            false => patch(&mut world, "back", &json!({ "abort": true })),
        }
        world.settle();
        stays_closed(&world);
        if !deleted {
            assert_eq!(phase(&world, "back"), Some(RestorePhase::Aborted));
        }
    }
}

#[test]
fn a_volume_that_is_lost_meanwhile_ends_it() {
    let mut world = replaying();
    world.wipe_volume("demo-dc1-b-0");
    world.delete_all_pods();
    world.settle();
    assert_eq!(phase(&world, "back"), Some(RestorePhase::Failed), "{}", world.last_words());
    stays_closed(&world);
}

/// A store that is away is waited for, and the servers that were started for it stay so.
#[test]
fn a_store_that_is_away_is_waited_for() {
    let mut world = replaying();
    world.ring.store.is_away = true;
    world.pass(300);
    expect_said(&world, "back", Reason::StoreUnreachable, "does not answer");
    world.ring.store.is_away = false;
    world.settle();
    is_rewound(&world);
}

#[test]
fn a_leader_that_ends_or_wakes_up_late_at_any_write_changes_nothing() {
    let (worlds, end) = before_each_write(begun());
    is_rewound(&end);
    let expected = end.end();
    let whole = |world: &mut World, _: &End| match amiss(world).or_else(|| behind(world)) {
        None => Ok(()),
        Some(why) => Err(why),
    };
    for fault in [Fault::DieBefore, Fault::AnswerLost] {
        let disturb = |world: &mut World| world.faults.plan(world.faults.writes(), fault);
        all_end_alike("a leader ends", some(worlds.clone(), 6, 1), &expected, disturb, whole);
    }
    all_end_alike("a leader is frozen", some(worlds, 6, 2), &expected, in_flight, whole);
}
