//! Members whose recorded ClusterIP cannot be had again come back under another one,
//! each in a turn of its own, with their data and their host IDs.

use crate::every::{a_ring, before_each_write, killed_at_every_write, some};
use crate::sim::World;
use crate::sim::manifests::{NAMESPACE, two_racks};
use crate::sim::ring::Phase;
use crate::sim::world::Link;
use palladion_api::labels;
use palladion_cassandra::resources as kinds;
use palladion_plan::ObjectKey;
use palladion_plan::sim::Fault;
use serde_json::{Value, json};

const FIRST: &str = "demo-dc1-a-0";
const SECOND: &str = "demo-dc1-a-1";
const OTHER: &str = "demo-dc1-b-0";
const ALL: [&str; 3] = [FIRST, SECOND, OTHER];

pub fn member(world: &World, name: &str) -> Value {
    let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, name);
    world.store.get(&key).map(|member| Value::clone(member)).unwrap_or_default()
}

pub fn address_of(world: &World, name: &str) -> String {
    member(world, name)["spec"]["address"].as_str().unwrap_or_default().into()
}

pub fn host_of(world: &World, name: &str) -> String {
    member(world, name)["status"]["hostID"].as_str().unwrap_or_default().into()
}

/// The ring is deleted, its volumes stay, and Services of strangers get these addresses.
fn deleted_and_taken(addresses: &[String]) -> World {
    let mut world = a_ring(2, 1);
    world.delete_cluster();
    world.settle();
    for (number, address) in addresses.iter().enumerate() {
        let stranger = ObjectKey::new(kinds::SERVICE, "elsewhere", &format!("stranger-{number}"));
        let service = json!({ "metadata": {}, "spec": { "clusterIP": address } });
        world.store.create(&stranger, &service).expect("it should be free by then");
    }
    world
}

/// The same, and it is created again.
pub fn created_again(taken: &[&str]) -> (World, Vec<String>, Vec<String>) {
    let ring = a_ring(2, 1);
    let addresses: Vec<String> = taken.iter().map(|name| address_of(&ring, name)).collect();
    let hosts = ALL.iter().map(|name| host_of(&ring, name)).collect();
    let mut world = deleted_and_taken(&addresses);
    world.apply(&two_racks());
    world.pass(600);
    (world, addresses, hosts)
}

/// A user lets the members have other addresses than these.
pub fn give_up(world: &mut World, addresses: &[String]) {
    world.annotate_cluster(labels::GIVE_UP_ADDRESSES, &addresses.join(", "));
}

/// All are members as before, and the ring, the records, the claims and the ledgers
/// name their new addresses.
fn are_back(world: &mut World, moved: &[&str], before: &[String], hosts: &[String]) {
    world.expect_ring(3);
    for (name, host) in ALL.iter().zip(hosts) {
        assert_eq!(host_of(world, name), *host, "{name} is the same member");
        let address = address_of(world, name);
        let claim = ObjectKey::new(kinds::CLAIM, NAMESPACE, &format!("data-{name}"));
        let claim = world.store.get(&claim).expect("its claim").clone();
        assert_eq!(claim["metadata"]["annotations"][labels::ADDRESS], address.as_str());
        assert_eq!(member(world, name)["status"]["address"], address.as_str());
        let seat = world.ring.seats.values().find(|s| s.address.as_str() == address);
        assert!(seat.is_some(), "the ring knows {name} under {address}");
        assert!(!before.contains(&address), "{name}");
    }
    let begun = |w: &&String| w.contains("begin the change of address");
    assert_eq!(world.writes.iter().filter(begun).count(), moved.len(), "a turn for each");
    assert_eq!(world.write(10), 10, "and it is written to");
}

#[test]
fn a_member_whose_address_is_taken_comes_back_under_another_when_it_is_given_up() {
    let (mut world, taken, hosts) = created_again(&[FIRST]);
    let told = world.condition("Degraded");
    assert!(told.starts_with("True AddressTaken") && told.contains(FIRST), "{told}");
    let command = format!("{}={}", labels::GIVE_UP_ADDRESSES, taken[0]);
    assert!(told.contains(&command), "it says what to do: {told}");
    assert_eq!(world.normal(), 2, "{}", world.last_words());
    give_up(&mut world, &taken);
    let mut end = killed_at_every_write("a member gets another address", world, 1);
    are_back(&mut end, &[FIRST], &taken, &hosts);
    assert!(end.condition("Degraded").starts_with("False"), "{}", end.condition("Degraded"));
}

