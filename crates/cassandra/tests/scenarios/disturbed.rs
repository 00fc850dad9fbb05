//! The creation of a ring, disturbed once at every write: each time the same
//! end, objects and destructive steps as undisturbed, but for what a story allows.

use crate::every::{all_end_alike, creation, in_flight, same_but, same_end, some};
use crate::sim::World;
use crate::sim::compare::{Allowed, Differs};
use crate::sim::manifests::{a_cluster, two_racks};
use palladion_plan::sim::{Fault, Feed};
use serde_json::json;

fn at_every_write(what: &str, fault: Fault, one_in: usize, from: usize) {
    let (worlds, end) = creation();
    let expected = end.end();
    let disturb = |world: &mut World| world.faults.plan(world.faults.writes(), fault);
    all_end_alike(what, some(worlds, one_in, from), &expected, disturb, |world, expected| {
        assert!(world.faults.is_over(), "the fault should have happened");
        same_end(world, expected)
    });
}

#[test]
fn the_operator_may_die_after_any_write() {
    at_every_write("the operator dies after a write", Fault::DieAfter, 1, 0);
}

#[test]
fn the_operator_may_die_before_any_write() {
    at_every_write("the operator dies before a write", Fault::DieBefore, 10, 0);
}

#[test]
fn any_answer_may_be_lost() {
    at_every_write("an answer is lost", Fault::AnswerLost, 9, 3);
}

#[test]
fn the_server_may_be_unavailable_at_any_write() {
    at_every_write("the API server is unavailable", Fault::Unavailable, 18, 1);
}

#[test]
fn a_leader_may_be_frozen_before_any_write_and_wake_up_after_its_successor_acted() {
    let (worlds, end) = creation();
    let expected = end.end();
    let freeze = |world: &mut World| {
        world.faults.plan(world.faults.writes(), Fault::Freeze);
        world.until(|w| w.faults.is_over());
        world.tell("the leader is frozen");
        world.pass(2);
        world.start_operator();
        // Time for a few writes; near the end of the history there are none left.
        world.pass(3);
        world.wake_and_end_the_old_leader();
    };
    all_end_alike("a frozen leader wakes up", some(worlds, 12, 0), &expected, freeze, same_end);
}

#[test]
fn a_leader_frozen_with_a_write_of_a_creation_in_its_hands_harms_nobody() {
    let (worlds, end) = creation();
    let what = "a creation, frozen in flight";
    all_end_alike(what, some(worlds, 3, 0), &end.end(), in_flight, same_end);
}

#[test]
fn any_feed_may_be_stale_at_any_time() {
    let (worlds, end) = creation();
    let expected = end.end();
    let mind = palladion_cassandra::CassandraMind::default();
    for (i, watch) in palladion_plan::Mind::watches(&mind).into_iter().enumerate() {
        let stale = |world: &mut World| {
            world.set_feed(watch.resource, Feed::Stale);
            world.pass(70);
            world.set_feed(watch.resource, Feed::Live);
        };
        let what = format!("{} are stale for 70 s", watch.resource.plural);
        all_end_alike(&what, some(worlds.clone(), 71, 5 * i), &expected, stale, same_end);
    }
}

#[test]
fn nothing_is_written_while_a_feed_is_known_to_be_cut() {
    let (worlds, end) = creation();
    let expected = end.end();
    let mind = palladion_cassandra::CassandraMind::default();
    for (i, watch) in palladion_plan::Mind::watches(&mind).into_iter().enumerate() {
        let cut = |world: &mut World| {
            // What was decided before may still be carried out.
            world.set_feed(watch.resource, Feed::Cut);
            world.pass(4);
            let writes = world.faults.writes();
            world.pass(20);
            assert_eq!(
                world.faults.writes(),
                writes,
                "{} are unknown\n{}",
                watch.resource.plural,
                world.last_words()
            );
            world.set_feed(watch.resource, Feed::Live);
        };
        let what = format!("{} are cut for 20 s", watch.resource.plural);
        all_end_alike(&what, some(worlds.clone(), 71, 5 * i), &expected, cut, same_end);
    }
}

#[test]
fn the_status_may_be_erased_at_any_write() {
    let (worlds, end) = creation();
    let expected = end.end();
    all_end_alike(
        "the status is erased",
        some(worlds, 6, 1),
        &expected,
        World::erase_status,
        same_end,
    );
}

#[test]
fn the_members_may_be_changed_at_any_write() {
    let wanted = a_cluster(&[("a", 2), ("b", 2)]);
    let mut straight = World::new().with(&wanted);
    straight.settle();
    let expected = straight.end();
    let (worlds, _) = creation();
    all_end_alike(
        "one member more is wanted",
        some(worlds, 14, 0),
        &expected,
        |w| w.set_racks(&wanted),
        same_end,
    );
}

#[test]
fn the_configuration_may_be_changed_at_any_write() {
    let mut wanted = two_racks();
    wanted["spec"]["config"] = json!({ "concurrent_reads": 8 });
    let mut straight = World::new().with(&wanted);
    straight.settle();
    let expected = straight.end();
    let (worlds, _) = creation();
    let change = |w: &mut World| w.patch_spec(&json!({ "config": { "concurrent_reads": 8 } }));
    let restarts = [Allowed {
        what: Differs::More("pod demo-dc1-", 1),
        why: "who had a pod by then is restarted with the change; the ring that is compared with was made with it",
    }];
    all_end_alike(
        "the configuration changes",
        some(worlds, 14, 4),
        &expected,
        change,
        same_but(&restarts),
    );
}

#[test]
fn things_may_happen_in_any_order() {
    let (_, undisturbed) = creation();
    let expected = undisturbed.end();
    let worlds: Vec<World> =
        (1..=4).map(|seed| World::new().with(&two_racks()).shuffled(seed)).collect();
    all_end_alike("another order", worlds, &expected, |_| (), same_end);
}
