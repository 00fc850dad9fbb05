//! Members whose Services have addresses under which the ring knows somebody else, or
//! under which nobody may come back.

use crate::addresses::{address_of, host_of, member, moved_by_hand};
use crate::every::a_ring;
use crate::sim::World;
use crate::sim::manifests::a_cluster;
use crate::sim::ring::{Phase, Seat};
use crate::terminated::terminate_now;
use palladion_api::ids::{HostId, StaticAddress};
use palladion_api::labels;
use palladion_api::member::MemberState;
use palladion_cassandra::resources as kinds;
use serde_json::json;

const FIRST: &str = "demo-dc1-a-0";
const SECOND: &str = "demo-dc1-a-1";
const OTHER: &str = "demo-dc1-b-0";
const LEAVER: &str = "demo-dc1-a-2";
const ELSEWHERE: &str = "10.96.0.200";
/// A host ID on no record, as it stands in the ring after a member was taken away by hand.
const GHOST: &str = "left-behind";

/// The ring knows somebody who is down, under an address that a Service may get.
fn with_a_ghost() -> World {
    let mut world = a_ring(2, 1);
    let seat = Seat {
        lineage: 0,
        address: ELSEWHERE.into(),
        rack: "demo-dc1-a".into(),
        tokens: 999,
        state: MemberState::Normal,
        forgotten_at: None,
    };
    world.ring.seats.insert(HostId::new(GHOST), seat);
    world.tell(&format!("the ring knows {GHOST} under {ELSEWHERE}, and it is down"));
    world.pass(60);
    world
}

/// The Service of the first member gets that address while the member is down.
fn under_the_address_of_a_ghost() -> (World, String, String) {
    let mut world = with_a_ghost();
    let (host, before) = (host_of(&world, FIRST), address_of(&world, FIRST));
    moved_by_hand(&mut world, FIRST, ELSEWHERE);
    world.delete(kinds::POD, FIRST);
    world.pass(900);
    assert!(!world.runs(FIRST), "{}", world.last_words());
    (world, host, before)
}

#[test]
fn who_still_has_the_address_of_a_member_is_named_with_what_to_do() {
    let (mut world, host, _) = under_the_address_of_a_ghost();
    let told = world.condition("Degraded");
    let known = format!(
        "True AddressChanged: the Service of member {FIRST} has ClusterIP {ELSEWHERE}, under \
         which member {SECOND} still knows host ID {GHOST}; delete the Service, so that it \
         is recreated with another address, or remove that host ID from the ring \
         (`nodetool removenode {GHOST}`)"
    );
    assert!(told.starts_with(&known), "{told}\n{}", world.last_words());
    // Nobody is asked about it again and again.
    world.writes.clear();
    world.pass(900);
    assert_eq!(world.writes, Vec::<String>::new(), "{}", world.last_words());
    world.tell("a person runs nodetool removenode");
    world.ring.seats.remove(&HostId::new(GHOST));
    world.settle();
    world.expect_ring(3);
    assert_eq!((address_of(&world, FIRST).as_str(), host_of(&world, FIRST)), (ELSEWHERE, host));
}

#[test]
fn a_member_whose_address_somebody_has_comes_back_when_its_service_is_deleted() {
    let (mut world, host, before) = under_the_address_of_a_ghost();
    world.delete(kinds::SERVICE, FIRST);
    world.until(|w| w.runs(FIRST) && w.normal() == 3);
    assert_eq!((address_of(&world, FIRST), host_of(&world, FIRST)), (before, host));
    let told = world.condition("Degraded");
    assert!(!told.contains("AddressChanged"), "{told}");
}

/// That one has moved on, and is a member that is up: nobody is told to remove it.
#[test]
fn a_former_address_of_which_one_member_has_not_heard_is_waited_for() {
    let mut world = a_ring(2, 1);
    let of_other = address_of(&world, OTHER);
    world.patch_spec(&json!({ "paused": true }));
    world.settle();
    moved_by_hand(&mut world, OTHER, ELSEWHERE);
    moved_by_hand(&mut world, FIRST, &of_other);
    world.cut_off(SECOND);
    for name in [FIRST, OTHER] {
        world.delete(kinds::POD, name);
    }
    world.patch_spec(&json!({ "paused": false }));
    world.until(|w| member(w, OTHER)["status"]["address"] == ELSEWHERE);
    world.pass(300);
    assert!(world.runs(OTHER) && !world.runs(FIRST), "{}", world.last_words());
    let told = world.condition("Degraded");
    assert!(!told.contains("removenode"), "{told}");
    let waits = format!("{of_other} yet: member {SECOND} still knows member {OTHER} under it");
    assert!(world.waits().contains(&waits), "{}", world.last_words());
    world.reconnect();
    world.settle();
    world.expect_ring(3);
    assert_eq!(address_of(&world, FIRST), of_other);
}

