//! How far a permission of a user goes: for the queues and the node that were shown, and
//! once.

use super::volume::Kind;
use super::world::World;
use palladion_api::labels;
use serde_json::json;

impl World {
    /// A user allows what is asked, and gives these queues up.
    fn allow(&mut self, queues: &[&str]) {
        let nonce = self.nonce();
        self.rabbit.allowed_to_go.extend(queues.iter().map(ToString::to_string));
        self.annotate_cluster(labels::ALLOW_FORGET, &nonce);
    }

    /// A client declares a queue anew under a name that was given up once.
    fn declare_anew(&mut self, queue: &str, kind: Kind, on: &[i32]) {
        self.rabbit.allowed_to_go.remove(queue);
        self.rabbit.confirmed.remove(queue);
        self.declare_on(queue, kind, on);
        self.pass(2);
    }
}

/// The annotation stays on the object, and the node has the same name in every life of its
/// member.
#[test]
fn a_permission_that_was_used_allows_no_second_leave() {
    let mut world = World::settled(3);
    world.declare_on("invoices", Kind::Classic, &[2]);
    world.pass(2);
    world.patch_spec(&json!({ "nodes": 1 }));
    world.pass(60);
    let first = world.nonce();
    world.allow(&["invoices"]);
    world.settle();
    world.expect(1);
    world.patch_spec(&json!({ "nodes": 3 }));
    world.settle();
    world.expect(3);
    world.declare_anew("invoices", Kind::Classic, &[2]);
    world.patch_spec(&json!({ "nodes": 1 }));
    world.pass(120);
    assert_eq!(world.rabbit.running().len(), 3, "{}", world.last_words());
    assert_ne!(world.nonce(), first);
}

/// The leave was called off before its time: the permission was for that one.
#[test]
fn a_permission_ends_with_the_change_that_it_was_given_for() {
    let mut world = World::settled(3);
    world.declare_on("invoices", Kind::Classic, &[2]);
    world.pass(2);
    world.patch_spec(&json!({ "nodes": 1 }));
    world.pass(60);
    let nonce = world.nonce();
    world.patch_spec(&json!({ "nodes": 3 }));
    world.settle();
    world.annotate_cluster(labels::ALLOW_FORGET, &nonce);
    world.patch_spec(&json!({ "nodes": 1 }));
    world.pass(120);
    assert_eq!(world.rabbit.running().len(), 3, "{}", world.last_words());
}

#[test]
fn a_permission_that_was_used_allows_no_second_replacement() {
    let mut world = World::settled(5);
    world.declare_on("payments", Kind::Quorum, &[3, 4]);
    world.pass(2);
    world.wipe(4);
    world.pass(120);
    world.allow(&["payments"]);
    world.pass(300);
    world.delete_queue("payments");
    world.settle();
    world.expect(5);
    world.declare_anew("payments", Kind::Quorum, &[3, 4]);
    world.wipe(4);
    world.pass(300);
    let said = world.condition("Degraded");
    assert!(said.starts_with("True QueuesWouldLoseQuorum"), "{said}\n{}", world.last_words());
}

/// More queues than are listed by name: the nonce covers all of them.
#[test]
fn a_queue_that_is_not_shown_is_not_exchanged_under_the_same_nonce() {
    let mut world = World::settled(3);
    let names: Vec<String> = (0..25).map(|n| format!("invoices-{n:02}")).collect();
    for name in &names {
        world.declare_on(name, Kind::Classic, &[2]);
    }
    world.pass(2);
    world.patch_spec(&json!({ "nodes": 1 }));
    world.pass(60);
    let shown: Vec<&str> = names.iter().map(String::as_str).collect();
    world.delete_queue("invoices-24");
    world.declare_on("receipts", Kind::Classic, &[2]);
    world.allow(&shown);
    world.pass(120);
    assert_eq!(world.rabbit.running().len(), 3, "{}", world.last_words());
    assert_eq!(world.replicas("receipts"), [2]);
}

/// A message that is too long to be stored would be refused with the whole status.
#[test]
fn names_of_queues_of_any_length_leave_the_nonce_and_the_command_whole() {
    let mut world = World::settled(3);
    for n in 0..25 {
        world.declare_on(&format!("{n:02}-{}", "invoices-".repeat(28)), Kind::Classic, &[2]);
    }
    world.pass(2);
    world.patch_spec(&json!({ "nodes": 1 }));
    world.pass(120);
    let nonce = world.nonce();
    let message = world.status()["ask"]["message"].as_str().unwrap_or_default().to_string();
    assert!(message.contains("25 queues (00-invoices-"), "{message}");
    assert!(message.ends_with(&format!("{}={nonce}`", labels::ALLOW_FORGET)), "{message}");
    let said = world.condition("Degraded");
    assert!(said.starts_with("True QueuesWouldBeLost"), "{said}");
}
