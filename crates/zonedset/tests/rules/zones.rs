//! Zones, labels, environment, Services.

use crate::world::{World, a_spec, with};
use serde_json::{Value, json};

fn env<'a>(set: &'a Value, list: &str, name: &str) -> Option<&'a str> {
    let all = set["spec"]["template"]["spec"][list][0]["env"].as_array()?;
    all.iter().find(|v| v["name"] == name)?["value"].as_str()
}

#[test]
fn each_zone_has_a_set_with_its_labels_annotations_and_environment() {
    let spec = with(
        a_spec(),
        "/template/spec/template/spec/initContainers",
        json!([{ "name": "i", "image": "good" }]),
    );
    let world = World::settled(spec);
    assert_eq!(world.sets(), ["web-z0", "web-z1"]);
    let set = world.set("web-z1");
    let pod = &set["spec"]["template"];
    for metadata in [&set["metadata"], &pod["metadata"]] {
        assert_eq!(metadata["labels"]["palladion.dev/az-index"], "1");
        assert_eq!(metadata["labels"]["palladion.dev/az-name"], "b");
        assert_eq!(metadata["annotations"]["palladion.dev/zones"], r#"["a", "b"]"#);
        assert_eq!(metadata["annotations"]["palladion.dev/version"], "1");
    }
    for list in ["initContainers", "containers"] {
        for name in ["KUBE_AZ", "BOSH_AZ", "CF_OPERATOR_AZ"] {
            assert_eq!(env(&set, list, name), Some("b"), "{list} {name}");
        }
        assert_eq!(env(&set, list, "AZ_INDEX"), Some("2"));
        assert_eq!(env(&set, list, "REPLICAS"), Some("2"));
    }
    assert_eq!(set["spec"]["replicas"], 2);
    let terms = &pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        ["nodeSelectorTerms"];
    assert_eq!(
        terms[0]["matchExpressions"],
        json!([{ "key": "topology.kubernetes.io/zone", "operator": "In", "values": ["b"] }])
    );
    assert_eq!(pod["metadata"]["labels"]["app"], "web");
    assert_eq!(world.status()["ready"], true);
    assert_eq!(world.status()["pods"], "4/4");
    assert_eq!(world.status()["rollout"], "Done");
}

#[test]
fn without_zones_there_is_one_set_that_may_run_anywhere() {
    let world = World::settled(with(a_spec(), "/zones", json!([])));
    assert_eq!(world.sets(), ["web"]);
    let set = world.set("web");
    assert_eq!(set["metadata"]["labels"]["palladion.dev/az-index"], "0");
    assert_eq!(env(&set, "containers", "AZ_INDEX"), Some("1"));
    assert_eq!(env(&set, "containers", "KUBE_AZ"), Some(""));
    assert!(set["spec"]["template"]["spec"]["affinity"].is_null());
    assert!(set["metadata"]["annotations"]["palladion.dev/zones"].is_null());
}

#[test]
fn tolerations_and_the_documents_own_zone_label_are_used() {
    let spec = with(
        a_spec(),
        "/template/spec/template/spec/tolerations",
        json!([{ "key": "spot", "operator": "Exists" }]),
    );
    let spec = with(spec, "/zoneNodeLabel", json!("failure-domain.beta.kubernetes.io/zone"));
    let world = World::settled(spec);
    let pod = &world.set("web-z0")["spec"]["template"]["spec"];
    assert_eq!(pod["tolerations"][0]["key"], "spot");
    let text = pod["affinity"].to_string();
    assert!(text.contains("failure-domain.beta.kubernetes.io/zone"), "{text}");
}

#[test]
fn pods_are_labelled_with_their_ordinal_without_a_webhook() {
    let world = World::settled(a_spec());
    assert_eq!(world.pod("web-z0-1")["metadata"]["labels"]["palladion.dev/pod-ordinal"], "1");
    assert_eq!(world.pod("web-z1-0")["metadata"]["labels"]["palladion.dev/pod-ordinal"], "0");
}

#[test]
fn a_zone_added_at_the_end_restarts_nobody_and_everybody_learns_of_it() {
    let mut world = World::settled(a_spec());
    let before = world.uids();
    world.set_spec(with(a_spec(), "/zones", json!(["a", "b", "c"])));
    world.settle();
    assert_eq!(world.sets(), ["web-z0", "web-z1", "web-z2"]);
    let after = world.uids();
    assert!(before.iter().all(|(name, uid)| after.get(name) == Some(uid)));
    assert_eq!(
        world.pod("web-z0-0")["metadata"]["annotations"]["palladion.dev/zones"],
        r#"["a", "b", "c"]"#
    );
    assert_eq!(world.status()["ready"], true);
    assert_eq!(world.status()["version"], 1);
}

#[test]
fn a_zone_taken_out_loses_its_set_alone() {
    let mut world = World::settled(a_spec());
    let before = world.uids();
    world.set_spec(with(a_spec(), "/zones", json!(["a"])));
    world.settle();
    assert_eq!(world.sets(), ["web-z0"]);
    assert_eq!(world.uids().get("web-z0-0"), before.get("web-z0-0"));
}

#[test]
fn a_zone_that_no_node_carries_is_named_with_those_that_there_are() {
    let world = World::settled(with(a_spec(), "/zones", json!(["a", "mars"])));
    let degraded = world.condition("Degraded");
    assert_eq!(degraded["reason"], "ZoneWithoutNodes");
    let message = degraded["message"].as_str().unwrap();
    assert!(message.contains("zone=mars") && message.contains("a, b and c"), "{message}");
}

#[test]
fn services_are_made_for_named_ports_and_labels_can_be_chosen() {
    let spec = with(
        a_spec(),
        "/template/spec/template/spec/containers/0/ports",
        json!([{ "name": "http", "containerPort": 8080 }]),
    );
    let spec = with(spec, "/instanceGroup", json!("nats"));
    let spec = with(spec, "/deployment", json!("nats-deployment"));
    let mut world = World::settled(with(
        spec.clone(),
        "/activePassiveProbes",
        json!({ "c": { "tcpSocket": { "port": "http" } } }),
    ));
    assert_eq!(world.services(), ["web", "web-active", "web-ready"]);
    let labels = world.pod("web-z0-0")["metadata"]["labels"].clone();
    assert_eq!(labels["palladion.dev/instance-group-name"], "nats");
    assert_eq!(labels["palladion.dev/deployment-name"], "nats-deployment");
    world.set_spec(with(spec, "/services", json!("None")));
    world.run_controllers();
    world.settle();
    let ending = |n: &str| {
        world
            .store
            .list(palladion_zonedset::resources::SERVICE)
            .find(|(k, _)| k.name == n)
            .is_none_or(|(_, s)| s["metadata"]["deletionTimestamp"].is_string())
    };
    assert!(ending("web") && ending("web-active") && ending("web-ready"));
}

#[test]
fn at_rest_nothing_is_written() {
    let mut world = World::settled(a_spec());
    let before = world.store.log().len();
    for _ in 0..3 {
        world.pass(600);
    }
    assert_eq!(world.store.log().len(), before);
}
