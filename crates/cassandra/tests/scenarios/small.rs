//! What is asked of objects, labels and events, and needs no more than one story.

use crate::every::a_ring;
use crate::nodes::{LAST, spread};
use crate::sim::World;
use crate::sim::manifests::{NAMESPACE, a_cluster, two_racks};
use crate::sim::world::cluster_key;
use palladion_cassandra::resources as kinds;
use palladion_plan::{ObjectKey, Resource};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

fn object(world: &World, resource: Resource, name: &str) -> Value {
    let key = ObjectKey::new(resource, NAMESPACE, name);
    world.store.get(&key).map(|o| Value::clone(o)).unwrap_or_default()
}

fn label(world: &World, member: &str, key: &str) -> Value {
    object(world, kinds::SERVICE, member)["metadata"]["labels"][key].clone()
}

#[test]
fn the_first_two_members_of_a_rack_have_the_seed_label_and_no_other() {
    let mut world = a_ring(3, 1);
    let seeds = |world: &World| -> Vec<String> {
        let services = world.names(kinds::SERVICE);
        let is_seed = |name: &String| label(world, name, "palladion.dev/seed").is_string();
        services.into_iter().filter(is_seed).collect()
    };
    assert_eq!(seeds(&world), ["demo-dc1-a-0", "demo-dc1-a-1", "demo-dc1-b-0"]);
    world.patch_spec(&json!({ "seedsPerRack": 1 }));
    world.settle();
    assert_eq!(seeds(&world), ["demo-dc1-a-0", "demo-dc1-b-0"]);
}

#[test]
fn an_object_of_somebody_else_is_not_touched_whatever_its_kind() {
    for (resource, api, name) in [
        (kinds::STATEFUL_SET, "apps/v1", "demo-dc1-b"),
        (kinds::SERVICE, "v1", "demo-client"),
        (kinds::DISRUPTION_BUDGET, "policy/v1", "demo-dc1"),
    ] {
        let mut world = World::new();
        let key = ObjectKey::new(resource, NAMESPACE, name);
        let meta = json!({ "name": name, "namespace": NAMESPACE, "labels": { "app": "mine" } });
        let foreign =
            json!({ "apiVersion": api, "kind": resource.kind, "metadata": meta, "spec": {} });
        world.store.create(&key, &foreign).unwrap();
        let before = world.store.get(&key).cloned();
        world.apply(&two_racks());
        world.pass(120);
        let degraded = world.condition("Degraded");
        let is_told = degraded.starts_with("True ForeignObject") && degraded.contains(name);
        assert!(is_told, "{name}: {degraded}\n{}", world.last_words());
        let after = world.store.get(&key).cloned();
        let spec = |o: &Option<std::sync::Arc<Value>>| o.as_ref().map(|o| o["spec"].clone());
        assert_eq!(spec(&after), spec(&before), "{name}");
        world.delete(resource, name);
        world.settle();
        world.expect_ring(3);
    }
}

#[test]
fn another_configuration_of_the_exporter_is_rolled_out_in_its_rack_alone() {
    let mut racks = two_racks();
    racks["spec"]["datacenter"]["racks"][0]["jmxExporterConfigMapName"] = json!("exporter");
    let exporter = |rules: &str| json!({ "jmx_exporter_config.yaml": rules });
    let mut world = World::new();
    world.config_map("exporter", &exporter("rules: [{pattern: '.*'}]"));
    let mut world = world.with(&racks);
    world.settle();
    world.expect_ring(3);
    let uids = |world: &World| -> BTreeMap<String, Value> {
        let pods = world.store.list(kinds::POD);
        pods.map(|(key, pod)| (key.name.clone(), pod["metadata"]["uid"].clone())).collect()
    };
    let before = uids(&world);
    world.config_map("exporter", &exporter("rules: []"));
    world.settle();
    world.expect_ring(3);
    let after = uids(&world);
    let same: Vec<&String> = before.keys().filter(|name| before[*name] == after[*name]).collect();
    assert_eq!(same, ["demo-dc1-b-0"], "{}", world.last_words());
}

#[test]
fn events_of_a_ring_that_is_created_grows_and_shrinks_name_rack_and_number() {
    let mut world = World::new().with(&two_racks());
    world.settle();
    let created = world.story.join("\n");
    // That it serves is told by the condition `Available`.
    assert_eq!(created.matches("event: ").count(), 0, "{created}");
    world.story.clear();
    world.set_racks(&a_cluster(&[("a", 3), ("b", 1)]));
    world.settle();
    let grown = world.story.join("\n");
    assert!(grown.contains("event: Rack a is scaling up to 3 members"), "{grown}");
    world.story.clear();
    world.set_racks(&two_racks());
    world.settle();
    let shrunk = world.story.join("\n");
    assert!(shrunk.contains("event: Rack a is scaling down to 2 members"), "{shrunk}");
    world.story.clear();
    world.set_racks(&a_cluster(&[("a", 2), ("b", 1), ("c", 1)]));
    world.settle();
    let added = world.story.join("\n");
    assert!(added.contains("event: Rack c was created"), "{added}");
}