/// A leaver whose server was ended, and the Service of which has another address.
fn a_leaver_elsewhere() -> World {
    let mut world = a_ring(3, 1);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    world.until(|w| w.ring.in_phase(&Phase::Leaving).is_some());
    world.patch_spec(&json!({ "paused": true }));
    world.delete(kinds::POD, LEAVER);
    world.settle();
    moved_by_hand(&mut world, LEAVER, ELSEWHERE);
    world
}

fn expect_told_and_not_started(world: &mut World, before: &str) {
    world.patch_spec(&json!({ "paused": false }));
    world.pass(900);
    let resumed = world.story.iter().any(|l| l.contains("(ResumeLeave)"));
    assert!(!resumed && !world.runs(LEAVER), "{}", world.last_words());
    let told = world.condition("Degraded");
    assert!(told.starts_with("True AddressChanged"), "{told}\n{}", world.last_words());
    for words in [LEAVER, before, ELSEWHERE, "delete the Service", "kubectl palladion replace"] {
        assert!(told.contains(words), "{words}: {told}");
    }
    world.writes.clear();
    world.pass(900);
    assert_eq!(world.writes, Vec::<String>::new(), "{}", world.last_words());
}

#[test]
fn a_leaver_whose_service_has_another_address_comes_back_to_leave_under_its_own() {
    let mut world = a_leaver_elsewhere();
    let before = address_of(&world, LEAVER);
    expect_told_and_not_started(&mut world, &before);
    world.delete(kinds::SERVICE, LEAVER);
    world.settle();
    world.expect_ring(3);
}

/// Its record is made again, with the address that its Service has by then.
fn a_leaver_with_a_new_record() -> (World, String) {
    let mut world = a_leaver_elsewhere();
    let before = address_of(&world, LEAVER);
    world.delete(kinds::MEMBER, LEAVER);
    (world, before)
}

#[test]
fn a_leaver_whose_new_record_names_another_address_comes_back_to_leave_under_its_own() {
    let (mut world, before) = a_leaver_with_a_new_record();
    expect_told_and_not_started(&mut world, &before);
    assert_eq!(address_of(&world, LEAVER), ELSEWHERE);
    world.delete(kinds::SERVICE, LEAVER);
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_leaver_that_cannot_have_its_address_again_goes_when_a_user_gives_it_up() {
    let (mut world, before) = a_leaver_with_a_new_record();
    expect_told_and_not_started(&mut world, &before);
    world.give_up(LEAVER);
    terminate_now(&mut world, LEAVER);
    world.label(kinds::MEMBER, LEAVER, labels::REPLACE);
    world.settle();
    world.expect_ring(3);
}

/// What the ledger on the volume of the leaver says of its address.
fn ledger_says(world: &mut World, address: Option<&str>) {
    world.tell(&format!("the ledger of {LEAVER} says of its address: {address:?}"));
    let claim = format!("data-{LEAVER}");
    let disks = world.kube.disks.values_mut().filter(|disk| disk.claim == claim);
    for ledger in disks.filter_map(|disk| disk.content.ledger.as_mut()) {
        ledger.address = address.map(StaticAddress::new);
    }
}

#[test]
fn a_leaver_whose_agent_refuses_to_start_it_is_told_and_not_permitted_again_and_again() {
    let mut world = a_ring(3, 1);
    let before = address_of(&world, LEAVER);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    world.until(|w| w.ring.in_phase(&Phase::Leaving).is_some());
    world.delete(kinds::POD, LEAVER);
    world.until(|w| !w.runs(LEAVER));
    ledger_says(&mut world, None);
    world.pass(900);
    let told = world.condition("Degraded");
    assert!(told.starts_with("True LeaveRefused"), "{told}\n{}", world.last_words());
    assert!(told.contains(LEAVER) && told.contains("contains no address"), "{told}");
    world.writes.clear();
    world.pass(900);
    assert_eq!(world.writes, Vec::<String>::new(), "{}", world.last_words());
    ledger_says(&mut world, Some(&before));
    world.delete(kinds::POD, LEAVER);
    world.settle();
    world.expect_ring(3);
}

/// Nobody needs an address to have left.
#[test]
fn a_leaver_elsewhere_that_has_left_is_gone() {
    let mut world = a_ring(3, 1);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    world.until(|w| w.ring.in_phase(&Phase::Left).is_some());
    world.patch_spec(&json!({ "paused": true }));
    world.kill_server(LEAVER);
    moved_by_hand(&mut world, LEAVER, ELSEWHERE);
    world.settle();
    world.patch_spec(&json!({ "paused": false }));
    world.settle();
    let resumed = world.story.iter().any(|l| l.contains("(ResumeLeave)"));
    assert!(!resumed, "{}", world.last_words());
    world.expect_ring(3);
}
