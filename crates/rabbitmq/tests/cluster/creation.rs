//! How a cluster begins: once, on one volume, with credentials that are made once.

use super::acts::{node, pod};
use super::volume::{Data, Part};
use super::world::{NAMESPACE, World};
use palladion_api::labels;
use palladion_plan::ObjectKey;
use palladion_rabbitmq::resources as kinds;
use serde_json::{Value, json};

/// rabbitmq/cluster-operator#662 and #989: there nodes that were started at once found each
/// other or did not, and there were two clusters.
#[test]
fn a_cluster_of_one_and_one_of_three_are_created() {
    for nodes in [1, 3] {
        let mut world = World::new().with(nodes);
        world.settle();
        world.expect(nodes);
        assert_eq!(world.rabbit.begun, 1);
        assert_eq!(world.condition("Progressing"), "False UpToDate: all members are ready");
        assert!(world.condition("Available").starts_with("True Running"));
        assert!(world.condition("Degraded").starts_with("False"));
        assert!(world.condition("Accepted").starts_with("True Valid"));
        assert!(world.condition("AllNodesSeen").starts_with("True"));
        assert!(world.condition("Partitioned").starts_with("False"));
    }
}

/// Its storage is slow for an hour, say: nobody has anything of it yet.
#[test]
fn a_first_start_that_fails_is_tried_again_by_itself() {
    let mut world = World::new().with(3);
    world.unlucky.insert(pod(0));
    world.until(|w| w.condition("Degraded").starts_with("True InitializationFailed"));
    let said = world.condition("Degraded");
    assert!(said.contains("kubectl delete pod -n") && said.contains("demo-rmq-0`"), "{said}");
    world.writes.clear();
    world.pass(3_600);
    let tries = world.writes.iter().filter(|w| w.starts_with("let member demo-rmq-0 try again"));
    let tries = tries.count();
    assert!((5..12).contains(&tries), "{tries}: {}", world.last_words());
    assert!(world.condition("Degraded").starts_with("True InitializationFailed"));
    world.unlucky.clear();
    world.pass(700);
    world.settle();
    world.expect(3);
    assert_eq!(world.rabbit.begun, 1);
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
fn what_dependents_read_names_nodes_ports_virtual_host_and_secret() {
    let world = World::settled(3);
    let service = world.status()["service"].clone();
    assert_eq!(service["ports"], json!({ "amqp": 5672, "management": 15672 }));
    assert_eq!(service["attributes"], json!({ "vhost": "/", "secret": "demo-rmq" }));
    let names: Vec<&str> = service["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|node| node["name"].as_str())
        .collect();
    assert_eq!(names, ["demo-rmq-0", "demo-rmq-1", "demo-rmq-2"]);
}

/// What an agent refuses a permit for may pass, and nobody has anything of the cluster yet.
#[test]
fn a_first_start_that_the_agent_refuses_is_tried_again_by_itself() {
    let mut world = World::new().with(3);
    world.refusing.insert(pod(0));
    world.until(|w| w.condition("Degraded").starts_with("True InitializationFailed"));
    let said = world.condition("Degraded");
    assert!(said.contains("refuses to initialize the cluster: the volume is out of"), "{said}");
    assert!(said.contains("kubectl delete pod -n") && said.contains("demo-rmq-0`"), "{said}");
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
    disk.content.data = Some(Data { has_run: true, ..Data::default() });
    world.until(|w| w.condition("Degraded").starts_with("True InitializationRefused"));
    let said = world.condition("Degraded");
    assert!(said.contains("the volume of member demo-rmq-1"), "{said}");
    world.disk(1).content = empty;
    world.refusing.clear();
    world.pass(700);
    world.settle();
    world.expect(3);
}

#[test]
fn the_node_name_is_on_claim_and_record() {
    let world = World::settled(3);
    for ordinal in 0..3 {
        assert_eq!(world.member(ordinal)["spec"]["nodeName"], json!(node(ordinal)));
        let claim = ObjectKey::new(kinds::CLAIM, NAMESPACE, &format!("data-{}", pod(ordinal)));
        let annotations = world.store.get(&claim).unwrap()["metadata"]["annotations"].clone();
        assert_eq!(annotations[labels::NODE_NAME], json!(node(ordinal)));
        assert_eq!(annotations[labels::VOLUME_ID], world.member(ordinal)["spec"]["volumeID"]);
    }
    assert!(world.status()["initialized"]["servedAt"].is_string());
}

#[test]
fn a_volume_that_is_not_empty_stops_the_beginning_until_a_person_allows_it() {
    let mut world = World::new().with(3);
    world.until(|w| w.uid(1).is_some());
    let disk = world.disk(1);
    disk.content.id = Some("old".into());
    disk.content.ledger.part = Part::Joined;
    disk.content.data = Some(Data { has_run: true, ..Data::default() });
    world.settle();
    assert_eq!(world.rabbit.begun, 0, "{}", world.last_words());
    let said = world.condition("Degraded");
    assert!(
        said.starts_with("True InitializationRefused: the volume of member demo-rmq-1"),
        "{said}"
    );
    assert!(said.contains("rabbitmqcluster demo"), "{said}");
    let nonce = world.nonce();
    world.annotate_cluster(labels::ALLOW_INITIALIZATION, "another");
    world.settle();
    assert_eq!(world.rabbit.begun, 0);
    world.annotate_cluster(labels::ALLOW_INITIALIZATION, &nonce);
    world.settle();
    assert_eq!(world.rabbit.begun, 1, "{}", world.last_words());
}

/// What nobody has on record is not started, and only a user gives it up.
#[test]
fn an_old_volume_beside_a_new_cluster_is_reported_and_joins_when_a_user_gives_it_up() {
    let mut world = World::new().with(3);
    world.until(|w| w.uid(1).is_some());
    let disk = world.disk(1);
    disk.content.id = Some("old".into());
    disk.content.ledger.part = Part::Joined;
    disk.content.data = Some(Data { has_run: true, ..Data::default() });
    world.settle();
    let nonce = world.nonce();
    world.annotate_cluster(labels::ALLOW_INITIALIZATION, &nonce);
    world.settle();
    assert_eq!(world.rabbit.running().len(), 2, "{}", world.last_words());
    let said = world.condition("Degraded");
    assert!(said.starts_with("True VolumeForeign: member demo-rmq-1"), "{said}");
    assert!(said.contains("palladion.dev/replace=old"), "{said}");
    let replace = |volume: &str| json!({ "metadata": { "annotations": { "palladion.dev/replace": volume } } });
    world.patch_member(&pod(1), &replace("another"));
    world.settle();
    assert_eq!(world.rabbit.running().len(), 2, "{}", world.last_words());
    world.patch_member(&pod(1), &replace("old"));
    world.settle();
    world.expect(3);
    let left = world.member(1)["metadata"]["annotations"]["palladion.dev/replace"].clone();
    assert_eq!(left, json!(null), "it was for the data that is gone");
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
fn credentials_are_made_once_and_a_secret_that_exists_is_used_as_it_is() {
    let mut world = World::new();
    let key = ObjectKey::new(kinds::SECRET, NAMESPACE, "demo-rmq");
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": { "name": "demo-rmq", "namespace": NAMESPACE },
        "stringData": { "erlang-cookie": "of a user" },
    });
    world.store.create(&key, &secret).unwrap();
    let mut world = world.with(3);
    world.settle();
    world.expect(3);
    assert_eq!(world.cookie_in("demo-rmq").as_deref(), Some("of a user"));
    let made = world.writes.iter().filter(|w| w.starts_with("create Secret")).count();
    assert_eq!(made, 0, "{:?}", world.writes);
    assert_eq!(world.status()["credentials"]["secretName"], json!("demo-rmq"));
}

/// A Secret is named that does not exist: naming another is all that it takes, the one that
/// the operator creates as well, as long as no node has served.
#[test]
fn a_secret_that_was_named_by_mistake_is_corrected_in_the_manifest() {
    for right in [json!("of-a-user"), Value::Null] {
        let mut world = World::new();
        let key = ObjectKey::new(kinds::SECRET, NAMESPACE, "of-a-user");
        let secret = json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": { "name": "of-a-user", "namespace": NAMESPACE },
            "stringData": { "erlang-cookie": "of a user" },
        });
        world.store.create(&key, &secret).unwrap();
        let mut world = world.with(3);
        world.patch_spec(&json!({ "secretName": "of-a-usr" }));
        world.settle();
        let said = world.condition("Degraded");
        assert!(said.contains("CredentialsMissing") || said.contains("credentials"), "{said}");
        assert_eq!(world.status()["credentials"]["secretName"], json!("of-a-usr"));
        world.patch_spec(&json!({ "secretName": right }));
        world.settle();
        world.expect(3);
        let name = right.as_str().unwrap_or("demo-rmq");
        assert_eq!(world.status()["credentials"]["secretName"], json!(name));
        let cookies: Vec<_> = (0..3).map(|o| world.disk(o).content.ledger.cookie.clone()).collect();
        assert!(cookies.iter().all(|c| *c == world.cookie_in(name)), "{cookies:?}");
        let made = world.writes.iter().filter(|w| w.starts_with("create Secret")).count();
        assert_eq!(made, usize::from(right.is_null()), "{:?}", world.writes);
    }
}

