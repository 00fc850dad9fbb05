//! What people want of single members: stopped, started, restarted; the last
//! wish counts, the ring serves meanwhile, and nothing is forgotten.

use crate::every::{
    a_ring, all_end_alike, before_each_write, killed_at_every_write, same_end, some,
};
use crate::nodes::{LAST, spread, spread_with};
use crate::sim::World;
use crate::sim::manifests::{NAMESPACE, a_cluster};
use crate::sim::world::cluster_key;
use palladion_api::reasons::Reason;
use palladion_cassandra::resources as kinds;
use palladion_plan::ObjectKey;
use palladion_plan::sim::kubernetes::Machine;
use serde_json::{Value, json};

const OTHER: &str = "demo-dc1-b-0";
const STOPPED: &str = "stopped, as a user requested: demo-dc1-a-1";
const SEED: &str = "demo-dc1-a-0";

fn stop(world: &mut World, member: &str) {
    world.want(member, &json!({ "run": "Stopped" }));
}

fn stop_now(world: &mut World, member: &str) {
    world.want(member, &json!({ "run": "Stopped", "when": "Now" }));
}

fn start(world: &mut World, member: &str) {
    world.want(member, &json!({ "run": "Running" }));
}

/// A ring at rest in which this member is stopped.
fn without(member: &str) -> World {
    let mut world = a_ring(2, 1);
    stop(&mut world, member);
    world.settle();
    expect_stopped(&mut world, &[member]);
    world
}

/// These members are stopped, as the status tells, all others serve, and nothing is left to do.
fn expect_stopped(world: &mut World, stopped: &[&str]) {
    for member in world.members() {
        let is_stopped = stopped.contains(&member.as_str());
        assert_eq!(world.runs(&member), !is_stopped, "{member}\n{}", world.last_words());
        assert_eq!(spec(world, &member, "run") == "Stopped", is_stopped, "{member}");
        assert!(world.exists(kinds::POD, &member), "its pod stays: {member}");
    }
    let names = stopped.join(", ").replace(", ", " and ");
    let says = |type_: &str| world.condition(type_);
    let degraded = says("Degraded");
    assert!(degraded.starts_with("True StoppedByIntent"), "{degraded}\n{}", world.last_words());
    assert!(says("Progressing").starts_with("False StoppedByIntent"), "{}", says("Progressing"));
    assert!(degraded.contains(&names), "{degraded}");
    assert_eq!(world.unmet(), Vec::<String>::new(), "{}", world.last_words());
    assert_eq!(world.end().status["turn"], Value::Null, "{}", world.last_words());
    world.expect_rest();
}

fn spec(world: &World, member: &str, field: &str) -> Value {
    let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, member);
    world.store.get(&key).map(|m| m["spec"][field].clone()).unwrap_or_default()
}

fn count(world: &World, words: &str) -> usize {
    world.story.iter().filter(|line| line.contains(words)).count()
}

#[test]
fn a_member_is_stopped_and_started_while_the_ring_serves() {
    let mut world = World::new();
    world.ring.copies = 3;
    let mut world = spread_with(world, 2, 1);
    stop(&mut world, LAST);
    let mut stopped = killed_at_every_write("a member is stopped", world, 1);
    expect_stopped(&mut stopped, &[LAST]);
    assert_eq!(stopped.write(5), 5, "two of three copies acknowledge");
    let available = stopped.condition("Available");
    assert_eq!(available, "True Running: 2 of 3 members are ready");
    assert_eq!(count(&stopped, "stops its server: SpecSaysSo"), 1);
    start(&mut stopped, LAST);
    let mut end = killed_at_every_write("a stopped member is started", stopped, 1);
    end.expect_ring(3);
    assert_eq!(end.unmet(), Vec::<String>::new());
    insta::assert_snapshot!(end.story.join("\n"));
}