#[test]
fn the_label_of_a_leaver_is_false_while_it_leaves_and_true_when_it_has_left() {
    let mut world = a_ring(3, 1);
    let leaver = "demo-dc1-a-2";
    let mut seen = vec![label(&world, leaver, "palladion.dev/decommissioned")];
    world.set_racks(&two_racks());
    let mut rest = false;
    while !rest {
        rest = world.tick().unwrap() == crate::sim::world::Tick::Rest;
        let now = label(&world, leaver, "palladion.dev/decommissioned");
        if seen.last() != Some(&now) {
            let server = world.ring.servers.values().find(|s| s.member == leaver);
            let phase = server.map(|s| format!("{:?}", s.phase)).unwrap_or_default();
            assert!(now != "true" || phase != "Normal", "gone before it has left");
            seen.push(now);
        }
    }
    assert_eq!(seen, [Value::Null, json!("false"), json!("true")], "{}", world.last_words());
    let others = ["demo-dc1-a-0", "demo-dc1-a-1", LAST];
    assert!(others.iter().all(|m| label(&world, m, "palladion.dev/decommissioned").is_null()));
}

#[test]
fn events_tell_of_a_replacement_from_its_cause_to_its_end() {
    let mut world = spread(2, 1);
    world.patch_spec(&json!({ "nodeGoneGraceSeconds": 0 }));
    let node = world.node_of(LAST);
    world.lose_node(&node);
    world.settle();
    world.expect_ring(3);
    let said: Vec<&String> = world.story.iter().filter(|line| line.contains("event: ")).collect();
    let about: Vec<&&String> = said.iter().filter(|line| line.contains(LAST)).collect();
    assert!(about.len() >= 2, "{said:#?}");
    assert!(about.iter().any(|line| line.contains("replace")), "{said:#?}");
    assert!(about.last().is_some_and(|line| line.ends_with("was replaced")), "{said:#?}");
    assert_eq!(world.ring.full_members(), 3, "no ghost");
}

#[test]
fn two_starts_are_never_closer_than_the_grace_period() {
    let mut cluster = a_cluster(&[("a", 2), ("b", 2)]);
    cluster["spec"]["bootstrapGraceSeconds"] = json!(90);
    let mut world = World::new().with(&cluster);
    let mut starts: Vec<i64> = Vec::new();
    let mut known = BTreeSet::new();
    let mut rest = false;
    while !rest {
        rest = world.tick().unwrap() == crate::sim::world::Tick::Rest;
        for server in world.ring.servers.values() {
            if known.insert(server.member.clone()) {
                starts.push(world.clock());
            }
        }
    }
    world.expect_ring(4);
    assert_eq!(starts.len(), 4, "{starts:?}");
    for pair in starts.windows(2) {
        assert!(pair[1] - pair[0] >= 90, "{starts:?}\n{}", world.last_words());
    }
}

#[test]
fn no_server_starts_before_every_seed_has_its_volume() {
    let mut cluster = a_cluster(&[("a", 1), ("b", 2)]);
    let place = "/spec/datacenter/racks/1/placement/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions/0/values";
    *cluster.pointer_mut(place).unwrap() = json!(["nowhere"]);
    let mut world = World::new().with(&cluster);
    world.pass(600);
    assert!(world.ring.servers.is_empty(), "{}", world.last_words());
    assert_eq!(object(&world, kinds::MEMBER, "demo-dc1-a-0")["spec"]["start"], Value::Null);
    let said = world.store.get(&cluster_key()).unwrap()["status"]["waits"].to_string();
    assert!(said.contains("demo-dc1-b-0"), "{said}");
    *cluster.pointer_mut(place).unwrap() = json!(["z2"]);
    world.set_racks(&cluster);
    world.settle();
    world.expect_ring(3);
}

#[test]
fn members_get_other_seeds_when_the_disks_of_all_seeds_are_lost_in_an_outage() {
    let mut cluster = a_cluster(&[("a", 3)]);
    cluster["spec"]["seedsPerRack"] = json!(1);
    let mut world = World::new().with(&cluster);
    world.settle();
    assert_eq!(world.write(20), 20);
    world.power_cut();
    world.wipe_volume("demo-dc1-a-0");
    world.api_returns();
    world.settle();
    world.expect_ring(3);
}

/// Those that have data find each other without a seed. One that is alone finds nobody.
#[test]
fn the_last_member_with_data_is_its_own_seed_when_the_disks_of_all_seeds_are_lost() {
    let mut cluster = a_cluster(&[("a", 2)]);
    cluster["spec"]["seedsPerRack"] = json!(1);
    let mut world = World::new().with(&cluster);
    world.settle();
    assert_eq!(world.write(20), 20);
    world.power_cut();
    world.wipe_volume("demo-dc1-a-0");
    world.api_returns();
    world.pass(600);
    assert!(world.runs("demo-dc1-a-1") && world.normal() >= 1, "{}", world.last_words());
}

#[test]
fn a_claim_template_may_be_named_like_the_cluster() {
    let mut cluster = two_racks();
    for rack in 0..2 {
        let claim = json!([{ "metadata": { "name": "x-demo-y" }, "spec": { "resources": { "requests": { "storage": "10Gi" } } } }]);
        cluster["spec"]["datacenter"]["racks"][rack]["storage"] =
            json!({ "volumeClaimTemplates": claim });
    }
    let mut world = World::new().with(&cluster);
    world.settle();
    assert_eq!(world.normal(), 3, "{}", world.last_words());
    for member in ["a-0", "a-1", "b-0"] {
        let claim = object(&world, kinds::CLAIM, &format!("x-demo-y-demo-dc1-{member}"));
        let recorded = &claim["metadata"]["annotations"]["palladion.dev/host-id"];
        let is = &object(&world, kinds::MEMBER, &format!("demo-dc1-{member}"))["spec"]["hostID"];
        assert!(recorded.is_string() && recorded == is, "{member}: {recorded} {is}");
    }
    let status = world.store.get(&cluster_key()).unwrap()["status"].clone();
    assert_eq!(status["unusedClaims"], Value::Null);
}
