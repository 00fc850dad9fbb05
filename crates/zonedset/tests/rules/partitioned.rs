//! `rollout: Partitioned`: the canary.

use crate::world::{World, a_spec, with, with_image};
use serde_json::{Value, json};

fn three() -> Value {
    with(a_spec(), "/template/spec/replicas", json!(3))
}

#[test]
fn the_rollout_goes_from_the_highest_pod_down_and_zone_after_zone() {
    let mut world = World::settled(three());
    world.set_spec(with_image(three(), "slow:2"));
    world.settle();
    assert_eq!(world.status()["sets"]["web-z0"]["state"], "Canary");
    assert_eq!(world.status()["sets"]["web-z1"]["state"], "Pending");
    let mut order = Vec::new();
    for _ in 0..6 {
        let waiting = world
            .images()
            .into_iter()
            .find(|i| i.ends_with("slow:2") && !world.is_ready(i.split('=').next().unwrap()));
        let Some(waiting) = waiting else { break };
        let pod = waiting.split('=').next().unwrap().to_string();
        assert_eq!(world.status()["ready"], false);
        assert_eq!(world.status()["pods"], "5/6");
        world.make_ready(&pod);
        order.push(pod);
    }
    assert_eq!(order, ["web-z0-2", "web-z0-1", "web-z0-0", "web-z1-2", "web-z1-1", "web-z1-0"]);
    assert_eq!(world.status()["rollout"], "Done");
    assert_eq!(world.status()["ready"], true);
    assert_eq!(world.status()["version"], 2);
}

#[test]
fn a_wait_names_its_set_and_keeps_its_time() {
    let mut world = World::settled(three());
    assert_eq!(world.status()["waits"], Value::Null);
    world.set_spec(with_image(three(), "slow:2"));
    world.settle();
    let before = world.status()["waits"].clone();
    let (canary, other) = (&before[0], &before[1]);
    assert_eq!(canary["reason"], "RollingOut");
    assert_eq!(canary["object"], json!({ "kind": "StatefulSet", "name": "web-z0" }));
    assert!(canary["message"].as_str().unwrap().contains("web-z0-2 is not ready"), "{canary}");
    assert_eq!(other["object"], json!({ "kind": "StatefulSet", "name": "web-z1" }));
    assert!(
        other["message"].as_str().unwrap().contains("is waiting for StatefulSet web-z0"),
        "{other}"
    );
    world.store.now += jiff::SignedDuration::from_secs(60);
    world.make_ready("web-z0-2");
    let after = &world.status()["waits"][0];
    assert_ne!(after["message"], canary["message"]);
    assert_eq!(after["since"], canary["since"], "the rollout is waited for since it began");
}

#[test]
fn a_bad_canary_stops_at_one_pod_and_fails_with_the_reason() {
    let mut world = World::settled(three());
    let before = world.uids();
    world.set_spec(with_image(three(), "bad:2"));
    world.settle();
    world.pass(299);
    assert_eq!(world.status()["rollout"], "Canary");
    world.pass(2);
    assert_eq!(world.status()["rollout"], "Failed");
    let after = world.uids();
    let changed: Vec<_> =
        before.iter().filter(|(n, u)| after.get(*n) != Some(u)).map(|(n, _)| n.as_str()).collect();
    assert_eq!(changed, ["web-z0-2"]);
    let degraded = world.condition("Degraded");
    assert_eq!(degraded["reason"], "RolloutFailed");
    assert_eq!(world.condition("Progressing")["reason"], "RolloutFailed");
    assert_eq!(world.condition("Progressing")["status"], "False");
    assert!(
        degraded["message"].as_str().unwrap().contains("pod web-z0-2 is failing: ImagePullBackOff"),
        "{degraded}"
    );
    world.pass(10_000);
    assert_eq!(world.uids(), after);
}

#[test]
fn a_fix_overtakes_a_failed_canary_without_waiting_for_it() {
    let mut world = World::settled(three());
    world.set_spec(with_image(three(), "bad:2"));
    world.settle();
    world.pass(400);
    world.set_spec(with_image(three(), "good:3"));
    world.settle();
    assert!(world.images().iter().all(|i| i.ends_with("good:3")), "{:?}", world.images());
    assert_eq!(world.status()["ready"], true);
    assert_eq!(world.status()["version"], 3);
}

#[test]
fn pods_that_never_ran_do_not_hold_up_a_fix() {
    let mut world = World::settled(with_image(three(), "bad:1"));
    world.set_spec(with_image(three(), "good:2"));
    world.settle();
    assert_eq!(world.status()["ready"], true);
}

#[test]
fn a_pod_broken_half_way_through_goes_back_to_the_proven_template_when_a_fix_comes() {
    let mut world = World::settled(three());
    world.set_spec(with_image(three(), "slow:2"));
    world.settle();
    world.make_ready("web-z0-2");
    // web-z0-1 now has the second template and never gets ready; the fix is slow too.
    let broken = json!({ "phase": "Pending", "containerStatuses": [
        { "name": "c", "state": { "waiting": { "reason": "CrashLoopBackOff", "message": "exit 1" } } }
    ] });
    let key =
        palladion_plan::ObjectKey::new(palladion_zonedset::resources::POD, "shop", "web-z0-1");
    world.store.put_status(&key, broken).unwrap();
    world.set_spec(with_image(three(), "slow:3"));
    world.settle();
    let images = world.images();
    assert_eq!(images[..3], ["web-z0-0=good:1", "web-z0-1=good:1", "web-z0-2=slow:3"]);
}

#[test]
fn a_lost_pod_comes_back_from_the_proven_template_during_a_canary() {
    let mut world = World::settled(three());
    world.set_spec(with_image(three(), "slow:2"));
    world.settle();
    world.remove_pod("web-z0-0");
    world.remove_pod("web-z1-2");
    world.settle();
    assert!(world.images().contains(&"web-z0-0=good:1".to_string()));
    assert!(world.images().contains(&"web-z1-2=good:1".to_string()));
}

#[test]
fn scaling_up_during_a_bad_canary_makes_pods_of_the_proven_template() {
    let mut world = World::settled(three());
    world.set_spec(with_image(three(), "bad:2"));
    world.settle();
    world.pass(400);
    world.set_spec(with(with_image(three(), "bad:2"), "/template/spec/replicas", json!(5)));
    world.settle();
    let bad = world.images().iter().filter(|i| i.ends_with("bad:2")).count();
    assert!(bad <= 1, "{:?}", world.images());
    assert!(world.images().contains(&"web-z0-4=good:1".to_string()));
}

#[test]
fn a_pod_counts_only_after_its_settling_time() {
    let spec = with(three(), "/template/spec/minReadySeconds", json!(30));
    let mut world = World::settled(spec.clone());
    world.pass(30);
    assert_eq!(world.status()["rollout"], "Done");
    world.set_spec(with_image(spec, "good:2"));
    world.settle();
    assert_eq!(world.images().iter().filter(|i| i.ends_with("good:2")).count(), 1);
    world.pass(29);
    assert_eq!(world.images().iter().filter(|i| i.ends_with("good:2")).count(), 1);
    world.pass(1);
    assert_eq!(world.images().iter().filter(|i| i.ends_with("good:2")).count(), 2);
}
