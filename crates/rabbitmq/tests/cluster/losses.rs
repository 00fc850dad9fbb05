//! Volumes that are lost, nodes that are away, disks that come back.

use super::acts::{node, pod};
use super::volume::Kind;
use super::world::World;
use palladion_plan::sim::kubernetes::Machine;
use palladion_rabbitmq::resources as kinds;
use serde_json::json;

/// rabbitmq/rabbitmq-server#2414: there a node was forgotten and stayed in its queues.
#[test]
fn a_wiped_node_is_taken_out_of_its_queues_forgotten_and_joins_as_new() {
    let mut world = World::settled(3);
    let old = world.member(1)["spec"]["volumeID"].clone();
    world.wipe(1);
    world.settle();
    world.expect(3);
    assert_ne!(world.member(1)["spec"]["volumeID"], old);
    assert_eq!(world.member(1)["spec"]["replace"], json!(null));
    assert_eq!(world.replicas("orders"), [0, 1, 2]);
    let told = |what: &str| world.story.iter().position(|line| line.contains(what));
    let (moved, forgotten) = (told("MoveReplicas Some"), told("Forget Some"));
    assert!(moved < forgotten && moved.is_some(), "replicas first: {}", world.last_words());
    let deleted = told("operator: delete PersistentVolumeClaim data-demo-rmq-1");
    assert!(forgotten < deleted, "{}", world.last_words());
}

/// The usual recipe for a lost volume, before the operator has asked all others: the set
/// creates another claim, and the queues that name the old node have a majority without it.
#[test]
fn a_claim_that_a_person_deletes_before_the_node_is_out_of_its_queues_holds_up_nothing() {
    let mut world = World::settled(3);
    let old = world.member(1)["spec"]["volumeID"].clone();
    world.wipe(1);
    world.until(|w| w.status()["turn"]["step"] == "Replace");
    world.absent.insert(pod(2));
    world.delete(kinds::CLAIM, &format!("data-{}", pod(1)));
    world.delete(kinds::POD, &pod(1));
    world.until(|w| {
        let volume = w.member(1)["status"]["volume"].clone();
        volume["state"] == "Empty" && volume["volumeID"] != old
    });
    assert_eq!(world.replicas("orders"), [0, 1, 2], "nothing was moved yet");
    world.absent.clear();
    world.settle();
    world.expect(3);
    assert_eq!(world.replicas("orders"), [0, 1, 2]);
}

/// RabbitMQ gives a stream a replica on each node, and a user may grow a queue to all of them.
/// With each loss one of five copies would go.
#[test]
fn a_replacement_gives_queues_back_as_many_replicas_as_they_had() {
    let mut world = World::settled(5);
    let all: Vec<String> = (0..5).map(node).collect();
    for (queue, kind) in [("log", Kind::Stream), ("grown", Kind::Quorum)] {
        world.rabbit.declare(queue, kind, &all, 3, &mut world.kube.disks);
    }
    world.pass(2);
    for lost in [4, 1] {
        world.wipe(lost);
        world.settle();
        world.expect(5);
        for queue in ["log", "grown"] {
            assert_eq!(world.replicas(queue), [0, 1, 2, 3, 4], "{}", world.last_words());
        }
        assert_eq!(world.replicas("orders").len(), 3, "never all: {}", world.last_words());
    }
    world.patch_spec(&json!({ "nodes": 3 }));
    world.settle();
    world.expect(3);
    for queue in ["log", "grown", "orders"] {
        assert_eq!(world.replicas(queue), [0, 1, 2], "{}", world.last_words());
    }
}

/// Two of them at once: the second one counts until it is its turn.
#[test]
fn replacements_of_two_nodes_give_queues_back_as_many_replicas_as_they_had() {
    let mut world = World::settled(5);
    let all: Vec<String> = (0..5).map(node).collect();
    world.rabbit.declare("grown", Kind::Quorum, &all, 3, &mut world.kube.disks);
    world.pass(2);
    world.wipe(4);
    world.wipe(1);
    world.settle();
    world.expect(5);
    assert_eq!(world.replicas("grown"), [0, 1, 2, 3, 4], "{}", world.last_words());
}

