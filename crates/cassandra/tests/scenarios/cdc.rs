//! Change data capture: a rollout, readers that lag behind, and members that leave before all is
//! read.

use crate::every::{a_ring, killed_at_every_write};
use crate::sim::World;
use crate::sim::cdc::Readers;
use crate::sim::manifests::a_cluster;
use crate::tasks::host_of;
use jiff::SignedDuration;
use palladion_api::labels;
use palladion_api::reasons::Reason;
use palladion_cassandra::resources as kinds;
use serde_json::{Value, json};

const LEAVER: &str = "demo-dc1-a-1";

fn on(on_full: &str) -> Value {
    json!({
        "cdc": { "mode": "On", "onFull": on_full },
        "sidecars": [{ "name": "reader", "image": "reader:1", "cdc": "ReadWrite" }],
    })
}

/// A ring whose members keep changes.
fn keeping(a: i32, b: i32, on_full: &str) -> World {
    let mut world = a_ring(a, b);
    world.patch_spec(&on(on_full));
    world.settle();
    world.story.clear();
    world.destructive.clear();
    world
}

fn pod(world: &World, member: &str) -> Option<Value> {
    let found = world.store.list(kinds::POD).find(|(key, _)| key.name == member);
    found.map(|(_, pod)| Value::clone(pod))
}

fn statuses(world: &World) -> Vec<Value> {
    world.store.list(kinds::MEMBER).map(|(_, member)| member["status"]["cdc"].clone()).collect()
}

/// So many segments of 32 MiB wait on the member, the oldest for so long.
fn wait(world: &mut World, member: &str, segments: u32, seconds: i64) {
    let since = world.now() - SignedDuration::from_secs(seconds);
    world.ring.segments.readers = Readers::Stopped;
    world.ring.segments.waiting.insert(member.into(), (segments, since));
}

#[test]
fn it_comes_by_a_rollout_and_goes_by_one() {
    let mut world = a_ring(2, 1);
    assert!(statuses(&world).iter().all(Value::is_null));
    world.patch_spec(&on("Block"));
    let mut end = killed_at_every_write("a ring begins to keep changes", world, 4);
    end.expect_ring(3);
    assert!(statuses(&end).iter().all(|cdc| cdc["state"] == "Current"), "{:?}", statuses(&end));
    let mount = |world: &World| {
        let pod = pod(world, LEAVER).expect("a pod");
        let mounts = pod["spec"]["containers"][1]["volumeMounts"].clone();
        let all: Vec<Value> = serde_json::from_value(mounts).unwrap_or_default();
        all.into_iter().find(|mount| mount["mountPath"] == "/cdc")
    };
    assert_eq!(mount(&end).expect("its directory")["subPath"], "cdc_raw");
    end.patch_spec(&json!({ "cdc": null, "sidecars": null }));
    end.settle();
    end.expect_ring(3);
    assert!(statuses(&end).iter().all(Value::is_null), "{:?}", statuses(&end));
    assert!(end.unready_at_stop.is_empty(), "{:?}", end.unready_at_stop);
}

#[test]
fn a_reader_that_lags_behind_is_named_with_its_figures() {
    let mut world = keeping(2, 1, "Block");
    let said = |world: &World, reason: Reason, words: &[&str]| {
        let told = world.condition("Degraded");
        let is_said = told.starts_with(&format!("True {}", reason.as_str()));
        assert!(is_said && words.iter().all(|word| told.contains(word)), "{told}");
    };
    wait(&mut world, LEAVER, 63, 60);
    world.pass(30);
    assert!(world.condition("Degraded").starts_with("False"), "{}", world.condition("Degraded"));
    wait(&mut world, LEAVER, 64, 60);
    world.pass(30);
    said(&world, Reason::CdcLagging, &[LEAVER, "64 segments", "2.0 GiB of 4.0 GiB", "sidecar"]);
    wait(&mut world, LEAVER, 123, 60);
    world.pass(30);
    said(&world, Reason::CdcFull, &[LEAVER, "refuses writes", "123 segments", "4.0 GiB"]);
    wait(&mut world, LEAVER, 2, 601);
    world.pass(30);
    said(&world, Reason::CdcLagging, &[LEAVER, "2 segments", "the oldest since"]);
    // Nobody is restarted for it, and nothing is written while it stays so.
    let writes = world.faults.writes();
    world.pass(30);
    assert_eq!(world.faults.writes(), writes, "{}", world.last_words());
    world.ring.segments.readers = Readers::Read;
    world.pass(60);
    assert!(world.condition("Degraded").starts_with("False"), "{}", world.condition("Degraded"));
    assert_eq!(world.destructive, Vec::<String>::new());
}

