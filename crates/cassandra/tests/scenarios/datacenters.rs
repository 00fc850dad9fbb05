//! A ring that has members in other datacenters, which no record names: they are known by
//! the datacenter that they gossip, count for nothing of ours, and nothing is done to them.

use crate::every::{a_ring, killed_at_every_write};
use crate::sim::World;
use crate::sim::manifests::a_cluster;
use palladion_api::member::{Liveness, MemberState};
use palladion_api::reasons::Reason;
use palladion_cassandra::resources as kinds;
use serde_json::json;

const WEST: [(&str, &str); 2] = [("west-0", "10.97.0.1"), ("west-1", "10.97.0.2")];

/// A ring of three here and two in `west`.
fn a_ring_with_west(a: i32, b: i32) -> World {
    with_west(a_ring(a, b))
}

fn with_west(mut world: World) -> World {
    for (host, address) in WEST {
        world.elsewhere(host, "west", address);
    }
    world.pass(60);
    world
}

fn goes_down(world: &mut World, host: &str) {
    world.there(host, "goes down", |m| m.liveness = Liveness::Down);
    world.pass(60);
}

fn comes_back(world: &mut World, host: &str) {
    world.there(host, "comes back", |m| m.liveness = Liveness::Up);
    world.pass(60);
}

fn restarted(world: &World) -> usize {
    world.writes.iter().filter(|w| w.contains("begin the restart of member")).count()
}

/// Nothing of another datacenter is touched.
fn west_is_left_alone(world: &World) {
    let touched = world.writes.iter().chain(&world.story).find(|line| {
        line.contains("west-") && !line.contains("the ring has") && !line.contains("elsewhere")
    });
    assert_eq!(touched, None);
}

#[test]
fn a_ring_with_another_datacenter_grows_rolls_replaces_and_shrinks() {
    let mut world = a_ring_with_west(2, 1);
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    world.settle();
    world.expect_ring(4);
    world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
    world.settle();
    world.expect_ring(4);
    world.delete(kinds::POD, "demo-dc1-a-1");
    world.wipe_volume("demo-dc1-a-1");
    world.settle();
    world.expect_ring(4);
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1)]));
    world.settle();
    world.expect_ring(3);
    west_is_left_alone(&world);
}

#[test]
fn a_lost_volume_of_a_ring_with_another_datacenter_is_replaced() {
    let mut world = a_ring_with_west(2, 1);
    world.delete(kinds::POD, "demo-dc1-a-1");
    world.wipe_volume("demo-dc1-a-1");
    let mut end = killed_at_every_write("a lost volume is replaced beside west", world, 8);
    end.expect_ring(3);
    west_is_left_alone(&end);
}

#[test]
fn while_a_member_elsewhere_is_down_nobody_joins_or_leaves() {
    for members in [3, 1] {
        let mut world = a_ring_with_west(2, 1);
        goes_down(&mut world, "west-0");
        world.set_racks(&a_cluster(&[("a", members), ("b", 1)]));
        world.pass(600);
        assert_eq!(world.normal(), 3, "{}", world.last_words());
        let said = world.condition("Progressing");
        let why = "sees 10.97.0.1 of datacenter west as down and normal";
        assert!(said.contains("WaitingForRing") && said.contains(why), "{said}");
        comes_back(&mut world, "west-0");
        world.settle();
        world.expect_ring(usize::try_from(members).unwrap() + 1);
    }
}

