//! Bugs that ensembles were lost or stuck by under pravega/zookeeper-operator, one history
//! each, named after the report: `zookeeper_operator_<number>_<what must not happen>`.
//!
//! Others are named where an older story is theirs: #92 (`losses`), #94, #315, #448 and
//! #513 (`changes`: growth after a shrink), #547 (`changes`: an image that does not exist),
//! #575 (`told`: an even number of servers). #474 is about a domain name and #541 about
//! probes, which a `ZookeeperCluster` has not: here they stand for their classes, a Service
//! that follows its spec only when it is created, and a field that stays when it is unset.

use super::acts::pod;
use super::world::World;
use palladion_plan::sim::Feed;
use palladion_zookeeper::resources as kinds;
use serde_json::{Value, json};

const SET: &str = "demo-zk";
const SERVICES: [&str; 2] = ["demo-zk-client", "demo-zk-nodes"];

fn of_size(size: &str) -> Value {
    json!({ "spec": { "resources": { "requests": { "storage": size } } } })
}

/// There the first server came back with the configuration of its first start, alone: the
/// file that names the others could not be written.
#[test]
fn zookeeper_operator_66_who_comes_back_knows_all_that_have_joined_since_its_first_start() {
    let mut world = World::settled(1);
    world.patch_spec(&json!({ "servers": 3 }));
    world.settle();
    world.unobserved(|w| {
        for ordinal in 0..3 {
            w.delete(kinds::POD, &pod(ordinal));
        }
        w.pass(60);
        let known: Vec<_> = (0..3).map(|o| w.disk(o).content.file.clone().unwrap()).collect();
        assert_eq!(known[0].voters(), [1, 2, 3].into());
        assert!(known.iter().all(|file| *file == known[0]), "{known:?}");
    });
    world.expect(3);
    assert_eq!(world.ensemble.begun, 1);
}

/// There a server that reached nobody at its first start was never registered, and ended
/// again and again.
#[test]
fn zookeeper_operator_135_a_joiner_that_reaches_nobody_at_first_is_added_later() {
    for seconds in [20, 3_600] {
        let mut world = World::settled(1);
        world.patch_spec(&json!({ "servers": 3 }));
        world.until(|w| w.member(1)["spec"]["start"].is_object());
        world.stop_process(0);
        world.pass(seconds);
        assert!(world.ensemble.leader().is_none(), "{}", world.last_words());
        world.continue_all();
        world.settle();
        world.expect(3);
        assert_eq!(world.voters(), [1, 2, 3], "{}", world.last_words());
    }
}

#[test]
fn zookeeper_operator_312_an_older_deletion_seen_again_takes_no_live_claim() {
    let spec = json!({ "servers": 3, "version": "3.8.4", "deletionPolicy": "Delete" });
    let mut world = World::new();
    world.create(&spec);
    world.settle();
    world.delete_cluster();
    // This leader never sees more than that the cluster is being deleted.
    world.until(|w| w.store.names(kinds::STATEFUL_SET).is_empty());
    world.set_feed(kinds::CLUSTER, Feed::Stale);
    world.start_operator();
    world.until(World::is_deleted);
    world.let_go_of_the_data();
    world.create(&spec);
    world.until(|w| w.voters().len() == 3);
    let before = world.store.uids(kinds::CLAIM);
    assert_eq!(before.len(), 3);
    world.operators[0].resync();
    world.pass(300);
    assert_eq!(world.store.uids(kinds::CLAIM), before, "{}", world.last_words());
    // Nor where no set and no pod stands in its way, and nobody else makes others.
    world.operators.truncate(1);
    world.delete(kinds::STATEFUL_SET, SET);
    world.pass(300);
    assert!(world.store.names(kinds::POD).is_empty(), "{}", world.last_words());
    assert_eq!(world.store.uids(kinds::CLAIM), before, "{}", world.last_words());
    world.operators.clear();
    world.start_operator();
    world.settle();
    world.expect(3);
}