#[test]
fn a_node_that_has_lost_a_part_of_its_data_is_replaced() {
    let mut world = World::settled(3);
    world.lose_data(2);
    world.settle();
    world.expect(3);
    assert_eq!(world.replicas("orders"), [0, 1, 2]);
}

/// The history that loses confirmed messages where empty nodes find their peers: some are
/// known to A and B alone; A goes down; B is wiped; B and C start. Here nobody goes on: A
/// and C wait for the tables of B, which ran last. A person who knows that A has all has it
/// boot.
#[test]
fn a_node_that_is_wiped_while_another_is_down_has_no_vote() {
    let mut world = World::settled(3);
    world.wipe_the_only_other_one_that_knows();
    world.pass(300);
    assert!(world.rabbit.running().is_empty(), "{}", world.last_words());
    assert!(world.condition("Available").starts_with("False QuorumLost"));
    world.kube.set_machine(&mut world.store, "n1", Machine::Up);
    world.settle();
    world.expect(3);
}

/// Its other replica is on a node that is down: taken out now, it would never be repaired.
#[test]
fn a_replacement_waits_until_each_queue_has_a_majority_elsewhere() {
    let mut world = World::settled(5);
    world.declare_on("payments", Kind::Quorum, &[3, 4]);
    world.pass(2);
    world.wipe(4);
    world.pass(120);
    let said = world.condition("Degraded");
    assert!(said.contains("QueuesWouldLoseQuorum"), "{said}");
    assert!(said.contains("payments"), "{said}");
    assert!(world.exists(kinds::CLAIM, &format!("data-{}", pod(4))), "nothing is taken");
    assert_eq!(world.replicas("payments"), [3, 4]);
}

#[test]
fn where_a_majority_is_wiped_nothing_is_changed_and_it_is_said() {
    let mut world = World::settled(3);
    world.wipe(0);
    world.wipe(1);
    world.settle();
    for ordinal in 0..3 {
        assert!(
            world.exists(kinds::CLAIM, &format!("data-{}", pod(ordinal))),
            "nothing is deleted"
        );
    }
    assert!(world.condition("Available").starts_with("False QuorumLost"));
    let said = world.condition("Degraded");
    assert!(said.contains("demo-rmq-0") && said.contains("no node is forced"), "{said}");
    assert_eq!(world.rabbit.begun, 1);
}

/// rabbitmq/cluster-operator#609: there each waited to be ready before the next was started,
/// and for tables of one that was not.
#[test]
fn all_nodes_come_back_by_themselves_when_all_have_been_down() {
    let mut world = World::settled(3);
    for ordinal in 0..3 {
        world.delete(kinds::POD, &pod(ordinal));
    }
    world.settle();
    world.expect(3);
    assert_eq!(world.rabbit.begun, 1);
}

/// The operator is away, too: nobody has to permit anything.
#[test]
fn a_cold_start_needs_no_operator() {
    let mut world = World::settled(3);
    world.operators.clear();
    for ordinal in 0..3 {
        world.kill(ordinal);
    }
    for _ in 0..100 {
        world.round_without_operator();
    }
    assert_eq!(world.rabbit.running().len(), 3, "{}", world.last_words());
}

/// The last one that ran has the newest tables: the others wait, and say for whom.
#[test]
fn nodes_wait_for_the_tables_of_one_that_is_away_and_are_not_forced() {
    let mut world = World::settled(3);
    for ordinal in 0..3 {
        world.kill(ordinal);
    }
    world.kube.set_machine(&mut world.store, "n3", Machine::Down);
    world.pass(300);
    assert!(world.rabbit.running().is_empty(), "{}", world.last_words());
    let said = world.condition("Degraded");
    assert!(said.contains("WaitingForTables") || said.contains("NodeUnreachable"), "{said}");
    world.kube.set_machine(&mut world.store, "n3", Machine::Up);
    world.settle();
    world.expect(3);
}

