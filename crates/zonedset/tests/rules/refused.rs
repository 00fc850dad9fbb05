//! Wrong input: refused with a message that says how to comply; what runs goes on.

use crate::world::{World, a_spec, with};
use serde_json::{Value, json};

fn refusal(spec: Value) -> String {
    let mut world = World::settled(a_spec());
    let before = world.uids();
    world.set_spec(spec);
    world.settle();
    assert_eq!(world.uids(), before, "what runs goes on");
    let accepted = world.condition("Accepted");
    assert_eq!(accepted["status"], "False");
    assert_eq!(accepted["reason"], "InvalidSpec");
    assert_eq!(world.status()["observedGeneration"], 2);
    accepted["message"].as_str().unwrap().to_string()
}

#[test]
fn each_wrong_spec_is_refused_with_its_field() {
    let pod = "/template/spec/template";
    let cases = [
        (with(a_spec(), &format!("{pod}/spec/containers"), json!([])), "containers"),
        (with(a_spec(), &format!("{pod}/spec/containers"), json!("c")), "pod template"),
        (
            with(a_spec(), "/template/spec/selector", json!({ "matchLabels": { "app": "other" } })),
            "app=other",
        ),
        (
            with(
                a_spec(),
                "/template/spec/selector",
                json!({ "matchExpressions": [{ "key": "app", "operator": "Exists" }] }),
            ),
            "matchExpressions",
        ),
        (
            with(
                a_spec(),
                "/activePassiveProbes",
                json!({ "nobody": { "exec": { "command": ["true"] } } }),
            ),
            "nobody",
        ),
        (with(a_spec(), "/activePassiveProbes", json!({ "c": {} })), "exactly one"),
        (
            with(
                a_spec(),
                "/activePassiveProbes",
                json!({ "c": { "tcpSocket": { "port": "none" } } }),
            ),
            "port",
        ),
        (
            with(
                a_spec(),
                &format!("{pod}/spec/containers/0/env"),
                json!([{ "name": "KUBE_AZ", "value": "x" }]),
            ),
            "KUBE_AZ",
        ),
        (
            with(
                a_spec(),
                &format!("{pod}/metadata/labels"),
                json!({ "palladion.dev/az-index": "9" }),
            ),
            "palladion.dev/az-index",
        ),
        (
            with(
                with(a_spec(), "/rollout", json!("Versioned")),
                "/template/spec/volumeClaimTemplates",
                json!([{ "metadata": { "name": "d" }, "spec": {} }]),
            ),
            "Partitioned",
        ),
        (with(a_spec(), "/rollout", json!("Sideways")), "Sideways"),
    ];
    for (spec, word) in cases {
        let message = refusal(spec);
        assert!(message.contains(word), "{message}");
    }
}

#[test]
fn while_paused_nothing_but_status_is_written() {
    let mut world = World::settled(a_spec());
    let before = world.uids();
    let paused = with(a_spec(), "/paused", json!(true));
    world.set_spec(with(paused, "/template/spec/replicas", json!(5)));
    world.settle();
    assert_eq!(world.uids(), before);
    assert_eq!(world.condition("Paused")["status"], "True");
    world.set_spec(with(a_spec(), "/template/spec/replicas", json!(5)));
    world.settle();
    assert_eq!(world.uids().len(), 10);
    assert_eq!(world.condition("Paused")["status"], "False");
}