/// Both Secrets are there, and the first node is about to start with the cookie of one of them:
/// a second cookie would be one with which no node reaches another.
#[test]
fn a_secret_that_is_named_too_late_is_mixed_with_no_other() {
    let mut world = World::new();
    for name in ["first", "second"] {
        let key = ObjectKey::new(kinds::SECRET, NAMESPACE, name);
        let secret = json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": { "name": name, "namespace": NAMESPACE },
            "stringData": { "erlang-cookie": name },
        });
        world.store.create(&key, &secret).unwrap();
    }
    let mut world = world.with(3);
    world.patch_spec(&json!({ "secretName": "first" }));
    world.until(|w| w.member(0)["spec"]["start"].is_object());
    let mut worlds = Vec::new();
    while !world.status()["initialized"]["servedAt"].is_string() {
        worlds.push(world.clone());
        assert!(world.tick().unwrap(), "{}", world.last_words());
    }
    let mut refused = 0;
    for mut world in worlds {
        world.patch_spec(&json!({ "secretName": "second" }));
        world.settle();
        let said = world.condition("Accepted");
        if said.starts_with("False InvalidSpec") {
            assert!(said.contains("Secret first") && said.contains("change it back"), "{said}");
            refused += 1;
            world.patch_spec(&json!({ "secretName": "first" }));
            world.settle();
        }
        world.expect(3);
        let cookies: Vec<_> = (0..3).map(|o| world.disk(o).content.ledger.cookie.clone()).collect();
        assert!(cookies.iter().all(|c| *c == cookies[0]), "{cookies:?}");
        let recorded = world.status()["credentials"]["secretName"].clone();
        assert_eq!(recorded, json!(cookies[0]), "{}", world.last_words());
        assert_eq!(world.status()["service"]["attributes"]["secret"], recorded);
    }
    assert!(refused > 0, "it was too late at some moment");
}

