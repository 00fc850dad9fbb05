//! Volumes that are not what they were: emptied in part, or another member's; and
//! members that never joined.

use crate::every::a_ring;
use crate::nodes::{LAST, spread};
use crate::sim::World;
use crate::sim::manifests::{NAMESPACE, a_cluster};
use crate::sim::world::Link;
use crate::tasks::{host_of, volume_of};
use palladion_api::labels;
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::kubernetes::Machine;
use palladion_plan::{ObjectKey, Subresource};
use serde_json::json;

const FIRST: &str = "demo-dc1-a-0";
const NEW: &str = "demo-dc1-a-2";

/// It is its own seed, and the other member is down: its server would start a ring.
#[test]
fn a_seed_with_what_is_left_of_its_data_does_not_start_as_somebody_new() {
    let mut world = spread(1, 1);
    let other = world.node_of("demo-dc1-b-0");
    world.set_machine(&other, Machine::Down);
    world.delete(kinds::POD, FIRST);
    world.empty_partly(FIRST);
    world.pass(600);
    assert!(!world.runs(FIRST), "{}", world.last_words());
    assert_eq!(world.ring.founders.len(), 1, "{}", world.last_words());
    let degraded = world.condition("Degraded");
    assert!(degraded.contains("data/system/local-*"), "{degraded}");
}

#[test]
fn a_partly_emptied_volume_is_reported_and_replaced_on_request() {
    let mut world = a_ring(2, 1);
    world.delete(kinds::POD, LAST);
    world.empty_partly(LAST);
    world.settle();
    assert!(!world.runs(LAST), "{}", world.last_words());
    let starts = world.story.iter().filter(|line| line.contains("starts its server"));
    assert_eq!(starts.count(), 0, "{}", world.last_words());
    let degraded = world.condition("Degraded");
    assert!(degraded.starts_with("True VolumeDamaged"), "{degraded}");
    let host = host_of(&world, LAST);
    assert!(degraded.contains(host.as_str()), "{degraded}");
    world.ring.called_lost.insert(host.clone());
    world.given_up.insert(host);
    let old = volume_of(&world, LAST);
    world.label(kinds::MEMBER, LAST, labels::REPLACE);
    world.settle();
    assert_ne!(volume_of(&world, LAST), old, "{}", world.last_words());
    world.expect_ring(3);
}

/// The data of one member on the disk of another that has none yet.
#[test]
fn the_disk_of_another_member_is_refused_and_holds_nobody_up() {
    let mut world = a_ring(2, 1);
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    world.until(|w| w.exists(kinds::CLAIM, "data-demo-dc1-a-2"));
    world.until(|w| w.has_disk(NEW));
    world.copy_volume(LAST, NEW);
    world.pass(600);
    assert!(!world.runs(NEW), "{}", world.last_words());
    let degraded = world.condition("Degraded");
    assert!(degraded.starts_with("True VolumeForeign"), "{degraded}");
    assert!(degraded.contains(&format!("data of member {LAST}")), "{degraded}");
    // The others are what they were: nobody counts that data twice.
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    world.clear_volume(NEW);
    world.settle();
    world.expect_ring(3);
}

/// It ends in a ban and in the end of a pod: others are asked first.
#[test]
fn a_member_that_never_joined_goes_only_after_others_were_asked_whether_they_know_it() {
    let mut world = a_ring(2, 1);
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    world.until(|w| w.exists(kinds::MEMBER, NEW));
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    world.writes.clear();
    world.settle();
    world.expect_ring(3);
    assert_is_asked_first(&world);
}

/// Its permit is taken back before anybody is asked.
#[test]
fn a_member_whose_join_fails_and_that_is_not_wanted_any_more_gives_its_permit_back() {
    let mut world = a_ring(2, 1);
    world.ring.unlucky.insert(NEW.into());
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    let tried = |w: &World| w.story.iter().any(|l| l.contains("starts its server (Join)"));
    world.until(tried);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    world.writes.clear();
    world.settle();
    world.expect_ring(3);
    assert_is_asked_first(&world);
    let last = |what: &str| world.writes.iter().rposition(|w| w.starts_with(what));
    let withdrawn = last(&format!("withdraw the permit of member {NEW}"));
    assert!(withdrawn.is_some() && withdrawn < last("ask member"), "{:?}", world.writes);
}

/// Its permit counts until its agent has read that it is taken back: its server may be
/// about to start by it.
#[test]
fn a_member_that_never_joined_goes_only_after_its_agent_has_given_its_permit_back() {
    let mut world = a_ring(2, 1);
    world.ring.unlucky.insert(NEW.into());
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    let tried = |w: &World| w.story.iter().any(|l| l.contains("starts its server (Join)"));
    world.until(tried);
    // It has used up its tries.
    world.pass(900);
    world.agent_is_cut(NEW, Link::Mute);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    world.writes.clear();
    let wrote = |w: &World, what: &str| w.writes.iter().any(|line| line.starts_with(what));
    world.until(|w| wrote(w, &format!("withdraw the permit of member {NEW}")));
    world.pass(600);
    let gone = format!("record that member {NEW} will not join");
    assert!(!wrote(&world, &gone), "{}", world.last_words());
    assert!(world.waits().contains(NEW), "{}", world.waits());
    world.agents_are_back();
    world.settle();
    assert!(wrote(&world, &gone), "{}", world.last_words());
    world.expect_ring(3);
}

fn assert_is_asked_first(world: &World) {
    let at = |what: &str| world.writes.iter().rposition(|w| w.starts_with(what));
    let turn = at(&format!("check whether member {NEW} ever joined"));
    let asked = at("ask member");
    let ended = at(&format!("record that member {NEW} will not join"));
    assert!(turn.is_some() && turn < asked && asked < ended, "{:?}", world.writes);
}

/// As agents recorded XFS once. From then on a loss of its data is known as one.
#[test]
fn a_file_system_that_was_recorded_by_its_device_number_is_recorded_by_its_id_once() {
    let mut world = a_ring(2, 1);
    let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, "demo-dc1-a-1");
    let recorded = |w: &World| w.store.get(&key).map(|m| m["spec"]["fileSystem"].clone());
    let by_id = recorded(&world);
    let by_number = json!({ "spec": { "fileSystem": "xfs/0000000000000821/" } });
    world.store.merge(&key, &by_number, Subresource::None).unwrap();
    world.settle();
    assert_eq!(recorded(&world), by_id, "{}", world.last_words());
    world.expect_ring(3);
}