#[test]
fn the_agent_or_its_pod_ends_while_its_member_gets_another_address() {
    let (mut world, taken, hosts) = created_again(&[FIRST]);
    give_up(&mut world, &taken);
    let (worlds, _) = before_each_write(world);
    for (number, mut world) in some(worlds, 2, 0).into_iter().enumerate() {
        match number % 3 {
            0 if world.exists(kinds::POD, FIRST) => world.delete(kinds::POD, FIRST),
            1 => world.power_cut(),
            _ => world.restart_agent(FIRST),
        }
        world.pass(60);
        world.heal();
        world.settle();
        let moved = address_of(&world, FIRST);
        assert!(!taken.contains(&moved), "{}", world.last_words());
        world.expect_ring(3);
        assert_eq!(host_of(&world, FIRST), hosts[0], "{}", world.last_words());
    }
}

#[test]
fn a_frozen_leader_gives_no_second_permit_for_an_address() {
    let starts = |w: &World| {
        let of_first = format!("{FIRST} starts its server");
        w.story.iter().filter(|line| line.contains(&of_first)).count()
    };
    let (mut world, taken, hosts) = created_again(&[FIRST]);
    let before = starts(&world);
    give_up(&mut world, &taken);
    let (worlds, _) = before_each_write(world);
    for mut world in some(worlds, 2, 1) {
        world.faults.plan(world.faults.writes(), Fault::FreezeInFlight);
        world.until(|w| w.faults.is_over());
        world.start_operator();
        world.pass(40);
        world.wake_and_end_the_old_leader();
        world.settle();
        world.expect_ring(3);
        assert_eq!(host_of(&world, FIRST), hosts[0], "{}", world.last_words());
        assert_eq!(starts(&world), before + 1, "one permit, one start: {}", world.last_words());
    }
}

#[test]
fn two_members_get_other_addresses_one_after_the_other() {
    let (mut world, taken, hosts) = created_again(&[FIRST, OTHER]);
    assert_eq!(world.normal(), 1, "{}", world.last_words());
    give_up(&mut world, &taken);
    let both = |w: &World| {
        let coming = |s: &&crate::sim::ring::Server| {
            matches!(s.phase, Phase::Booting | Phase::Waking) && s.member != SECOND
        };
        w.ring.servers.values().filter(coming).count() > 1
    };
    let mut watched = world.clone();
    assert!(!watched.comes_to(both), "{}", watched.last_words());
    world.settle();
    are_back(&mut world, &[FIRST, OTHER], &taken, &hosts);
}

#[test]
fn a_ring_whose_addresses_are_all_gone_starts_when_a_user_gives_them_up() {
    let (mut world, taken, hosts) = created_again(&ALL);
    assert_eq!(world.normal(), 0, "{}", world.last_words());
    give_up(&mut world, &taken);
    let mut end = killed_at_every_write("a ring gets other addresses", world, 5);
    are_back(&mut end, &ALL, &taken, &hosts);
    assert_eq!(end.ring.founders.len(), 1, "no second ring");
}

/// Volumes that were moved to another cluster: nothing but the ledgers knows the
/// addresses that they had.
#[test]
fn volumes_without_records_start_under_new_addresses_when_a_user_says_so() {
    let ring = a_ring(2, 1);
    let taken: Vec<String> = ALL.iter().map(|name| address_of(&ring, name)).collect();
    let hosts: Vec<String> = ALL.iter().map(|name| host_of(&ring, name)).collect();
    let mut world = deleted_and_taken(&taken);
    world.strip_claims();
    world.apply(&two_racks());
    world.pass(600);
    assert_eq!(world.normal(), 0, "{}", world.last_words());
    let told = world.condition("Degraded");
    assert!(told.starts_with("True AddressChanged") && told.contains(FIRST), "{told}");
    let command = format!("{}={}", labels::GIVE_UP_ADDRESSES, taken[0]);
    assert!(told.contains(&command), "it says what to do: {told}");
    give_up(&mut world, &["10.96.0.99".to_string()]);
    world.pass(60);
    assert_eq!(world.normal(), 0, "another address says nothing of theirs");
    give_up(&mut world, &taken[..1]);
    world.settle();
    are_back(&mut world, &ALL, &taken, &hosts);
    assert_eq!(world.ring.founders.len(), 1, "no second ring");
}

