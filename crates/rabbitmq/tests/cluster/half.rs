//! Nodes that serve and cannot answer in full, and agents that are cut off from the API server.

use super::acts::pod;
use super::world::World;
use serde_json::json;

fn asked(world: &World) -> usize {
    world.writes.iter().filter(|w| w.starts_with("ask") && w.contains("again")).count()
}

fn stays_reported_and_is_asked_each_minute(world: &mut World) {
    world.writes.clear();
    for _ in 0..60 {
        world.pass(60);
        let said = world.condition("Degraded");
        assert!(said.starts_with("True NotAnswered"), "{said}: {}", world.last_words());
    }
    assert!(asked(world) <= 61, "{}: {}", asked(world), world.last_words());
}

#[test]
fn a_node_that_serves_and_cannot_answer_in_full_is_reported_and_asked_less_often() {
    let mut world = World::settled(3);
    world.half.insert(pod(2));
    world.patch_spec(&json!({ "restartToken": "x" }));
    world.pass(240);
    assert!(world.condition("Degraded").starts_with("False"), "{}", world.last_words());
    world.pass(120);
    let said = world.condition("Degraded");
    assert!(said.starts_with("True NotAnswered") && said.contains("demo-rmq-2"), "{said}");
    assert!(said.contains("kubectl"), "{said}");
    stays_reported_and_is_asked_each_minute(&mut world);
    world.half.clear();
    world.settle();
    world.expect(3);
    assert!(world.restarted(&[0, 1, 2]), "{}", world.last_words());
    assert!(world.condition("Degraded").starts_with("False"), "{}", world.last_words());
}

#[test]
fn an_agent_that_is_cut_off_from_the_api_server_is_reported_and_asked_less_often() {
    let mut world = World::settled(3);
    world.absent.insert(pod(2));
    world.patch_spec(&json!({ "restartToken": "x" }));
    world.pass(360);
    let said = world.condition("Degraded");
    assert!(said.starts_with("True NotAnswered") && said.contains("demo-rmq-2"), "{said}");
    stays_reported_and_is_asked_each_minute(&mut world);
    world.absent.clear();
    world.settle();
    world.expect(3);
}
