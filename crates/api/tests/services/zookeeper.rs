//! `ZookeeperCluster`: what is accepted, and what each rule says.

use crate::judge::{a_cluster, accepted, refused, with};
use serde_json::{Value, json};

fn changed(pointer: &str, value: Value) -> Value {
    with(a_cluster(), pointer, value)
}

/// A cluster that has begun, with another value.
#[track_caller]
fn refused_change(pointer: &str, old: Value, new: Value, expected: &str) {
    let begun = |value: Value| {
        let cluster = with(changed(pointer, value), "/status/initialized/member", json!("m"));
        let cluster = with(cluster, "/status/initialized/volumeID", json!("v"));
        with(cluster, "/status/initialized/nonce", json!("n"))
    };
    let (old, new) = (begun(old), begun(new));
    accepted(&old, None);
    refused(&new, Some(&old), expected);
}

#[test]
fn a_cluster_with_a_version_alone_is_accepted() {
    accepted(&a_cluster(), None);
    for servers in [1, 3, 5, 7] {
        accepted(&changed("/spec/servers", json!(servers)), Some(&a_cluster()));
    }
    accepted(&changed("/spec/version", json!("3.8.4")), None);
    let config = json!({ "tickTime": "500", "snapCount": "1000", "4lw.commands.whitelist": "*" });
    accepted(&changed("/spec/config", config), None);
    accepted(
        &changed("/spec/jvmOptions", json!(["-XX:+UseG1GC", "-Djute.maxbuffer=8388608"])),
        None,
    );
    accepted(&changed("/spec/resources", json!({ "limits": { "memory": "512Mi" } })), None);
    accepted(&changed("/spec/env", json!([{ "name": "TZ", "value": "UTC" }])), None);
}

#[test]
fn what_one_object_can_show_to_be_wrong_is_refused_with_the_way_out() {
    for (pointer, value, expected) in [
        ("/metadata/name", json!("1st"), "start with a letter"),
        ("/metadata/name", json!("c".repeat(50)), "at most 49 characters"),
        ("/spec/servers", json!(2), "1, 3, 5 or 7"),
        ("/spec/servers", json!(0), "1, 3, 5 or 7"),
        ("/spec/version", json!("3.7.2"), "use one of the release lines 3.8, 3.9"),
        ("/spec/version", json!("latest"), "is not supported"),
        ("/spec/ports", json!({ "client": 2888 }), "three different ports"),
        ("/spec/ports", json!({ "client": 8080 }), "none of them 8080"),
        ("/spec/ports", json!({ "client": 80 }), "greater than or equal to 1024"),
        ("/spec/heapSize", json!("much"), "should match"),
        ("/spec/resources", json!({ "limits": { "memory": "128Mi" } }), "256Mi or more"),
        ("/spec/env", json!([{ "name": "JVMFLAGS" }]), "these environment variables are reserved"),
        ("/spec/env", json!([{ "name": "ZOO_MY_ID" }]), "ZOO_MY_ID"),
        ("/spec/env", json!([{ "name": "A" }, { "name": "A" }]), "must be unique"),
        ("/spec/annotations", json!({ "palladion.dev/applied": "x" }), "reserved for the operator"),
        ("/spec/jvmOptions", json!(["Xmx1g"]), "must start with `-`"),
        ("/spec/jvmOptions", json!(["-Xmx1g"]), "set `heapSize` instead"),
        ("/spec/jvmOptions", json!(["-Dzookeeper.db.autocreate=true"]), "without `zookeeper.`"),
        ("/spec/unknown", json!(1), "unknown field"),
    ] {
        refused(&changed(pointer, value), None, expected);
    }
    let much = with(
        changed("/spec/heapSize", json!("900Mi")),
        "/spec/resources",
        json!({ "limits": { "memory": "1Gi" } }),
    );
    refused(&much, None, "more than 80% of the memory limit");
}