/// Servers start by themselves before anybody hears of it: who is not heard may be up, and
/// is asked when it is heard.
#[test]
fn an_address_that_is_given_up_starts_nobody_while_others_are_not_heard() {
    let (mut world, taken, hosts) = created_again(&[FIRST]);
    for name in [SECOND, OTHER] {
        world.agent_is_cut(name, Link::Cut);
        world.delete(kinds::POD, name);
    }
    world.pass(300);
    assert!(world.runs(SECOND) && world.runs(OTHER), "{}", world.last_words());
    give_up(&mut world, &taken);
    world.pass(600);
    assert!(!world.runs(FIRST), "nobody was asked: {}", world.last_words());
    let waits = world.waits();
    assert!(waits.contains("the server of member") && waits.contains("may be running"), "{waits}");
    world.agents_are_back();
    world.settle();
    are_back(&mut world, &[FIRST], &taken, &hosts);
}

#[test]
fn an_old_copy_of_a_volume_gets_no_other_address() {
    let (mut world, taken, _) = created_again(&[FIRST]);
    world.exchange_volume(FIRST);
    give_up(&mut world, &taken);
    world.pass(600);
    assert!(!world.runs(FIRST), "{}", world.last_words());
    assert_eq!(world.normal(), 2);
    let told = world.condition("Degraded");
    assert!(told.starts_with("True"), "{told}");
}

/// A person recreates the Service of a member with this address.
pub fn moved_by_hand(world: &mut World, name: &str, address: &str) {
    let key = ObjectKey::new(kinds::SERVICE, NAMESPACE, name);
    let service = world.store.get(&key).expect("the Service should exist");
    let mut service = Value::clone(service);
    world.delete(kinds::SERVICE, name);
    service["spec"]["clusterIP"] = json!(address);
    service["spec"]["clusterIPs"] = json!([address]);
    world.store.create(&key, &service).expect("somebody creates it with another address");
}

/// Another member's old address is nobody's new one, as long as the ring knows that
/// member under it.
#[test]
fn an_address_that_the_ring_knows_of_another_member_waits_for_that_one() {
    let mut world = a_ring(2, 1);
    let hosts: Vec<String> = ALL.iter().map(|name| host_of(&world, name)).collect();
    let of_other = address_of(&world, OTHER);
    let of_first = address_of(&world, FIRST);
    world.patch_spec(&json!({ "paused": true }));
    world.settle();
    moved_by_hand(&mut world, OTHER, "10.96.0.200");
    moved_by_hand(&mut world, FIRST, &of_other);
    world.patch_spec(&json!({ "paused": false }));
    world.pass(120);
    assert!(world.condition("Degraded").contains("AddressChanged"), "{}", world.last_words());
    assert!(world.waits().contains("to restart it anyway"), "{}", world.last_words());
    for name in [FIRST, OTHER] {
        world.delete(kinds::POD, name);
    }
    let told = |w: &World| w.condition("Degraded").contains("under which the ring knows member");
    world.until(told);
    world.settle();
    are_back(&mut world, &[FIRST, OTHER], &[of_first], &hosts);
    assert_eq!(address_of(&world, FIRST), of_other);
}

#[test]
fn a_member_that_runs_under_an_address_that_leads_nowhere_is_restarted_under_its_new_one() {
    let mut world = a_ring(2, 1);
    let (host, before) = (host_of(&world, FIRST), address_of(&world, FIRST));
    moved_by_hand(&mut world, FIRST, "10.96.0.200");
    let mut end = killed_at_every_write("a Service has another address", world, 2);
    end.expect_ring(3);
    assert_eq!(address_of(&end, FIRST), "10.96.0.200");
    assert_eq!(host_of(&end, FIRST), host);
    let held = end.store.list(kinds::SERVICE).any(|(key, s)| {
        key.name.starts_with("demo-dc1-a-0-was-") && s["spec"]["clusterIP"] == before.as_str()
    });
    assert!(held, "nobody gets the address that the others have known: {}", end.last_words());
}

#[test]
fn an_agent_that_does_not_know_the_permit_is_named() {
    let (mut world, taken, _) = created_again(&[FIRST]);
    world.set_protocol(4);
    give_up(&mut world, &taken);
    world.until(|w| w.condition("Degraded").contains("AddressChanged"));
    for _ in 0..3 {
        world.set_protocol(4);
        world.pass(30);
    }
    assert!(!world.runs(FIRST), "{}", world.last_words());
    let told = world.condition("Degraded");
    assert!(told.contains("cannot start the server under it"), "{told}");
}