#[test]
fn a_wish_that_is_taken_away_starts_nobody() {
    let mut world = without(LAST);
    world.want(LAST, &Value::Null);
    world.settle();
    expect_stopped(&mut world, &[LAST]);
    start(&mut world, LAST);
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_stop_waits_while_another_member_is_down_and_now_does_not() {
    let mut world = spread(2, 1);
    let node = world.node_of(OTHER);
    world.set_machine(&node, Machine::Down);
    world.pass(120);
    stop(&mut world, LAST);
    world.pass(600);
    assert!(world.runs(LAST), "{}", world.last_words());
    assert_eq!(world.unmet(), [format!("{LAST} run: Stopped MemberStopping")]);
    assert!(world.waits().contains("set `spec.wanted.when`"), "{}", world.waits());
    stop_now(&mut world, LAST);
    world.pass(60);
    assert!(!world.runs(LAST), "{}", world.last_words());
    assert_eq!(world.unmet(), Vec::<String>::new());
    assert_eq!(count(&world, "without regard to other members"), 1, "an event warns");
    world.set_machine(&node, Machine::Up);
    world.settle();
    expect_stopped(&mut world, &[LAST]);
}

#[test]
fn a_stop_that_waits_goes_on_when_the_other_member_is_back() {
    let mut world = spread(2, 1);
    let node = world.node_of(OTHER);
    world.set_machine(&node, Machine::Down);
    world.pass(120);
    stop(&mut world, LAST);
    world.pass(120);
    world.set_machine(&node, Machine::Up);
    world.settle();
    expect_stopped(&mut world, &[LAST]);
}

#[test]
fn a_member_may_go_down_at_any_write_of_a_stop() {
    let mut world = spread(2, 1);
    stop(&mut world, LAST);
    let (worlds, end) = before_each_write(world);
    let disturb = |world: &mut World| {
        let node = world.node_of(OTHER);
        world.set_machine(&node, Machine::Down);
        world.pass(200);
        world.set_machine(&node, Machine::Up);
    };
    all_end_alike("a member is down in a stop", worlds, &end.end(), disturb, same_end);
}

#[test]
fn of_two_members_the_second_is_stopped_only_when_people_insist() {
    let mut world = a_ring(2, 1);
    stop(&mut world, LAST);
    stop(&mut world, OTHER);
    world.settle();
    let stopped: Vec<&str> = [LAST, OTHER].into_iter().filter(|m| !world.runs(m)).collect();
    assert_eq!(stopped.len(), 1, "{}", world.last_words());
    let waits = if stopped == [LAST] { OTHER } else { LAST };
    assert_eq!(world.unmet(), [format!("{waits} run: Stopped MemberStopping")]);
    assert!(world.waits().contains("is stopped, as a user requested"), "{}", world.waits());
    stop_now(&mut world, waits);
    world.settle();
    expect_stopped(&mut world, &[LAST, OTHER]);
    assert_eq!(world.condition("Available"), "False MembersDown: 1 of 3 members are ready");
    for member in [LAST, OTHER] {
        start(&mut world, member);
    }
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_stop_of_a_member_whose_volume_is_not_mounted_ends_and_holds_up_nobody() {
    let mut world = a_ring(2, 1);
    world.delete(kinds::POD, LAST);
    world.unmount(LAST);
    world.settle();
    assert!(!world.runs(LAST), "{}", world.last_words());
    stop(&mut world, LAST);
    world.settle();
    assert_eq!(spec(&world, LAST, "run"), "Stopped", "{}", world.last_words());
    let cluster = world.store.get(&cluster_key()).expect("the cluster");
    assert_eq!(cluster["status"]["turn"], Value::Null, "{}", world.last_words());
    assert_eq!(world.unmet(), Vec::<String>::new());
}

#[test]
fn the_last_wish_counts_whenever_it_comes() {
    let mut world = a_ring(2, 1);
    stop(&mut world, LAST);
    let (worlds, _) = before_each_write(world);
    let running = a_ring(2, 1).end();
    let change = |world: &mut World| start(world, LAST);
    all_end_alike("a stop that is taken back", worlds, &running, change, same_end);
    let mut world = without(LAST);
    let stopped = world.end();
    start(&mut world, LAST);
    let (worlds, _) = before_each_write(world);
    let change = |world: &mut World| stop(world, LAST);
    all_end_alike("a start that is taken back", worlds, &stopped, change, same_end);
}

#[test]
fn a_restart_token_of_a_stopped_member_is_only_recorded() {
    let mut world = without(LAST);
    world.want(LAST, &json!({ "restartToken": "tonight" }));
    world.settle();
    expect_stopped(&mut world, &[LAST]);
    assert!(spec(&world, LAST, "restartToken").is_string(), "it is recorded");
    start(&mut world, LAST);
    world.settle();
    world.expect_ring(3);
    assert_eq!(count(&world, "stops its server: Restart"), 0, "{}", world.last_words());
    assert_eq!(count(&world, &format!("{LAST} starts its server")), 1);
}

/// The other one waits for the member, and not the other way round.
#[test]
fn a_restart_token_of_a_stopped_member_is_recorded_while_one_that_never_joined_waits_to_go() {
    let mut world = without(LAST);
    for a in [3, 2] {
        world.set_racks(&a_cluster(&[("a", a), ("b", 1)]));
        world.pass(60);
    }
    assert!(world.waits().contains("cannot leave yet"), "{}", world.waits());
    world.want(LAST, &json!({ "restartToken": "tonight" }));
    world.pass(60);
    assert!(spec(&world, LAST, "restartToken").is_string(), "{:?}", world.unmet());
    assert!(!world.runs(LAST), "it stays stopped");
    start(&mut world, LAST);
    world.settle();
    world.expect_ring(3);
    assert_eq!(count(&world, &format!("{LAST} starts its server")), 1);
}

#[test]
fn a_restart_token_restarts_one_member_once_and_wins_over_the_annotation() {
    let mut world = a_ring(2, 1);
    world.want(LAST, &json!({ "restartToken": "1" }));
    let mut world = killed_at_every_write("a member is restarted", world, 1);
    world.expect_ring(3);
    let restarts = |world: &World| count(world, "stops its server: Restart");
    assert_eq!(restarts(&world), 1, "{}", world.last_words());
    assert_eq!(spec(&world, LAST, "run"), "Running");
    let key = ObjectKey::new(kinds::MEMBER, NAMESPACE, LAST);
    let annotated = json!({ "metadata": { "annotations": { "palladion.dev/restart": "2" } } });
    world.store.merge(&key, &annotated, palladion_plan::Subresource::None).unwrap();
    world.settle();
    assert_eq!(restarts(&world), 1, "the wish wins\n{}", world.last_words());
    world.want(LAST, &json!({ "restartToken": "3" }));
    world.settle();
    assert_eq!(restarts(&world), 2);
    world.expect_ring(3);
}

/// What the operator waits for while a member is stopped.
fn held_up(what: &str, change: impl Fn(&mut World), members: usize) {
    let mut world = without(LAST);
    change(&mut world);
    world.settle();
    let waits = world.waits();
    assert!(waits.contains("StoppedByIntent") && waits.contains(LAST), "{what}: {waits}");
    assert_eq!(world.normal(), 2, "{what}: {}", world.last_words());
    start(&mut world, LAST);
    world.settle();
    world.expect_ring(members);
}

#[test]
fn a_stopped_member_holds_up_joins_leaves_and_rollouts_and_says_so() {
    held_up("growth", |w| w.set_racks(&a_cluster(&[("a", 3), ("b", 1)])), 4);
    held_up("shrink", |w| w.set_racks(&a_cluster(&[("a", 1), ("b", 1)])), 2);
    let config = json!({ "config": { "concurrent_reads": 8 } });
    held_up("rollout", |w| w.patch_spec(&config), 3);
    held_up("restart", |w| w.patch_spec(&json!({ "restartToken": "all" })), 3);
}

#[test]
fn a_member_that_joins_is_stopped_after_that() {
    for when in ["RingIsWell", "Now"] {
        let mut world = a_ring(2, 1);
        world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
        let joiner = "demo-dc1-a-2";
        world.until(|w| w.exists(kinds::MEMBER, joiner) && w.runs(joiner));
        world.want(joiner, &json!({ "run": "Stopped", "when": when }));
        world.settle();
        assert_eq!(world.ring.full_members(), 4, "it has joined\n{}", world.last_words());
        assert!(!world.runs(joiner), "{}", world.last_words());
        let waits = world.waits();
        assert!(waits.contains("is postponed: member demo-dc1-a-2 is stopped"), "{waits}");
        start(&mut world, joiner);
        world.settle();
        world.expect_ring(4);
    }
}

#[test]
fn a_member_that_leaves_is_gone_whatever_people_want_of_it() {
    let mut world = a_ring(2, 1);
    world.set_racks(&a_cluster(&[("a", 1), ("b", 1)]));
    world.until(|w| !spec(w, LAST, "intent").is_null());
    stop_now(&mut world, LAST);
    world.settle();
    world.expect_ring(2);
}

#[test]
fn a_member_that_was_stopped_stays_so_when_its_pod_restarts_without_the_api_server() {
    let mut world = without(LAST);
    world.power_cut();
    world.settle();
    assert_eq!(world.normal(), 2, "{}", world.last_words());
    assert!(!world.runs(LAST), "the spec beside its ledger says so\n{}", world.last_words());
    world.api_returns();
    world.settle();
    expect_stopped(&mut world, &[LAST]);
    world.delete(kinds::POD, LAST);
    world.settle();
    expect_stopped(&mut world, &[LAST]);
}

#[test]
fn a_member_stays_stopped_when_the_whole_ring_is_stopped_and_started() {
    let mut world = without(LAST);
    world.patch_spec(&json!({ "run": "Stopped" }));
    world.settle();
    assert!(world.names(kinds::POD).is_empty(), "{}", world.last_words());
    start(&mut world, OTHER);
    world.want(SEED, &json!({ "run": "Stopped" }));
    world.settle();
    assert!(world.names(kinds::POD).is_empty(), "the ring stands above");
    assert_eq!(world.unmet(), [format!("{SEED} run: Stopped Stopped")]);
    world.want(SEED, &Value::Null);
    world.patch_spec(&json!({ "run": "Running" }));
    world.settle();
    expect_stopped(&mut world, &[LAST]);
}

#[test]
fn a_stop_waits_for_the_agent_that_must_carry_it_out() {
    let mut world = spread(2, 1);
    let node = world.node_of(LAST);
    world.set_machine(&node, Machine::Down);
    world.pass(120);
    stop(&mut world, LAST);
    world.pass(120);
    assert_eq!(spec(&world, LAST, "run"), "Running", "{}", world.last_words());
    world.set_machine(&node, Machine::Up);
    world.settle();
    expect_stopped(&mut world, &[LAST]);
}

#[test]
fn a_machine_that_ends_in_a_stop_holds_up_nobody() {
    let mut world = spread(2, 1);
    stop(&mut world, LAST);
    world.until(|w| spec(w, LAST, "run") == "Stopped");
    let node = world.node_of(LAST);
    world.set_machine(&node, Machine::Down);
    world.pass(600);
    assert_eq!(world.end().status["turn"], Value::Null, "{}", world.last_words());
    world.set_machine(&node, Machine::Up);
    world.settle();
    expect_stopped(&mut world, &[LAST]);
}

#[test]
fn a_stopped_member_whose_machine_is_lost_is_replaced_and_stopped_again() {
    let mut world = spread(2, 1);
    world.patch_spec(&json!({ "nodeGoneGraceSeconds": 0 }));
    stop(&mut world, LAST);
    world.settle();
    expect_stopped(&mut world, &[LAST]);
    let node = world.node_of(LAST);
    world.lose_node(&node);
    world.settle();
    assert_eq!(world.ring.full_members(), 3, "{}", world.last_words());
    assert!(!world.runs(LAST), "{}", world.last_words());
    let degraded = world.condition("Degraded");
    assert!(degraded.contains(STOPPED), "{degraded}");
    assert!(world.waits().contains("the repair of member"), "{}", world.waits());
    start(&mut world, LAST);
    world.settle();
    world.expect_ring(3);
}

#[test]
fn a_start_waits_for_a_seed_and_for_the_grace_time() {
    let mut world = a_ring(3, 1);
    world.patch_spec(&json!({ "seedsPerRack": 1, "bootstrapGraceSeconds": 300 }));
    world.settle();
    let all = [SEED, LAST, "demo-dc1-a-2", OTHER];
    for member in all {
        stop_now(&mut world, member);
    }
    world.settle();
    assert_eq!(world.normal(), 0, "{}", world.last_words());
    start(&mut world, LAST);
    world.settle();
    assert_eq!(world.unmet(), [format!("{LAST} run: Running MemberStarting")]);
    for member in [OTHER, SEED, "demo-dc1-a-2"] {
        start(&mut world, member);
    }
    world.until(|w| w.normal() == 1);
    assert!(world.runs(SEED) || world.runs(OTHER), "a seed first\n{}", world.last_words());
    let first = world.clock();
    world.until(|w| w.normal() == 2);
    assert!(world.clock() - first > 200, "not before the grace time has passed");
    world.settle();
    world.expect_ring(4);
}

#[test]
fn a_start_that_fails_holds_up_nobody_and_can_be_taken_back() {
    for setting in ["broken_setting", "hanging_setting"] {
        let mut world = without(LAST);
        world.patch_spec(&json!({ "config": { setting: 1 } }));
        world.settle();
        // The pod of the stopped member is recreated with the broken configuration.
        world.delete(kinds::POD, LAST);
        world.settle();
        start(&mut world, LAST);
        world.pass(900);
        assert_eq!(world.normal(), 2, "{}", world.last_words());
        stop(&mut world, LAST);
        world.pass(900);
        assert!(!world.runs(LAST), "{setting}\n{}", world.last_words());
        world.patch_spec(&json!({ "config": { setting: null } }));
        start(&mut world, LAST);
        world.settle();
        world.expect_ring(3);
    }
}

#[test]
fn two_leaders_stop_nobody_whom_people_want_to_run_again() {
    let mut world = a_ring(2, 1);
    stop(&mut world, LAST);
    let (worlds, _) = before_each_write(world);
    for mut world in some(worlds, 1, 0) {
        world.faults.plan(world.faults.writes(), palladion_plan::sim::Fault::Freeze);
        if !world.comes_to(|w| w.faults.is_over()) {
            continue;
        }
        start(&mut world, LAST);
        world.start_operator();
        world.pass(30);
        world.wake_and_end_the_old_leader();
        world.settle();
        world.expect_ring(3);
    }
}

/// The seeds that each member's record has.
fn seed_lists(world: &World) -> Vec<Vec<Value>> {
    let members = world.members();
    let lists = members.iter().map(|m| spec(world, m, "seeds").as_array().cloned());
    lists.map(Option::unwrap_or_default).collect()
}

fn address(world: &World, member: &str) -> Value {
    spec(world, member, "address")
}

#[test]
fn people_choose_seeds_without_a_restart() {
    let mut world = a_ring(2, 1);
    world.patch_spec(&json!({ "seedsPerRack": 1 }));
    world.settle();
    let has = |world: &World, member: &str| {
        let address = address(world, member);
        seed_lists(world).iter().filter(|seeds| seeds.contains(&address)).count()
    };
    assert_eq!([SEED, OTHER, LAST].map(|m| has(&world, m)), [3, 3, 0]);
    world.want(LAST, &json!({ "seed": "Always" }));
    world.want(SEED, &json!({ "seed": "Never" }));
    let mut world = killed_at_every_write("seeds are chosen", world, 1);
    assert_eq!([SEED, OTHER, LAST].map(|m| has(&world, m)), [0, 3, 3]);
    assert_eq!(count(&world, "stops its server"), 0, "{}", world.last_words());
    world.expect_ring(3);
    // The last seed that is up stays one.
    world.want(LAST, &json!({ "seed": "Auto" }));
    world.want(OTHER, &json!({ "seed": "Never" }));
    world.settle();
    assert_eq!(world.unmet(), [format!("{OTHER} seed: Never {}", Reason::LastSeed)]);
    assert_eq!([SEED, OTHER, LAST].map(|m| has(&world, m)), [0, 3, 0]);
    world.want(LAST, &json!({ "seed": "Always" }));
    world.settle();
    assert_eq!([SEED, OTHER, LAST].map(|m| has(&world, m)), [0, 0, 3]);
    world.expect_ring(3);
    // Nobody chooses by who is up: without power all stay what they were.
    world.power_cut();
    world.api_returns();
    world.settle();
    assert_eq!([SEED, OTHER, LAST].map(|m| has(&world, m)), [0, 0, 3]);
    world.expect_ring(3);
}

#[test]
fn before_the_ring_is_there_nobody_is_a_seed() {
    let mut world = World::new().with(&a_cluster(&[("a", 2), ("b", 1)]));
    world.until(|w| w.exists(kinds::MEMBER, LAST));
    world.want(LAST, &json!({ "seed": "Always" }));
    let told = [format!("{LAST} seed: Always {}", Reason::SeedsNotComplete)];
    world.until(|w| w.unmet() == told);
    world.settle();
    assert_eq!(world.unmet(), Vec::<String>::new());
    world.expect_ring(3);
}
