//! The first start where records are lost: nothing that may be an older ring is
//! looked past, and permission covers what it names (safety rule 2.4).

use crate::every::a_ring;
use crate::guards::forget_all_records;
use crate::sim::World;
use crate::sim::manifests::a_cluster;
use palladion_cassandra::resources as kinds;
use palladion_plan::sim::kubernetes::Machine;

/// The nonce in the command that a message shows.
pub fn shown_nonce(message: &str) -> String {
    let (_, from) = message.split_once("allow-initialization=").unwrap_or_default();
    from.split('`').next().unwrap_or_default().to_string()
}

/// Give the permission that is asked for.
fn allow(world: &mut World) {
    let degraded = world.condition("Degraded");
    assert!(degraded.contains("InitializationRefused"), "{degraded}\n{}", world.last_words());
    let nonce = shown_nonce(&degraded);
    world.annotate_cluster("palladion.dev/allow-initialization", &nonce);
}

#[test]
fn data_on_a_claim_without_labels_is_seen_before_a_ring_is_initialized() {
    let mut world = a_ring(1, 1);
    forget_all_records(&mut world);
    world.wipe_volume("demo-dc1-a-0");
    world.lose_ledger("demo-dc1-b-0");
    world.unlabel_claim("demo-dc1-b-0");
    world.apply(&a_cluster(&[("a", 1), ("b", 1)]));
    world.settle();
    assert_eq!(world.ring.founders.len(), 1, "{}", world.last_words());
    let degraded = world.condition("Degraded");
    assert!(
        degraded.contains("InitializationRefused") && degraded.contains("demo-dc1-b-0"),
        "{degraded}"
    );
}

#[test]
fn a_member_whose_claim_has_no_labels_is_waited_for_before_a_ring_is_initialized() {
    let mut world = World::new();
    for node in ["n4", "n5"] {
        world.register_node(node, "z1");
    }
    let mut world = world.with(&a_cluster(&[("a", 3), ("b", 1)]));
    world.settle();
    let node = world.node_of("demo-dc1-a-2");
    forget_all_records(&mut world);
    for member in ["demo-dc1-a-0", "demo-dc1-a-1", "demo-dc1-b-0"] {
        world.wipe_volume(member);
    }
    world.unlabel_claim("demo-dc1-a-2");
    world.set_machine(&node, Machine::Down);
    world.apply(&a_cluster(&[("a", 3), ("b", 1)]));
    world.settle();
    assert_eq!(world.ring.founders.len(), 1, "{}", world.last_words());
    world.set_machine(&node, Machine::Up);
    world.settle();
    assert_eq!(world.ring.founders.len(), 1, "{}", world.last_words());
}

#[test]
fn permission_that_names_one_volume_keeps_another_on_which_the_ring_was_begun() {
    let mut world = a_ring(2, 1);
    forget_all_records(&mut world);
    world.wipe_volume("demo-dc1-a-0");
    world.wipe_volume("demo-dc1-a-1");
    world.lose_ledger("demo-dc1-b-0");
    world.apply(&a_cluster(&[("a", 2), ("b", 1)]));
    world.settle();
    world.initializations_allowed = 2;
    allow(&mut world);
    world.until(|w| w.ring.founders.len() == 2);
    world.delete(kinds::POD, "demo-dc1-a-0");
    world.settle();
    assert_eq!(world.ring.founders.len(), 2, "{}", world.last_words());
    assert_eq!(
        world.normal(),
        2,
        "the first member goes on, and another joins it\n{}",
        world.last_words()
    );
}