#[test]
fn a_member_that_is_lost_before_it_had_its_new_address_is_replaced_under_its_old_one() {
    let (mut world, taken, _) = created_again(&[FIRST]);
    // Its agent does not know the permit, so that it keeps its place under the old one.
    world.set_protocol_of(FIRST, 4);
    give_up(&mut world, &taken);
    world.pass(120);
    assert_ne!(address_of(&world, FIRST), taken[0], "{}", world.last_words());
    let before = world.story.len();
    world.break_volume(FIRST);
    world.label(kinds::MEMBER, FIRST, labels::REPLACE);
    world.settle();
    world.expect_ring(3);
    let after = &world.story[before..];
    let replaced = after.iter().filter(|line| line.contains(&taken[0])).count();
    assert!(replaced > 0, "the replacement names the address that the ring knows: {after:#?}");
    let removed = after.iter().filter(|line| line.contains("removed from the ring")).count();
    assert_eq!(removed, 0, "it is replaced, and not removed: {after:#?}");
}

/// It may not start under another address, and nobody reaches it where it is: that is said,
/// and nothing is tried again and again.
#[test]
fn a_leaver_that_failed_halfway_and_whose_service_has_another_address_is_named() {
    let mut world = a_ring(3, 1);
    let leaver = "demo-dc1-a-2";
    let before = address_of(&world, leaver);
    world.ring.failing.insert(leaver.into());
    world.set_racks(&two_racks());
    world.until(|w| w.ring.in_phase(&Phase::LeaveFailed).is_some());
    moved_by_hand(&mut world, leaver, "10.96.0.200");
    world.pass(120);
    world.writes.clear();
    world.pass(900);
    let tried = world.writes.iter().any(|w| w.contains("decommission") || w.contains("ask member"));
    assert!(!tried, "{}", world.last_words());
    let told = world.condition("Degraded");
    assert!(told.contains("whose leave has not ended") && told.contains(&before), "{told}");
    assert_eq!(address_of(&world, leaver), before, "{}", world.last_words());
    // What the message says.
    world.delete(kinds::SERVICE, leaver);
    world.settle();
    world.expect_ring(3);
}

/// Whoever has the address later, by chance, is not let in by it.
#[test]
fn an_address_is_given_up_once() {
    let (mut world, taken, _) = created_again(&[FIRST, OTHER]);
    world.annotate_cluster(labels::GIVE_UP_ADDRESSES, &format!("{}, 10.96.7.7", taken.join(", ")));
    world.settle();
    world.expect_ring(3);
    assert_eq!(list_of_given_up(&world), "10.96.7.7", "{}", world.last_words());
}

/// The worlds right before the operator takes an address off the list, and after.
fn at_the_taking_off(world: World) -> [World; 2] {
    let (worlds, end) = before_each_write(world);
    let takes_off = |world: &World| {
        let mut next = world.clone();
        let writes = next.faults.writes();
        while next.faults.writes() == writes {
            next.tick().expect("a write comes next");
        }
        next.writes.last().is_some_and(|write| write.contains("which a member no longer has"))
    };
    let before = worlds.iter().position(takes_off).expect("it is taken off the list");
    let after = worlds.get(before + 1).cloned().unwrap_or(end);
    [worlds[before].clone(), after]
}

fn list_of_given_up(world: &World) -> Value {
    let cluster = world.store.get(&crate::sim::world::cluster_key()).expect("the cluster");
    cluster["metadata"]["annotations"][labels::GIVE_UP_ADDRESSES].clone()
}

/// What a user adds while the operator takes another off the list stays on it.
#[test]
fn an_address_that_is_given_up_meanwhile_stays_on_the_list() {
    let (mut world, taken, _) = created_again(&[FIRST]);
    give_up(&mut world, &taken);
    let [mut world, _] = at_the_taking_off(world);
    world.faults.plan(world.faults.writes(), Fault::FreezeInFlight);
    world.until(|w| w.faults.is_over());
    give_up(&mut world, &[taken[0].clone(), "10.96.7.7".to_string()]);
    world.wake_and_end_the_old_leader();
    world.start_operator();
    world.settle();
    world.expect_ring(3);
    assert_eq!(list_of_given_up(&world), "10.96.7.7", "{}", world.last_words());
}

/// An operator that dies around the write leaves nothing on the list, and no turn open.
#[test]
fn an_address_is_taken_off_the_list_whenever_the_operator_dies() {
    let (mut world, taken, _) = created_again(&[FIRST]);
    give_up(&mut world, &taken);
    for world in at_the_taking_off(world) {
        for fault in [Fault::DieBefore, Fault::DieAfter] {
            let mut world = world.clone();
            world.faults.plan(world.faults.writes(), fault);
            world.settle();
            world.expect_ring(3);
            assert_eq!(list_of_given_up(&world), Value::Null, "{}", world.last_words());
        }
    }
}
