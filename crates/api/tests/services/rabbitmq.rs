//! `RabbitmqCluster`: what is accepted, and what each rule says.

use crate::judge::{a_rabbit, accepted, refused, with};
use serde_json::{Value, json};

fn changed(pointer: &str, value: Value) -> Value {
    with(a_rabbit(), pointer, value)
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
    accepted(&a_rabbit(), None);
    for nodes in [1, 3, 5, 7] {
        accepted(&changed("/spec/nodes", json!(nodes)), Some(&a_rabbit()));
    }
    for version in ["3.10.8", "3.11", "3.13.7-management"] {
        accepted(&changed("/spec/version", json!(version)), None);
    }
    let config =
        json!({ "vm_memory_high_watermark.relative": "0.5", "log.console.level": "debug" });
    accepted(&changed("/spec/config", config), None);
    accepted(&changed("/spec/plugins", json!(["rabbitmq_shovel", "rabbitmq_management"])), None);
    accepted(&changed("/spec/partitionHandling", json!("Autoheal")), None);
    accepted(&changed("/spec/resources", json!({ "limits": { "memory": "512Mi" } })), None);
    accepted(&changed("/spec/env", json!([{ "name": "TZ", "value": "UTC" }])), None);
    accepted(&changed("/spec/vhost", json!("/orders")), None);
}

#[test]
fn what_one_object_can_show_to_be_wrong_is_refused_with_the_way_out() {
    for (pointer, value, expected) in [
        ("/metadata/name", json!("1st"), "start with a letter"),
        ("/metadata/name", json!("c".repeat(49)), "at most 48 characters"),
        ("/spec/nodes", json!(2), "1, 3, 5 or 7"),
        ("/spec/nodes", json!(0), "1, 3, 5 or 7"),
        ("/spec/version", json!("3.9.29"), "use one of the release lines 3.10, 3.11, 3.12, 3.13"),
        ("/spec/version", json!("4.0.2"), "is not supported"),
        ("/spec/version", json!("3.100.1"), "is not supported"),
        ("/spec/partitionHandling", json!("Ignore"), "Unsupported value"),
        ("/spec/ports", json!({ "amqp": 15672 }), "three different ports"),
        ("/spec/ports", json!({ "amqp": 8080 }), "none of them 8080"),
        ("/spec/ports", json!({ "distribution": 4369 }), "Erlang's port mapper"),
        ("/spec/ports", json!({ "amqp": 80 }), "greater than or equal to 1024"),
        ("/spec/resources", json!({ "limits": { "memory": "256Mi" } }), "512Mi or more"),
        ("/spec/env", json!([{ "name": "RABBITMQ_NODENAME" }]), "RABBITMQ_NODENAME"),
        ("/spec/env", json!([{ "name": "ERL_FLAGS" }]), "these environment variables are reserved"),
        ("/spec/env", json!([{ "name": "A" }, { "name": "A" }]), "must be unique"),
        ("/spec/annotations", json!({ "palladion.dev/applied": "x" }), "reserved for the operator"),
        ("/spec/plugins", json!(["rabbitmq_peer_discovery_k8s"]), "which nodes are in the cluster"),
        ("/spec/plugins", json!(["a]. ["]), "should match"),
        ("/spec/clusterDomain", json!("Cluster.Local"), "should match"),
        ("/spec/clusterDomain", json!("d".repeat(64)), "must have at most 63"),
        ("/spec/vhost", json!(""), "should be at least 1"),
        ("/spec/unknown", json!(1), "unknown field"),
    ] {
        refused(&changed(pointer, value), None, expected);
    }
}