#[test]
fn members_restart_while_a_member_elsewhere_is_down() {
    let mut world = a_ring_with_west(2, 1);
    goes_down(&mut world, "west-0");
    world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
    world.pass(1800);
    assert_eq!(restarted(&world), 3, "{}", world.story.join("\n"));
    comes_back(&mut world, "west-0");
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_lost_member_is_replaced_while_one_elsewhere_is_down() {
    let mut world = a_ring_with_west(2, 1);
    goes_down(&mut world, "west-0");
    world.delete(kinds::POD, "demo-dc1-a-1");
    world.wipe_volume("demo-dc1-a-1");
    world.pass(1800);
    assert_eq!(world.normal(), 3, "{}", world.last_words());
    comes_back(&mut world, "west-0");
    world.settle();
    world.expect_ring(3);
}

#[test]
fn nobody_restarts_while_more_than_one_elsewhere_or_a_whole_datacenter_is_down() {
    let mut two = with_west(a_ring(2, 1));
    two.elsewhere("west-2", "west", "10.97.0.3");
    two.pass(60);
    let mut one_of_one = a_ring(2, 1);
    one_of_one.elsewhere("west-0", "west", "10.97.0.1");
    one_of_one.pass(60);
    let all = "sees all members of datacenter west down";
    let more = "2 members of other datacenters are down (10.97.0.1 and 10.97.0.2)";
    for (mut world, down, why) in [
        (two, &WEST[..2], more),
        (a_ring_with_west(2, 1), &WEST[..2], all),
        (one_of_one, &WEST[..1], all),
    ] {
        for (host, _) in down {
            goes_down(&mut world, host);
        }
        world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
        world.pass(900);
        let said = world.condition("Progressing");
        assert!(said.contains("RollingOut") && said.contains(why), "{said}");
        assert_eq!(restarted(&world), 0);
        for (host, _) in down {
            comes_back(&mut world, host);
        }
        world.settle();
        world.expect_ring(3);
    }
}

#[test]
fn nobody_joins_while_a_member_elsewhere_joins_or_one_of_ours_has_not_heard_of_it() {
    let mut world = a_ring_with_west(2, 1);
    world.there("west-1", "is joining", |m| m.state = MemberState::Joining);
    world.pass(60);
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    world.pass(600);
    assert_eq!(world.normal(), 3);
    let said = world.condition("Progressing");
    assert!(said.contains("10.97.0.2 of datacenter west as up and joining"), "{said}");
    world.there("west-1", "is normal", |m| m.state = MemberState::Normal);
    world.ring.deaf.insert("demo-dc1-b-0".into());
    world.elsewhere("west-2", "west", "10.97.0.3");
    world.pass(600);
    let said = world.condition("Progressing");
    assert!(said.contains("do not see the same members of other datacenters"), "{said}");
    world.ring.deaf.clear();
    world.settle();
    world.expect_ring(4);
}

#[test]
fn agents_that_do_not_say_where_members_are_leave_all_as_it_was() {
    let mut world = a_ring(2, 1);
    world.set_protocol(12);
    world = with_west(world);
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    world.pass(600);
    assert_eq!(world.normal(), 3, "{}", world.last_words());
    let said = world.condition("Progressing");
    assert!(said.contains("sees 5 members in the ring, but the operator has recorded 3"), "{said}");
    let said = world.condition("Degraded");
    assert!(said.starts_with("True MembersDisagree"), "{said}");
}

#[test]
fn one_old_agent_is_enough_for_nobody_to_be_elsewhere() {
    let mut world = a_ring(2, 1);
    world.set_protocol_of("demo-dc1-b-0", 12);
    world = with_west(world);
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    world.pass(600);
    assert_eq!(world.normal(), 3, "{}", world.last_words());
    let said = world.condition("Progressing");
    let why = "member demo-dc1-b-0 sees 5 members in the ring, but the operator has recorded 3, and its agent";
    assert!(said.contains(why), "{said}");
    assert!(said.contains("to roll out a newer agent"), "{said}");
}

/// It is the restart that brings the agents that say who is elsewhere.
#[test]
fn agents_of_before_are_rolled_beside_another_datacenter() {
    let all = ["demo-dc1-a-0", "demo-dc1-a-1", "demo-dc1-b-0"];
    for old in [&all[..], &all[2..], &all[..1]] {
        let mut world = a_ring(2, 1);
        for name in old {
            world.set_protocol_of(name, 12);
        }
        world = with_west(world);
        world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
        world.settle();
        assert_eq!(restarted(&world), 3, "{old:?}: {}", world.last_words());
        world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
        world.settle();
        world.expect_ring(4);
        west_is_left_alone(&world);
    }
}

/// Whoever it is that is down: an agent of before does not say whether it is one of ours.
#[test]
fn agents_of_before_are_not_rolled_while_they_see_anybody_down() {
    let mut world = a_ring(2, 1);
    for name in ["demo-dc1-a-0", "demo-dc1-a-1", "demo-dc1-b-0"] {
        world.set_protocol_of(name, 12);
    }
    world = with_west(world);
    goes_down(&mut world, "west-0");
    world.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
    world.pass(900);
    assert_eq!(restarted(&world), 0, "{}", world.last_words());
    comes_back(&mut world, "west-0");
    world.settle();
    assert_eq!(restarted(&world), 3, "{}", world.last_words());
}

/// It may be the member that joined in its last second: nothing tells it from that one.
#[test]
fn a_stranger_that_says_our_datacenter_stays_a_stranger() {
    let mut world = a_ring_with_west(2, 1);
    world.elsewhere("stranger", "dc1", "10.97.9.9");
    world.pass(60);
    for members in [3, 1] {
        world.set_racks(&a_cluster(&[("a", members), ("b", 1)]));
        world.pass(600);
        assert_eq!(world.normal(), 3);
        let said = world.condition("Progressing");
        let why = "sees 4 members in the ring, but the operator has recorded 3";
        assert!(said.contains(why), "{said}");
    }
    let said = world.condition("Degraded");
    assert!(said.starts_with("True MembersDisagree"), "{said}");
    west_is_left_alone(&world);
}

#[test]
fn a_member_elsewhere_that_vanishes_means_nothing_for_ours() {
    let mut world = a_ring_with_west(2, 1);
    goes_down(&mut world, "west-0");
    world.ring.elsewhere.clear();
    world.tell("west is no more in the ring");
    world.pass(60);
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    world.settle();
    world.expect_ring(4);
    west_is_left_alone(&world);
}

/// Members elsewhere, and a datacenter here that is to join them.
fn existing(racks: &[(&str, i32)], datacenter: &str) -> World {
    let mut cluster = a_cluster(racks);
    cluster["spec"]["ring"] = json!({ "origin": "Existing", "lock": "None" });
    cluster["spec"]["network"] = json!({ "clusterIPsAreRouted": true });
    let addresses: Vec<&str> = WEST.iter().map(|(_, address)| *address).collect();
    cluster["spec"]["externalSeeds"] = json!([{ "name": "west", "addresses": addresses }]);
    let mut world = World::new();
    world.initializations_allowed = 0;
    for (host, address) in WEST {
        world.elsewhere(host, datacenter, address);
    }
    world.with(&cluster)
}

/// All have joined, and nothing is waited for but what they are to be rebuilt with.
fn joined_and_closed(world: &World, members: usize) {
    let all = (world.normal(), world.ring.full_members());
    assert_eq!(all, (members, members), "{}", world.last_words());
    assert!(world.status()["turn"].is_null(), "{}", world.last_words());
    let waits = world.status()["waits"].as_array().cloned().unwrap_or_default();
    let is_closed = waits.iter().all(|wait| wait["reason"] == Reason::RebuildOwed.as_str());
    assert!(is_closed && !waits.is_empty(), "{waits:?} {}", world.last_words());
}

fn seeds_of(world: &World, member: &str) -> Vec<String> {
    let server = world.ring.servers.values().find(|s| s.member == member);
    let seeds = server.map(|s| s.seeds.clone()).unwrap_or_default();
    seeds.iter().map(ToString::to_string).collect()
}

#[test]
fn a_datacenter_of_a_ring_that_exists_joins_it_and_initializes_nothing() {
    let mut world = existing(&[("a", 2), ("b", 1)], "west");
    world.until(|w| w.normal() == 1);
    assert_eq!(seeds_of(&world, "demo-dc1-a-0")[0], "10.97.0.1", "one seed, in its order");
    let mut end = killed_at_every_write("a datacenter joins a ring elsewhere", world, 12);
    joined_and_closed(&end, 3);
    assert!(end.ring.founders.is_empty());
    let seeds = seeds_of(&end, "demo-dc1-b-0");
    assert!(
        seeds.contains(&"10.97.0.1".into()) && seeds.contains(&"10.97.0.2".into()),
        "{seeds:?}"
    );
    let said = end.condition("AllRegionsNormal");
    let all = "True RegionsNormal: 2 members of other datacenters (west) are up and normal";
    assert_eq!(said, all);
    end.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    end.settle();
    joined_and_closed(&end, 4);
}

#[test]
fn the_first_member_waits_for_a_seed_elsewhere_that_answers() {
    let mut world = existing(&[("a", 1), ("b", 1)], "west");
    for (host, _) in WEST {
        world.there(host, "is down", |m| m.liveness = Liveness::Down);
    }
    world.pass(900);
    assert_eq!((world.normal(), world.ring.servers.len()), (0, 0), "{}", world.last_words());
    let member = crate::addresses::member(&world, "demo-dc1-a-0");
    assert_eq!(member["status"]["server"]["reason"], "SeedsUnreachable");
    let said = world.condition("Progressing");
    assert!(said.contains("its `externalSeeds` (10.97.0.1 and 10.97.0.2)"), "{said}");
    let said = world.condition("AllRegionsNormal");
    let reason = said.strip_prefix("Unknown ").and_then(|said| said.split(':').next());
    assert_eq!(reason, Some("RegionsUnknown"), "{said}");
    world.there("west-1", "is up", |m| m.liveness = Liveness::Up);
    world.until(|w| w.normal() == 1);
    comes_back(&mut world, "west-0");
    world.settle();
    joined_and_closed(&world, 2);
}

#[test]
fn a_ring_that_exists_is_never_initialized_whatever_is_lost_and_whoever_allows_it() {
    let mut world = existing(&[("a", 1), ("b", 1)], "west");
    for (host, _) in WEST {
        world.there(host, "is down", |m| m.liveness = Liveness::Down);
    }
    world.annotate_cluster(palladion_api::labels::ALLOW_INITIALIZATION, "anything");
    world.pass(300);
    world.erase_status();
    world.pass(300);
    world.delete_all_pods();
    world.pass(600);
    assert!(world.ring.founders.is_empty() && world.ring.servers.is_empty());
    for (host, _) in WEST {
        comes_back(&mut world, host);
    }
    world.settle();
    joined_and_closed(&world, 2);
    world.erase_status();
    world.strip_claims();
    world.power_cut();
    world.api_returns();
    world.settle();
    joined_and_closed(&world, 2);
    assert!(world.ring.founders.is_empty());
}

#[test]
fn agents_that_know_no_seeds_elsewhere_do_not_begin() {
    let mut world = existing(&[("a", 1), ("b", 1)], "west");
    world.protocol = 12;
    world.pass(600);
    assert_eq!((world.normal(), world.ring.servers.len()), (0, 0));
    let said = world.condition("Degraded");
    assert!(said.starts_with("True AgentTooOld"), "{said}");
}

/// The ring elsewhere calls a datacenter as ours is called: its members may be ours.
#[test]
fn a_ring_with_a_datacenter_of_our_name_is_not_grown_into() {
    let mut world = existing(&[("a", 1), ("b", 1)], "dc1");
    world.pass(900);
    assert_eq!(world.normal(), 1, "nobody could be asked before the first had joined");
    let said = world.condition("Degraded");
    assert!(said.starts_with("True MembersDisagree"), "{said}");
    let said = world.condition("Progressing");
    assert!(said.contains("sees 3 members in the ring, but the operator has recorded 1"), "{said}");
}

#[test]
fn a_ring_of_ours_names_only_its_members_as_seeds_elsewhere() {
    let mut world = a_ring_with_west(2, 1);
    let seeds = json!([{ "name": "west", "addresses": ["10.97.0.1", "10.97.0.77"] }]);
    let network = json!({ "clusterIPsAreRouted": true });
    world.patch_spec(
        &json!({ "externalSeeds": seeds, "network": network, "ring": { "lock": "None" } }),
    );
    world.settle();
    world.expect_ring(3);
    let seeds = seeds_of(&world, "demo-dc1-a-0");
    assert!(
        seeds.contains(&"10.97.0.1".into()) && !seeds.contains(&"10.97.0.77".into()),
        "{seeds:?}"
    );
    world.patch_spec(&json!({ "externalSeeds": null }));
    world.settle();
    assert!(!seeds_of(&world, "demo-dc1-a-0").contains(&"10.97.0.1".into()));
    assert_eq!(restarted(&world), 0, "it restarts nobody");
}

#[test]
fn how_members_elsewhere_are_is_a_condition_of_its_own() {
    let alone = a_ring(2, 1);
    let types = |world: &World| world.condition("AllRegionsNormal");
    assert_eq!(types(&alone), "", "a ring of one datacenter has no such condition");
    let mut world = a_ring_with_west(2, 1);
    assert!(types(&world).starts_with("True RegionsNormal"), "{}", types(&world));
    goes_down(&mut world, "west-0");
    let one =
        "False RegionNotNormal: member demo-dc1-a-0 sees 10.97.0.1 of datacenter west as down";
    assert!(types(&world).starts_with(one), "{}", types(&world));
    goes_down(&mut world, "west-1");
    let all = "False RegionDown: all members of datacenter west are down";
    assert!(types(&world).starts_with(all), "{}", types(&world));
    assert!(world.condition("Available").starts_with("True"), "no pod of ours is less ready");
    comes_back(&mut world, "west-0");
    comes_back(&mut world, "west-1");
    assert!(types(&world).starts_with("True RegionsNormal"), "{}", types(&world));
}