#[test]
fn every_reserved_setting_is_refused_in_any_spelling() {
    for reserved in palladion_api::zookeeper::CONFIG {
        let name = reserved.name.replace('*', "x");
        for spelled in [name.clone(), name.to_uppercase()] {
            let mut config = serde_json::Map::new();
            config.insert(spelled, json!("1"));
            refused(&changed("/spec/config", json!(config)), None, reserved.instead);
        }
    }
}

#[test]
fn a_setting_cannot_bring_in_another_one() {
    refused(&changed("/spec/config", json!({ "a=b": "1" })), None, "letters, digits");
    let two = json!({ "tickTime": "500\ndataDir=/tmp" });
    refused(&changed("/spec/config", two), None, "one line each");
    refused(&changed("/spec/config", json!({ "tickTime": "5\\" })), None, "one line each");
}

/// rabbitmq/cluster-operator#992 and #653, pravega/zookeeper-operator#540: what cannot be
/// changed is refused, and a volume that grows is not.
#[test]
fn what_every_server_stands_on_does_not_change() {
    refused_change("/spec/ports/client", json!(2181), json!(2182), "`ports` are immutable");
    let claim = |name: &str, class: &str, size: &str| {
        json!({
            "metadata": { "name": name },
            "spec": { "storageClassName": class, "resources": { "requests": { "storage": size } } },
        })
    };
    let at = "/spec/storage/volumeClaimTemplate";
    let old = || claim("data", "fast", "10Gi");
    refused_change(at, old(), claim("data", "slow", "10Gi"), "`storageClassName` is immutable");
    refused_change(at, old(), claim("other", "fast", "10Gi"), "volumeClaimTemplate is immutable");
    refused_change(at, old(), claim("data", "fast", "9Gi"), "cannot shrink");
    refused_change(at, old(), json!({ "spec": {} }), "`storageClassName` is immutable");
    let larger = changed(at, claim("data", "fast", "20Gi"));
    accepted(&larger, Some(&changed(at, old())));
    // Nothing was created yet: a slip may be corrected.
    accepted(&changed(at, claim("data", "slow", "1Gi")), Some(&changed(at, old())));
}

/// pravega/zookeeper-operator#517: there another access mode was accepted and not used.
#[test]
fn a_claim_is_for_one_server() {
    let at = "/spec/storage/volumeClaimTemplate/spec";
    refused(&changed(at, json!({ "volumeName": "v" })), None, "empty volume of its own");
    refused(&changed(at, json!({ "accessModes": ["ReadWriteMany"] })), None, "ReadWriteOnce");
}

#[test]
fn the_version_goes_no_line_back() {
    let ran = |version: &str, line: &str| {
        let cluster = changed("/spec/version", json!(version));
        with(cluster, "/status/highestReleaseLine", json!(line))
    };
    refused(&ran("3.8.4", "3.9"), Some(&ran("3.9.3", "3.9")), "belongs to an older release line");
    accepted(&ran("3.9.2", "3.9"), Some(&ran("3.9.3", "3.9")));
    accepted(&ran("3.9.3", "3.8"), Some(&ran("3.8.4", "3.8")));
    // What was never run may be taken back.
    accepted(&ran("3.8.4", "3.8"), Some(&ran("3.9.3", "3.8")));
}

/// The example of this name.
fn example(name: &str) -> Value {
    let path = format!("{}/../../examples/zookeeper/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the example should be there");
    serde_yaml::from_str(&text).expect("it is YAML")
}

#[test]
fn the_examples_are_accepted_and_the_full_one_has_every_field() {
    for name in ["minimal", "one-server", "full"] {
        accepted(&example(name), None);
    }
    let full = example("full");
    let has = full["spec"].as_object().expect("a spec");
    // Whose absence is the usual, and which a pause or another image would change.
    let left_out = ["annotations", "imagePullSecrets", "sidecarImage", "paused"];
    let schema = &crate::judge::judges()["ZookeeperCluster"].schema["properties"]["spec"];
    let fields = schema["properties"].as_object().expect("fields").keys();
    let missing: Vec<&String> = fields
        .filter(|field| !has.contains_key(*field) && !left_out.contains(&field.as_str()))
        .collect();
    assert_eq!(missing, Vec::<&String>::new());
}