#[test]
fn zookeeper_operator_314_a_stale_spec_shrinks_nothing() {
    let mut world = World::settled(5);
    world.patch_spec(&json!({ "servers": 3 }));
    world.settle();
    // The watch stops at "three are wanted"; a new leader follows what comes then.
    world.set_feed(kinds::CLUSTER, Feed::Stale);
    world.patch_spec(&json!({ "servers": 5 }));
    world.start_operator();
    world.until(|w| w.voters().len() == 5 && w.status()["turn"].is_null());
    let before = (world.store.uids(kinds::POD), world.store.uids(kinds::CLAIM));
    world.operators[0].resync();
    world.pass(300);
    assert_eq!((world.store.uids(kinds::POD), world.store.uids(kinds::CLAIM)), before);
    assert_eq!(world.voters().len(), 5, "{}", world.last_words());
    world.operators.remove(0);
    world.settle();
    world.expect(5);
}

/// Nor does a lag of what else it sees, in a growth after a shrink or in both.
#[test]
fn zookeeper_operator_314_stale_pods_claims_and_members_cost_nothing() {
    for kind in [kinds::POD, kinds::CLAIM, kinds::MEMBER] {
        let mut world = World::settled(5);
        for (servers, seconds) in [(3, 600), (5, 0)] {
            world.patch_spec(&json!({ "servers": servers }));
            world.pass(seconds);
        }
        world.set_feed(kind, Feed::Stale);
        world.pass(60);
        world.set_feed(kind, Feed::Live);
        world.settle();
        world.expect(5);
        world.set_feed(kind, Feed::Stale);
        for servers in [3, 5] {
            world.patch_spec(&json!({ "servers": servers }));
            world.pass(60);
        }
        world.set_feed(kind, Feed::Live);
        world.settle();
        world.expect(5);
        assert_eq!(world.voters()[..3], [1, 2, 3], "{}", world.last_words());
    }
}

#[test]
fn zookeeper_operator_410_nothing_is_made_for_a_cluster_that_is_gone() {
    let mut world = World::settled(3);
    world.patch_spec(&json!({ "deletionPolicy": "Delete" }));
    world.settle();
    world.delete_cluster();
    world.until(|w| w.store.names(kinds::STATEFUL_SET).is_empty());
    world.set_feed(kinds::CLUSTER, Feed::Stale);
    world.pass(300);
    let from = world.writes.len();
    world.operators[0].resync();
    world.pass(50);
    let made = world.writes[from..].iter().find(|write| write.starts_with("create"));
    assert_eq!(made, None, "{}", world.last_words());
    world.set_feed(kinds::CLUSTER, Feed::Live);
    world.settle();
    assert!(world.is_deleted(), "{}", world.last_words());
    assert!(world.store.names(kinds::STATEFUL_SET).is_empty());
}

#[test]
fn zookeeper_operator_453_steps_that_nobody_saw_are_all_taken() {
    let mut world = World::new();
    world.unobserved(|w| {
        w.create(&json!({ "servers": 5, "version": "3.8.4" }));
        w.patch_spec(&json!({ "servers": 3 }));
    });
    world.expect(3);
    for (first, then) in [(1, 5), (1, 3), (5, 1)] {
        world.unobserved(|w| {
            w.patch_spec(&json!({ "servers": first }));
            w.pass(30);
            w.patch_spec(&json!({ "servers": then }));
        });
        world.expect(then);
    }
}

/// What is set reaches every server, and what is unset again is gone from the objects, as
/// if it had never been there. The class of #541, too.
#[test]
fn zookeeper_operator_454_settings_reach_all_servers_and_go_when_they_are_taken_out() {
    let mut world = World::settled(3);
    let objects = |w: &World| (w.spec(kinds::STATEFUL_SET, SET)["template"].clone(), pods(w));
    let before = objects(&world);
    let set = json!({
        "annotations": { "example.org/team": "storage" },
        "config": { "tickTime": "3000" },
        "env": [{ "name": "LANG", "value": "C" }],
        "jvmOptions": ["-XX:+UseParallelGC"],
        "placement": { "tolerations": [{ "key": "dedicated", "operator": "Exists" }] },
        "terminationGracePeriodSeconds": 90,
    });
    world.patch_spec(&set);
    world.settle();
    world.expect(3);
    let with = objects(&world);
    assert_ne!(with.0, before.0, "the change is seen");
    for pod in &with.1 {
        assert_eq!(pod["metadata"]["annotations"]["example.org/team"], "storage", "{pod}");
        assert_eq!(pod["spec"]["terminationGracePeriodSeconds"], 90);
        assert_eq!(pod["spec"]["tolerations"][0]["key"], "dedicated");
        assert_ne!(configuration(pod), configuration(&before.1[0]));
    }
    let unset: serde_json::Map<String, Value> =
        set.as_object().unwrap().keys().map(|key| (key.clone(), Value::Null)).collect();
    world.patch_spec(&Value::Object(unset));
    world.settle();
    world.expect(3);
    let after = objects(&world);
    assert_eq!(after.0, before.0);
    for pod in &after.1 {
        assert_eq!(pod["metadata"]["annotations"]["example.org/team"], Value::Null, "{pod}");
        assert_eq!(configuration(pod), configuration(&before.1[0]));
    }
}