/// The domain is part of the names of nodes, and none has one for good before it has served.
#[test]
fn a_domain_that_was_mistyped_is_corrected_in_the_manifest() {
    let mut world = World::new().with(3);
    world.patch_spec(&json!({ "clusterDomain": "cluster.locl" }));
    world.settle();
    let said = world.condition("Degraded");
    assert!(said.starts_with("True NameUnresolved"), "{said}");
    assert!(said.contains("correct `clusterDomain`"), "{said}");
    world.patch_spec(&json!({ "clusterDomain": "cluster.local" }));
    world.settle();
    world.expect(3);
    assert_eq!(world.member(0)["spec"]["nodeName"], json!(node(0)));
}

/// From its first start on a node has its name for good; that it serves comes later.
#[test]
fn a_domain_that_changes_while_the_first_node_starts_comes_too_late() {
    let mut world = World::new().with(3);
    world.until(|w| w.member(0)["status"]["permit"]["state"] == "Used");
    world.patch_spec(&json!({ "clusterDomain": "other.local" }));
    world.settle();
    world.expect(3);
    assert_eq!(world.member(2)["spec"]["nodeName"], json!(node(2)));
}

/// Nodes with another cookie could not reach each other: what runs keeps its own, and
/// nothing new is made.
#[test]
fn a_secret_that_is_gone_is_reported_and_never_made_again() {
    let mut world = World::settled(1);
    let key = ObjectKey::new(kinds::SECRET, NAMESPACE, "demo-rmq");
    let kept = world.store.get(&key).unwrap().clone();
    world.store.remove(&key);
    world.delete(kinds::POD, &pod(0));
    world.settle();
    world.expect(1);
    assert!(!world.exists(kinds::SECRET, "demo-rmq"), "{}", world.last_words());
    world.patch_spec(&json!({ "nodes": 3 }));
    world.settle();
    let said = world.condition("Degraded");
    assert!(said.contains("CredentialsMissing") || said.contains("credentials"), "{said}");
    assert!(!world.exists(kinds::SECRET, "demo-rmq"));
    world.store.create(&key, &kept).unwrap();
    for ordinal in [1, 2] {
        world.delete(kinds::POD, &pod(ordinal));
    }
    world.settle();
    world.expect(3);
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
    new["metadata"] = json!({ "name": super::world::CLUSTER, "namespace": NAMESPACE });
    world.store.create(&super::world::cluster_key(), &new).unwrap();
    world.settle();
    assert_eq!(world.rabbit.begun, 1, "{}", world.last_words());
    world.expect(3);
    let again: Vec<_> = (0..3).map(|o| world.member(o)["spec"]["volumeID"].clone()).collect();
    assert_eq!(volumes, again);
}

/// The Secret comes while the first node starts, or is another one by then: what was not
/// imported must not be on record as imported.
#[test]
fn definitions_that_come_or_change_while_the_first_node_starts_are_imported() {
    for before in [None, Some("h1".to_string())] {
        let mut world = World::new().with(3);
        world.definitions = before;
        world.until(|w| !w.rabbit.nodes.is_empty());
        world.definitions = Some("h2".to_string());
        world.settle();
        world.expect(3);
        assert!(world.imported.contains("h2"), "{}", world.last_words());
        assert_eq!(world.status()["definitionsHash"], json!("h2"));
    }
}
