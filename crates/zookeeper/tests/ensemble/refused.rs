//! Changes that the ensemble refuses, servers that do not answer, and a first start that lacks an
//! address: each is reported, and tried seldom.

use super::acts::pod;
use super::world::World;
use palladion_api::service_member::OperationAnswer;
use serde_json::json;

fn number(world: &World, what: &str) -> usize {
    world.writes.iter().filter(|w| w.contains(what)).count()
}

#[test]
fn a_change_that_is_refused_is_ordered_again_after_a_pause_and_reported() {
    let mut world = World::settled(3);
    world.ensemble.refuses = Some(OperationAnswer::ReconfigInProgress);
    world.patch_spec(&json!({ "servers": 5 }));
    world.until(|w| number(w, "change the configuration") == 1);
    world.pass(2);
    let said = world.status()["waits"].to_string();
    assert!(said.contains("could not change the configuration"), "{said}");
    world.pass(24);
    // Each order is withdrawn before the next one.
    assert!(number(&world, "have member") <= 4, "{}", world.last_words());
    world.pass(120);
    let said = world.condition("Degraded");
    assert!(said.starts_with("True OperationFailed"), "{said}");
    assert!(said.contains("member demo-zk-3") && said.contains("kubectl logs"), "{said}");
    world.writes.clear();
    world.pass(300);
    assert!(number(&world, "have member") <= 31, "{}", world.last_words());
    assert!(world.condition("Degraded").starts_with("True OperationFailed"));
    world.ensemble.refuses = None;
    world.settle();
    world.expect(5);
    assert!(world.condition("Degraded").starts_with("False"), "{}", world.last_words());
}

#[test]
fn a_server_that_serves_and_does_not_answer_is_reported_and_asked_less_often() {
    let mut world = World::settled(3);
    world.sessionless.insert(pod(2));
    world.patch_spec(&json!({ "restartToken": "x" }));
    world.pass(360);
    let said = world.condition("Degraded");
    assert!(said.starts_with("True NotAnswered") && said.contains("demo-zk-2"), "{said}");
    world.writes.clear();
    for _ in 0..60 {
        world.pass(60);
        let said = world.condition("Degraded");
        assert!(said.starts_with("True NotAnswered"), "{said}: {}", world.last_words());
    }
    let asked = number(&world, "ask all members again");
    assert!(asked <= 61, "{asked}: {}", world.last_words());
    world.sessionless.clear();
    world.settle();
    world.expect(3);
}
