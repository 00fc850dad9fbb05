//! How an ensemble begins: once, on one volume, and only if nothing could be an older one.

use super::acts::pod;
use super::volume::Part;
use super::world::World;
use palladion_api::labels;
use palladion_plan::ObjectKey;
use palladion_zookeeper::resources as kinds;
use serde_json::json;

#[test]
fn an_ensemble_of_one_and_one_of_three_are_created() {
    for servers in [1, 3] {
        let mut world = World::new().with(servers);
        world.settle();
        world.expect(servers);
        assert_eq!(world.ensemble.begun, 1);
        let ids: Vec<i64> = (1..=servers).collect();
        assert_eq!(world.voters(), ids, "the first IDs are those that people expect");
        assert_eq!(world.condition("Progressing"), "False UpToDate: all members are ready");
        assert!(world.condition("Available").starts_with("True Running"));
        assert!(world.condition("Degraded").starts_with("False"));
        assert!(world.condition("Accepted").starts_with("True Valid"));
    }
}

/// Its storage is slow for an hour, say: nobody has anything of it yet.
#[test]
fn a_first_start_that_fails_is_tried_again_by_itself() {
    let mut world = World::new().with(3);
    world.unlucky.insert(pod(0));
    world.until(|w| w.condition("Degraded").starts_with("True InitializationFailed"));
    let said = world.condition("Degraded");
    assert!(said.contains("kubectl delete pod -n") && said.contains("demo-zk-0`"), "{said}");
    world.writes.clear();
    world.pass(3_600);
    let tries = world.writes.iter().filter(|w| w.starts_with("let member demo-zk-0 try again"));
    let tries = tries.count();
    assert!((5..12).contains(&tries), "{tries}: {}", world.last_words());
    assert!(world.condition("Degraded").starts_with("True InitializationFailed"));
    world.unlucky.clear();
    world.pass(700);
    world.settle();
    world.expect(3);
    assert!(world.condition("Degraded").starts_with("False"), "{}", world.last_words());
}

/// Nobody waits for that who has corrected the cause.
#[test]
fn a_first_start_that_has_failed_is_tried_again_at_once_with_another_pod() {
    let mut world = World::new().with(3);
    world.unlucky.insert(pod(0));
    world.until(|w| w.condition("Degraded").starts_with("True InitializationFailed"));
    world.pass(1_800);
    world.unlucky.clear();
    world.delete(kinds::POD, &pod(0));
    world.pass(60);
    assert!(world.status()["initialized"]["servedAt"].is_string(), "{}", world.last_words());
    world.settle();
    world.expect(3);
}

#[test]
fn at_rest_nothing_is_written() {
    let mut world = World::settled(3);
    let writes = world.faults.writes();
    world.operators.iter_mut().for_each(palladion_plan::sim::Operator::resync);
    world.settle();
    assert_eq!(world.faults.writes(), writes, "{}", world.last_words());
}

#[test]
fn no_join_restarts_anybody() {
    let mut world = World::settled(1);
    let before = world.pods();
    world.patch_spec(&json!({ "servers": 3 }));
    world.settle();
    world.expect(3);
    assert!(before.iter().all(|pod| world.pods().contains(pod)));
}

#[test]
fn the_server_id_is_on_claim_and_record() {
    let world = World::settled(3);
    for ordinal in 0..3 {
        let id = i64::from(ordinal) + 1;
        assert_eq!(world.member(ordinal)["spec"]["serverID"], json!(id));
        let key = ObjectKey::new(
            kinds::CLAIM,
            super::world::NAMESPACE,
            &format!("data-{}", pod(ordinal)),
        );
        let claim = world.store.get(&key).unwrap();
        let annotations = &claim["metadata"]["annotations"];
        assert_eq!(annotations[labels::SERVER_ID], json!(id.to_string()));
        assert_eq!(annotations[labels::VOLUME_ID], world.member(ordinal)["spec"]["volumeID"]);
    }
    assert_eq!(world.status()["highestServerID"], json!(3));
    assert!(world.status()["initialized"]["servedAt"].is_string());
}