#[test]
fn where_the_oldest_are_deleted_it_says_so() {
    let mut world = keeping(2, 1, "DropOldest");
    wait(&mut world, LEAVER, 126, 60);
    world.pass(30);
    let told = world.condition("Degraded");
    assert!(told.contains("deletes changes that nobody has read"), "{told}");
}

/// The leaver has what was not read before it began.
fn leaving_unread() -> World {
    let mut world = keeping(2, 2, "Block");
    wait(&mut world, LEAVER, 70, 700);
    world.pass(30);
    world.set_racks(&a_cluster(&[("a", 1), ("b", 2)]));
    world.pass(600);
    world
}

#[test]
fn a_leave_does_not_begin_before_its_reader_keeps_up() {
    let mut world = leaving_unread();
    let host = host_of(&world, LEAVER);
    let waits = world.waits();
    let command = format!("{}={host}", labels::GIVE_UP_CHANGES);
    for word in [Reason::CdcUndelivered.as_str(), LEAVER, "70 segments", &command] {
        assert!(waits.contains(word), "{waits}");
    }
    assert_eq!(world.ring.full_members(), 4, "{}", world.last_words());
    // It holds up nothing else.
    let uid = |world: &World| pod(world, "demo-dc1-b-0").expect("a pod")["metadata"]["uid"].clone();
    let before = uid(&world);
    world.patch_spec(&json!({ "config": { "concurrent_reads": 64 } }));
    world.pass(3600);
    assert_ne!(uid(&world), before, "{}", world.last_words());
    world.ring.segments.readers = Readers::Read;
    world.settle();
    world.expect_ring(3);
    assert!(pod(&world, LEAVER).is_none());
}

#[test]
fn a_leave_that_a_person_lets_begin_unread_begins() {
    let mut world = leaving_unread();
    let host = host_of(&world, LEAVER);
    world.annotate_cluster(labels::GIVE_UP_CHANGES, "11111111-0000-0000-0000-000000000000");
    world.pass(600);
    assert_eq!(world.ring.full_members(), 4, "{}", world.last_words());
    world.annotate_cluster(labels::GIVE_UP_CHANGES, &format!("x, {host}"));
    world.settle();
    world.expect_ring(3);
    assert!(pod(&world, LEAVER).is_none(), "{}", world.last_words());
}

/// Of a member that leaves, what its server had open at its end.
fn leaving_with_open_segments(readers: Readers) -> World {
    let mut world = keeping(2, 2, "Block");
    world.ring.segments.open.insert(LEAVER.into(), 2);
    world.ring.segments.readers = readers;
    world.set_racks(&a_cluster(&[("a", 1), ("b", 2)]));
    world
}

#[test]
fn the_pod_of_a_member_that_has_left_stays_until_all_is_read() {
    let mut world = leaving_with_open_segments(Readers::Stopped);
    let before = pod(&world, LEAVER).expect("a pod")["metadata"]["uid"].clone();
    world.pass(7200);
    assert_eq!(world.ring.full_members(), 3, "{}", world.last_words());
    let waits = world.waits();
    for word in [Reason::CdcUndelivered.as_str(), LEAVER, "2 segments", "its pod stays"] {
        assert!(waits.contains(word), "{waits}");
    }
    assert_eq!(pod(&world, LEAVER).expect("its pod")["metadata"]["uid"], before);
    assert_eq!(world.destructive, Vec::<String>::new());
    world.ring.segments.readers = Readers::Read;
    world.settle();
    world.expect_ring(3);
    assert!(pod(&world, LEAVER).is_none(), "{}", world.last_words());
}

#[test]
fn a_member_that_has_left_goes_unread_if_a_person_says_so() {
    let mut world = leaving_with_open_segments(Readers::Stopped);
    world.pass(7200);
    let host = host_of(&world, LEAVER);
    world.annotate_cluster(labels::GIVE_UP_CHANGES, host.as_str());
    world.settle();
    world.expect_ring(3);
    assert!(pod(&world, LEAVER).is_none(), "{}", world.last_words());
}

#[test]
fn a_leave_with_a_reader_ends_wherever_the_operator_dies() {
    let world = leaving_with_open_segments(Readers::Read);
    let mut end = killed_at_every_write("a leave of a member that keeps changes", world, 4);
    end.expect_ring(3);
    assert!(pod(&end, LEAVER).is_none());
    assert!(end.ring.segments.open.is_empty(), "what was open was completed and read");
}
