//! What people are told, and what they can do about it.

use super::acts::pod;
use super::world::World;
use serde_json::json;

/// pravega/zookeeper-operator#575, with two servers of three.
#[test]
fn a_spec_that_cannot_be_carried_out_is_refused_and_what_runs_goes_on() {
    let mut world = World::settled(3);
    for (patch, said) in [
        (json!({ "servers": 2 }), "`servers` is 2; it must be 1, 3, 5 or 7"),
        (json!({ "config": { "db.autocreate": "true" } }), "`db.autocreate` cannot be set"),
        (json!({ "version": "3.7.1" }), "is not supported"),
    ] {
        let before = world.store.get(&super::world::cluster_key()).unwrap()["spec"].clone();
        world.patch_spec(&patch);
        world.settle();
        let accepted = world.condition("Accepted");
        assert!(accepted.starts_with("False InvalidSpec") && accepted.contains(said), "{accepted}");
        let mut back = before.clone();
        if patch.get("config").is_some() {
            back["config"] = json!(null);
        }
        world.patch_spec(&back);
        world.settle();
        world.expect(3);
    }
}

/// Gates read `service.active`, whatever became of the spec.
#[test]
fn an_ensemble_whose_spec_is_refused_says_that_its_servers_are_away_and_that_they_are_back() {
    let mut world = World::settled(3);
    world.patch_spec(&json!({ "servers": 2 }));
    world.settle();
    assert!(world.condition("Available").starts_with("True"), "{}", world.last_words());
    for ordinal in [0, 1] {
        world.unlucky.insert(pod(ordinal));
        let uid = world.uid(ordinal).unwrap();
        world.ensemble.stop(&uid);
    }
    world.pass(60);
    let said = world.condition("Available");
    assert!(said.starts_with("False QuorumLost: 0 of 3"), "{said}");
    let service = world.status()["service"].clone();
    assert_eq!((&service["active"], &service["ready"]), (&json!(false), &json!(0)), "{service}");
    world.unlucky.clear();
    world.settle();
    assert!(world.condition("Available").starts_with("True"), "{}", world.last_words());
    assert_eq!(world.status()["service"]["active"], json!(true));
}

/// Nothing can be done about it before the spec is corrected.
#[test]
fn nothing_is_asked_while_the_spec_is_refused() {
    let mut world = World::settled(3);
    world.wipe(0);
    world.wipe(1);
    world.settle();
    assert_eq!(world.status()["ask"]["kind"], json!("Rescue"), "{}", world.last_words());
    world.patch_spec(&json!({ "servers": 2 }));
    world.settle();
    assert_eq!(world.status()["ask"], json!(null), "{}", world.last_words());
    world.patch_spec(&json!({ "servers": 3 }));
    world.settle();
    assert_eq!(world.status()["ask"]["kind"], json!("Rescue"), "{}", world.last_words());
}

#[test]
fn a_server_that_somebody_added_by_hand_stops_changes_until_a_person_has_it_removed() {
    let mut world = World::settled(3);
    let leader = world.ensemble.leader().unwrap().config.clone();
    for server in world.ensemble.servers.values_mut() {
        server.config.version = leader.version + 1;
        server.config.servers.insert(99, ("10.9.9.9".into(), true));
    }
    world.patch_spec(&json!({ "servers": 5 }));
    world.settle();
    let said = world.condition("Degraded");
    assert!(said.starts_with("True UnknownServer") && said.contains("99"), "{said}");
    assert_eq!(world.voters().len(), 4, "nothing was added");
    let ask = world.status()["ask"].clone();
    assert_eq!(ask["kind"], json!("Remove"), "{}", world.last_words());
    assert_eq!(ask["about"], json!(["99"]));
    world.annotate_cluster("palladion.dev/allow-remove", ask["nonce"].as_str().unwrap());
    world.settle();
    world.expect(5);
    assert!(!world.voters().contains(&99));
}

#[test]
fn a_server_that_somebody_removed_by_hand_is_named_and_can_be_replaced() {
    let mut world = World::settled(3);
    let version = world.ensemble.leader().unwrap().config.version;
    let uid = world.uid(0).unwrap();
    let answer = world.ensemble.reconfig(&uid, version, &[], &[3], &mut world.kube.disks);
    assert_ne!(answer, palladion_api::service_member::OperationAnswer::BadVersion);
    world.settle();
    let said = world.condition("Degraded");
    assert!(said.contains("NotInEnsemble"), "{said}");
    world.give_up_volume(2);
    world.settle();
    world.expect(3);
}
