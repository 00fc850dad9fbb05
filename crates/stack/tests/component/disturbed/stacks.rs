//! Stacks: the objects that they create, change and let go of under faults.

use super::{each_write, overtaken_to};
use crate::stacks::{a_stack, all_say, begun};
use crate::world::{NAMESPACE, World};
use palladion_api::stack::CREATED_BY;
use palladion_plan::ObjectKey;
use palladion_stack::StackMind;
use palladion_stack::resources as kinds;
use serde_json::{Value, json};

type Stack = World<StackMind>;

/// What counts of an end: every service as it was written, and what the Stack says of it.
fn end(world: &Stack) -> (Vec<(String, Value)>, Value) {
    let stack = world.owner()["metadata"]["uid"].clone();
    let services = [kinds::ZOOKEEPER, kinds::COMPONENT].into_iter().flat_map(|kind| {
        let all = world.store.list(kind);
        all.map(|(key, object)| (key.name.clone(), written(object, &stack))).collect::<Vec<_>>()
    });
    let status = world.status();
    (services.collect(), json!([status["services"], status["leftBehind"], status["ready"]]))
}

/// Spec, labels and owners of an object; uids differ from world to world.
fn written(object: &Value, stack: &Value) -> Value {
    let metadata = &object["metadata"];
    let owners = metadata["ownerReferences"].as_array().into_iter().flatten();
    let owners: Vec<bool> = owners.map(|owner| owner["uid"] == *stack).collect();
    let is_created = metadata["annotations"][CREATED_BY] == *stack;
    json!([object["spec"], metadata["labels"], owners, is_created])
}

fn disturbed(begin: impl Fn() -> Stack, story: impl Fn(&mut Stack)) {
    let ended = each_write(begin, story, end, |_, _| {});
    assert!(ended > 0, "no process ended in its work");
}

fn all_served() -> Stack {
    let mut world = begun(a_stack());
    all_say(&mut world, "True");
    world
}

/// All services say of what they are now that they serve.
fn serve(world: &mut Stack) {
    world.pass(70);
    world.recover();
    world.pass(10);
    all_say(world, "True");
}

#[test]
fn all_services_are_created() {
    let nothing = || {
        let mut spec = a_stack();
        spec["paused"] = json!(true);
        begun(spec)
    };
    disturbed(nothing, |world| {
        world.set_spec(a_stack());
        serve(world);
    });
}

#[test]
fn two_services_change_and_one_is_no_longer_active() {
    disturbed(all_served, |world| {
        let mut spec = a_stack();
        spec["services"][0]["spec"]["servers"] = json!(5);
        spec["services"][1]["activate"] = json!(false);
        spec["services"][1]["create"] = json!(false);
        spec["services"][2]["spec"]["replicas"] = json!(5);
        world.set_spec(spec);
        serve(world);
    });
}

#[test]
fn services_go_with_the_stack_and_then_no_more() {
    disturbed(all_served, |world| {
        let mut spec = a_stack();
        spec["deletionPolicy"] = json!("Delete");
        world.set_spec(spec.clone());
        serve(world);
        spec["services"].as_array_mut().unwrap().remove(2);
        world.set_spec(spec);
        serve(world);
    });
}

#[test]
fn a_frozen_process_wakes_up_after_its_successor_has_written_another_spec() {
    let story = |world: &mut Stack| {
        let mut spec = a_stack();
        spec["deletionPolicy"] = json!("Delete");
        spec["services"][0]["spec"]["servers"] = json!(5);
        spec["services"][2]["spec"]["replicas"] = json!(5);
        world.set_spec(spec);
        world.pass(10);
    };
    overtaken_to(all_served, story, end);
}

/// One that a fault has not kept from being written is not written twice: its generation
/// is what one write makes of it.
#[test]
fn a_service_is_not_written_again_without_need() {
    let generation = |world: &Stack| {
        let key = ObjectKey::new(kinds::COMPONENT, NAMESPACE, "kube");
        world.store.get(&key).map(|o| o["metadata"]["generation"].clone())
    };
    let story = |world: &mut Stack| {
        let mut spec = a_stack();
        spec["services"][2]["spec"]["replicas"] = json!(5);
        world.set_spec(spec);
        serve(world);
    };
    let ended = each_write(all_served, story, generation, |_, _| {});
    assert!(ended > 0, "no process ended in its work");
}
