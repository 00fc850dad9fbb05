//! Of those bugs the ones about volumes.

use crate::acts::pod;
use crate::disturbed::before_each_write;
use crate::world::World;
use palladion_plan::sim::{Fault, Feed};
use palladion_rabbitmq::resources as kinds;
use serde_json::{Value, json};

/// The claim template of a spec.
fn storage(claim: &Value) -> Value {
    json!({ "storage": { "volumeClaimTemplate": { "spec": claim } } })
}

fn of_size(size: &str) -> Value {
    storage(&json!({ "resources": { "requests": { "storage": size } } }))
}

/// What the claims of the members and the template of those to come ask for.
fn sizes(world: &World) -> Vec<Value> {
    let size = |claim: &Value| claim["resources"]["requests"]["storage"].clone();
    let members = (0..3).map(|o| world.spec(kinds::CLAIM, &format!("data-{}", pod(o))));
    let template =
        world.spec(kinds::STATEFUL_SET, "demo-rmq")["volumeClaimTemplates"][0]["spec"].clone();
    members.chain([template]).map(|claim| size(&claim)).collect()
}

/// There the set was deleted because the size of a stale spec was another one.
#[test]
fn rabbitmq_operator_653_a_stale_size_neither_deletes_the_set_nor_touches_a_claim() {
    let mut world = World::settled(3);
    world.set_feed(kinds::CLUSTER, Feed::Stale);
    world.patch_spec(&of_size("15Gi"));
    world.start_operator();
    world.until(|w| sizes(w).iter().all(|size| size == "15Gi"));
    // From here on the one that knows nothing of it is alone.
    world.operators.truncate(1);
    let before = [kinds::STATEFUL_SET, kinds::CLAIM, kinds::POD].map(|k| world.store.uids(k));
    let from = world.writes.len();
    world.operators[0].resync();
    world.pass(300);
    let deleted = world.writes[from..].iter().find(|w| w.contains("delete") || w.contains("grow"));
    assert_eq!(deleted, None, "{:?}", &world.writes[from..]);
    assert_eq!(sizes(&world), ["15Gi"; 4]);
    let after = [kinds::STATEFUL_SET, kinds::CLAIM, kinds::POD].map(|k| world.store.uids(k));
    assert_eq!(after, before, "{}", world.last_words());
    world.set_feed(kinds::CLUSTER, Feed::Live);
    world.settle();
    world.expect(3);
    assert_eq!(sizes(&world), ["15Gi"; 4]);
}

/// There a crash between the deletion of the set and the growth of the claims left them as
/// small as they were.
#[test]
fn rabbitmq_operator_782_a_growth_of_volumes_is_brought_to_its_end_whatever_write_is_the_last() {
    let mut world = World::settled(3);
    let pods = world.pods();
    world.patch_spec(&of_size("15Gi"));
    let (worlds, calm) = before_each_write(world);
    assert!(worlds.len() > 4, "the set and three claims, and not only {} writes", worlds.len());
    assert_eq!((sizes(&calm), calm.pods()), (vec![json!("15Gi"); 4], pods.clone()));
    for (at, before) in worlds.into_iter().enumerate() {
        for fault in [Fault::DieBefore, Fault::DieAfter, Fault::AnswerLost, Fault::Unavailable] {
            let mut world = before.clone();
            world.faults.plan(world.faults.writes(), fault);
            world.settle();
            assert!(world.faults.is_over(), "{fault:?} at write {at} did not happen");
            world.expect(3);
            assert_eq!(sizes(&world), ["15Gi"; 4], "{fault:?} at write {at}");
            assert_eq!(world.pods(), pods, "{fault:?} at write {at}");
        }
    }
}

/// There it was accepted, and nothing came of it.
#[test]
fn rabbitmq_operator_992_another_storage_class_is_reported_and_not_half_applied() {
    let mut world = World::settled(3);
    let uids = |w: &World| [kinds::STATEFUL_SET, kinds::CLAIM, kinds::POD].map(|k| w.store.uids(k));
    let before = uids(&world);
    world.patch_spec(&storage(&json!({ "storageClassName": "ssd" })));
    world.settle();
    let said = world.condition("Degraded");
    assert!(said.starts_with("True ClaimTemplateKept: fields of volume claim template"), "{said}");
    assert_eq!(uids(&world), before);
    world.patch_spec(&json!({ "storage": null }));
    world.settle();
    world.expect(3);
    assert!(world.condition("Degraded").starts_with("False"), "{}", world.condition("Degraded"));
    assert_eq!(uids(&world), before);
}

/// There the set that was created again had lost what said that it was restarted before.
#[test]
fn rabbitmq_operator_1428_volumes_that_grow_after_a_change_of_the_configuration_restart_nobody() {
    let mut world = World::settled(3);
    world.patch_spec(&json!({ "config": { "net_ticktime": "30" } }));
    world.settle();
    world.expect(3);
    let before = world.pods();
    world.patch_spec(&of_size("15Gi"));
    world.settle();
    world.expect(3);
    assert_eq!(world.pods(), before);
    assert_eq!(sizes(&world), ["15Gi"; 4]);
}

/// There a template without a size asked for nothing, which was a shrink for ever.
#[test]
fn rabbitmq_operator_2023_a_template_that_names_no_size_asks_for_the_usual_one() {
    let mut world = World::settled(3);
    let uids = |w: &World| [kinds::STATEFUL_SET, kinds::CLAIM, kinds::POD].map(|k| w.store.uids(k));
    let before = uids(&world);
    assert_eq!(sizes(&world), ["10Gi"; 4]);
    for claim in
        [json!({}), json!({ "resources": {} }), json!({ "accessModes": ["ReadWriteOnce"] })]
    {
        world.patch_spec(&storage(&claim));
        world.settle();
        world.expect(3);
        assert!(world.condition("Accepted").starts_with("True"), "{}", world.condition("Accepted"));
        assert!(
            world.condition("Degraded").starts_with("False"),
            "{}",
            world.condition("Degraded")
        );
        assert_eq!((sizes(&world), uids(&world)), (vec![json!("10Gi"); 4], before.clone()));
    }
}