#[test]
fn every_reserved_setting_is_refused_in_any_spelling() {
    for reserved in palladion_api::rabbitmq::CONFIG {
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
    let two = json!({ "net_ticktime": "60\nload_definitions = /tmp/x" });
    refused(&changed("/spec/config", two), None, "one line each");
    refused(&changed("/spec/config", json!({ "net_ticktime": "60 # s" })), None, "one line each");
    refused(&changed("/spec/config", json!({ "net_ticktime": "" })), None, "not empty");
}

#[test]
fn what_every_node_stands_on_does_not_change() {
    refused_change("/spec/ports/amqp", json!(5672), json!(5673), "`ports` are immutable");
    refused_change("/spec/vhost", json!("/"), json!("a"), "`vhost` is immutable");
    let at = "/spec/storage/volumeClaimTemplate";
    let claim =
        |size: &str| json!({ "spec": { "resources": { "requests": { "storage": size } } } });
    refused_change(at, claim("10Gi"), claim("9Gi"), "cannot shrink");
    accepted(&changed(at, claim("20Gi")), Some(&changed(at, claim("10Gi"))));
}

/// A mistake in what every node stands on is corrected as long as no node has served.
#[test]
fn secret_and_domain_stay_once_a_node_has_served() {
    let begun = json!({ "member": "m", "volumeID": "v", "nonce": "n" });
    let at = |pointer: &str, value: &str, initialized: &Value| {
        let credentials = json!({ "secretName": "a", "since": "2026-01-01T00:00:00Z" });
        let cluster = changed(pointer, json!(value));
        let status = json!({ "initialized": initialized, "credentials": credentials });
        with(cluster, "/status", status)
    };
    let mut served = begun.clone();
    served["servedAt"] = json!("2026-01-01T00:00:00Z");
    for (pointer, old, new) in
        [("/spec/secretName", "a", "b"), ("/spec/clusterDomain", "a.b", "a.c")]
    {
        let field = pointer.trim_start_matches("/spec/");
        let expected = format!("`{field}` is immutable");
        let (from, to) = (at(pointer, old, &served), at(pointer, new, &served));
        refused(&to, Some(&from), &expected);
        accepted(&at(pointer, new, &begun), Some(&at(pointer, old, &begun)));
        // Of a cluster that was created again no start is on record.
        let again =
            |value: &str| with(at(pointer, value, &begun), "/status/completeOnce", json!(true));
        refused(&again(new), Some(&again(old)), &expected);
    }
    // Back to the Secret on record.
    let to = |name: &str| at("/spec/secretName", name, &served);
    accepted(&to("a"), Some(&to("b")));
    // The one that the operator creates has this name: that is no change, any other is one.
    let mut unnamed = to("a");
    unnamed["spec"].as_object_mut().expect("a spec").remove("secretName");
    accepted(&to("messages-rmq"), Some(&unnamed));
    refused(&to("b"), Some(&unnamed), "with the credentials in Secret a: change it back");
}

#[test]
fn the_version_goes_one_line_up_and_none_back() {
    let ran = |version: &str, line: &str| {
        let cluster = changed("/spec/version", json!(version));
        with(cluster, "/status/highestReleaseLine", json!(line))
    };
    let older = "belongs to an older release line";
    refused(&ran("3.11.28", "3.12"), Some(&ran("3.12.14", "3.12")), older);
    refused(&ran("3.9.1", "3.10"), Some(&ran("3.10.8", "3.10")), "is not supported");
    let above = "more than one release line above 3.10";
    refused(&ran("3.12.14", "3.10"), Some(&ran("3.10.8", "3.10")), above);
    // What was asked for and never ran does not count.
    refused(&ran("3.12.14", "3.10"), Some(&ran("3.11.1", "3.10")), above);
    accepted(&ran("3.11.28", "3.10"), Some(&ran("3.10.8", "3.10")));
    accepted(&ran("3.13.7", "3.12"), Some(&ran("3.12.14", "3.12")));
    accepted(&ran("3.12.1", "3.12"), Some(&ran("3.12.14", "3.12")));
    // Before anything has run, a slip may be corrected.
    accepted(
        &changed("/spec/version", json!("3.13.7")),
        Some(&changed("/spec/version", json!("3.10.8"))),
    );
}

/// The example of this name.
fn example(name: &str) -> Value {
    let path = format!("{}/../../examples/rabbitmq/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the example should be there");
    serde_yaml::from_str(&text).expect("it is YAML")
}

#[test]
fn the_examples_are_accepted_and_the_full_one_has_every_field() {
    for name in ["minimal", "one-node", "full"] {
        accepted(&example(name), None);
    }
    let full = example("full");
    let has = full["spec"].as_object().expect("a spec");
    // Whose absence is the usual, and which a pause or another image would change.
    let left_out = ["annotations", "imagePullSecrets", "sidecarImage", "paused"];
    let schema = &crate::judge::judges()["RabbitmqCluster"].schema["properties"]["spec"];
    let fields = schema["properties"].as_object().expect("fields").keys();
    let missing: Vec<&String> = fields
        .filter(|field| !has.contains_key(*field) && !left_out.contains(&field.as_str()))
        .collect();
    assert_eq!(missing, Vec::<&String>::new());
}