#[test]
fn an_old_disk_that_comes_back_serves_nobody() {
    let mut world = World::settled(3);
    let old = world.disk(1).content.clone();
    world.wipe(1);
    world.settle();
    world.expect(3);
    let new = std::mem::replace(&mut world.disk(1).content, old);
    world.delete(kinds::POD, &pod(1));
    world.pass(120);
    assert_eq!(world.rabbit.nodes.len(), 2, "{}", world.last_words());
    world.disk(1).content = new;
    world.settle();
    world.expect(3);
}

#[test]
fn an_old_copy_of_a_volume_is_not_started_and_is_replaced_when_a_user_says_so() {
    let mut world = World::settled(3);
    let copy = world.disk(1).content.clone();
    world.delete(kinds::POD, &pod(1));
    world.settle();
    world.expect(3);
    world.disk(1).content = copy;
    world.delete(kinds::POD, &pod(1));
    world.settle();
    assert_eq!(world.rabbit.nodes.len(), 2, "{}", world.last_words());
    let said = world.condition("Degraded");
    assert!(said.starts_with("True VolumeRolledBack: member demo-rmq-1"), "{said}");
    world.give_up_volume(1);
    world.settle();
    world.expect(3);
}

#[test]
fn a_lost_leaver_leaves_and_nobody_takes_its_place() {
    let mut world = World::settled(5);
    world.wipe(4);
    world.patch_spec(&json!({ "nodes": 3 }));
    world.settle();
    world.expect(3);
}

/// Growth is under way when a member is lost: its replacement comes first.
#[test]
fn a_loss_comes_before_a_join() {
    let mut world = World::settled(3);
    world.patch_spec(&json!({ "nodes": 5 }));
    world.until(|w| w.status()["turn"]["step"] == "Join");
    world.wipe(0);
    world.settle();
    world.expect(5);
}

/// No agent starts a second node, whatever it finds.
#[test]
fn a_loss_while_replicas_are_moved_is_brought_to_its_end() {
    let mut world = World::settled(5);
    world.declare_on("payments", Kind::Quorum, &[2, 3, 4]);
    world.patch_spec(&json!({ "nodes": 3 }));
    world.until(|w| w.status()["turn"]["step"] == "Leave");
    world.wipe(1);
    world.settle();
    world.expect(3);
    assert_eq!(world.replicas("payments").len(), 3);
}

/// Its machine was away when the others forgot it: its ledger never heard of it.
#[test]
fn an_old_disk_of_a_member_that_has_left_joins_as_new() {
    let mut world = World::settled(5);
    let old = world.disk(4).content.clone();
    world.patch_spec(&json!({ "nodes": 3 }));
    world.settle();
    world.expect(3);
    world.disk(4).content = old;
    world.patch_spec(&json!({ "nodes": 5 }));
    world.settle();
    world.expect(5);
}

/// Its management API hangs, and it serves all the same: the others see it run.
#[test]
fn a_node_whose_api_hangs_is_not_ended_while_a_queue_needs_it() {
    let mut world = World::settled(3);
    world.declare_on("pairs", Kind::Quorum, &[0, 2]);
    world.pass(2);
    world.hangs.insert(pod(2));
    world.pass(30);
    world.patch_spec(&json!({ "config": { "net_ticktime": "30" } }));
    world.pass(120);
    assert_eq!(world.rabbit.running().len(), 3, "{}", world.last_words());
    let said = world.condition("Progressing");
    assert!(said.starts_with("True WaitingForQueues: member demo-rmq-2"), "{said}");
    world.delete_queue("pairs");
    world.settle();
    world.hangs.clear();
    world.settle();
    world.expect(3);
}

#[test]
fn a_volume_is_not_given_up_while_the_others_see_its_node_run() {
    let mut world = World::settled(3);
    world.hangs.insert(pod(2));
    world.pass(30);
    world.give_up_volume(2);
    world.pass(60);
    assert_eq!(world.member(2)["spec"]["replace"], json!(null), "{}", world.last_words());
    let said = world.condition("Degraded");
    assert!(said.contains("ReplaceRefused") || said.contains("demo-rmq-2 serves"), "{said}");
    world.kill(2);
    world.unlucky.insert(pod(2));
    world.hangs.clear();
    world.until(|w| w.member(2)["spec"]["replace"].is_object());
}