/// What an agent refuses a permit for may pass, and nobody has anything of the ensemble yet.
#[test]
fn a_first_start_that_the_agent_refuses_is_tried_again_by_itself() {
    let mut world = World::new().with(3);
    world.refusing.insert(pod(0));
    world.until(|w| w.condition("Degraded").starts_with("True InitializationFailed"));
    let said = world.condition("Degraded");
    assert!(said.contains("refuses to initialize the cluster: the volume is out of"), "{said}");
    assert!(said.contains("kubectl delete pod -n") && said.contains("demo-zk-0`"), "{said}");
    world.pass(1_800);
    assert!(world.condition("Degraded").starts_with("True InitializationFailed"));
    world.refusing.clear();
    world.pass(700);
    world.settle();
    world.expect(3);
    assert!(world.condition("Degraded").starts_with("False"), "{}", world.last_words());
}

/// Somebody brings an older volume meanwhile: that is for a person, and not for another try.
#[test]
fn a_first_start_that_the_agent_refuses_looks_at_all_volumes_again() {
    let mut world = World::new().with(3);
    world.refusing.insert(pod(0));
    world.until(|w| w.condition("Degraded").starts_with("True InitializationFailed"));
    let empty = world.disk(1).content.clone();
    let disk = world.disk(1);
    disk.content.id = Some("old".into());
    disk.content.ledger.part = Part::Joined;
    disk.content.ledger.server_id = Some(7);
    disk.content.data = Some(Default::default());
    world.until(|w| w.condition("Degraded").starts_with("True InitializationRefused"));
    let said = world.condition("Degraded");
    assert!(said.contains("the volume of member demo-zk-1"), "{said}");
    world.disk(1).content = empty;
    world.refusing.clear();
    world.pass(700);
    world.settle();
    world.expect(3);
}

#[test]
fn a_volume_that_is_not_empty_stops_the_beginning_until_a_person_allows_it() {
    let mut world = World::new().with(3);
    world.until(|w| w.uid(1).is_some());
    let disk = world.disk(1);
    disk.content.id = Some("old".into());
    disk.content.ledger.part = Part::Joined;
    disk.content.ledger.server_id = Some(7);
    disk.content.data = Some(Default::default());
    world.settle();
    assert_eq!(world.ensemble.begun, 0, "{}", world.last_words());
    let said = world.condition("Degraded");
    assert!(
        said.starts_with("True InitializationRefused: the volume of member demo-zk-1"),
        "{said}"
    );
    let asked = said.split("allow-initialization=").nth(1).unwrap();
    let nonce = asked.split('`').next().unwrap().to_string();
    world.annotate_cluster(labels::ALLOW_INITIALIZATION, "another");
    world.settle();
    assert_eq!(world.ensemble.begun, 0);
    world.annotate_cluster(labels::ALLOW_INITIALIZATION, &nonce);
    world.settle();
    assert_eq!(world.ensemble.begun, 1, "{}", world.last_words());
    // Above every ID that anybody has ever named.
    assert_eq!(world.voters(), [8, 9], "{}", world.last_words());
}

#[test]
fn the_first_pod_may_end_at_any_time_of_the_beginning() {
    let mut world = World::new().with(1);
    let mut worlds = Vec::new();
    while world.tick().unwrap() {
        worlds.push(world.clone());
    }
    let mut tried = 0;
    for mut world in worlds.into_iter().step_by(3) {
        if world.exists(kinds::POD, &pod(0)) {
            tried += 1;
            world.delete(kinds::POD, &pod(0));
        }
        world.settle();
        world.expect(1);
    }
    assert!(tried > 5, "{tried}");
}

#[test]
fn a_cluster_that_is_recreated_finds_its_members_again() {
    let mut world = World::settled(3);
    let volumes: Vec<_> = (0..3).map(|o| world.member(o)["spec"]["volumeID"].clone()).collect();
    let object = world.store.get(&super::world::cluster_key()).unwrap().clone();
    world.store.remove(&super::world::cluster_key());
    world.pass(60);
    assert!(world.kube.pods(&world.store).is_empty(), "{}", world.last_words());
    let mut new = json!({ "apiVersion": object["apiVersion"], "kind": object["kind"], "spec": object["spec"] });
    new["metadata"] =
        json!({ "name": super::world::CLUSTER, "namespace": super::world::NAMESPACE });
    world.store.create(&super::world::cluster_key(), &new).unwrap();
    world.settle();
    assert_eq!(world.ensemble.begun, 1, "{}", world.last_words());
    world.expect(3);
    let again: Vec<_> = (0..3).map(|o| world.member(o)["spec"]["volumeID"].clone()).collect();
    assert_eq!(volumes, again);
}