/// The ConfigMap that a pod has its configuration from.
fn configuration(pod: &Value) -> Option<&str> {
    let mut volumes = pod["spec"]["volumes"].as_array().into_iter().flatten();
    volumes.find_map(|volume| volume["configMap"]["name"].as_str())
}

/// The pods of the ensemble, in order.
fn pods(world: &World) -> Vec<Value> {
    world.store.list(kinds::POD).map(|(_, pod)| Value::clone(pod)).collect()
}

#[test]
fn zookeeper_operator_474_services_are_kept_as_they_should_be_not_only_made_so() {
    let mut world = World::settled(3);
    let specs = |w: &World| {
        SERVICES.map(|name| {
            let spec = w.spec(kinds::SERVICE, name);
            [&spec["publishNotReadyAddresses"], &spec["ports"], &spec["selector"]].map(Value::clone)
        })
    };
    let before = specs(&world);
    assert_eq!(before[1][0], true, "who joins is found before it serves");
    for (name, [published, ..]) in SERVICES.into_iter().zip(&before) {
        let other = published == false;
        world.edit(kinds::SERVICE, name, json!({ "publishNotReadyAddresses": other }));
    }
    world.settle();
    assert_eq!(specs(&world), before);
    for name in SERVICES {
        world.delete(kinds::SERVICE, name);
    }
    world.settle();
    world.expect(3);
    assert_eq!(specs(&world), before);
}

/// There the deletion waited for servers to get ready that could not.
#[test]
fn zookeeper_operator_513_what_never_gets_ready_is_deleted_all_the_same() {
    let mut world = World::new();
    world.create(&json!({ "servers": 3, "version": "3.8.missing", "deletionPolicy": "Delete" }));
    world.pass(300);
    assert_eq!(world.store.names(kinds::CLAIM).len(), 3, "{}", world.last_words());
    world.delete_cluster();
    world.settle();
    assert!(world.is_deleted(), "{}", world.last_words());
    // No agent has ever seen what is on these: it may be another's.
    assert_eq!(world.store.names(kinds::CLAIM).len(), 3, "{}", world.last_words());
}

/// There it was accepted, and the volumes had another mode.
#[test]
fn zookeeper_operator_517_an_access_mode_that_no_volume_would_have_is_refused() {
    let mut world = World::new();
    let claim = json!({ "spec": { "accessModes": ["ReadWriteMany"] } });
    world.create(&json!({
        "servers": 1, "version": "3.8.4", "storage": { "volumeClaimTemplate": claim },
    }));
    world.settle();
    let said = world.condition("Accepted");
    assert!(said.starts_with("False InvalidSpec") && said.contains("ReadWriteOnce"), "{said}");
    assert_eq!(world.store.names(kinds::CLAIM), [""; 0]);
    world.patch_spec(&json!({ "storage": null }));
    world.settle();
    world.expect(1);
    let claim = world.spec(kinds::CLAIM, "data-demo-zk-0");
    assert_eq!(claim["accessModes"], json!(["ReadWriteOnce"]));
}

#[test]
fn zookeeper_operator_540_volumes_grow_and_nobody_is_restarted() {
    let mut world = World::settled(3);
    let before = world.pods();
    world.patch_spec(&json!({ "storage": { "volumeClaimTemplate": of_size("40Gi") } }));
    world.settle();
    world.expect(3);
    assert_eq!(world.pods(), before);
    let size = |claim: &Value| claim["resources"]["requests"]["storage"].clone();
    for ordinal in 0..3 {
        let claim = world.spec(kinds::CLAIM, &format!("data-{}", pod(ordinal)));
        assert_eq!(size(&claim), "40Gi", "{}", world.last_words());
    }
    let template = &world.spec(kinds::STATEFUL_SET, SET)["volumeClaimTemplates"][0]["spec"];
    assert_eq!(size(template), "40Gi", "members that come later");
}
