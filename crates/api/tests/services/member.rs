//! `ServiceMember`: rules, and values that this build does not know.

use crate::judge::{a_member, accepted, judges, refused, with};
use palladion_api::crd;
use palladion_api::service_member::{ServiceMember, ServiceMemberStatus};
use serde_json::{Value, json};

fn changed(pointer: &str, value: Value) -> Value {
    with(a_member(), pointer, value)
}

#[test]
fn what_a_member_is_does_not_change() {
    accepted(&a_member(), Some(&a_member()));
    for (pointer, value, expected) in [
        ("/spec/system", json!("RabbitMQ"), "`system` of a member is immutable"),
        ("/spec/cluster", json!("other"), "`cluster` of a member is immutable"),
        ("/spec/serverID", json!(2), "`serverID` belongs to the volume"),
        ("/spec/serverID", Value::Null, "`serverID` belongs to the volume"),
        ("/spec/starts", json!(2), "never decreases"),
    ] {
        let mut new = changed(pointer, value.clone());
        if value.is_null() {
            new["spec"].as_object_mut().expect("a spec").remove("serverID");
        }
        refused(&new, Some(&a_member()), expected);
    }
    let another_volume = with(changed("/spec/volumeID", json!("v2")), "/spec/serverID", json!(4));
    let another_volume = with(another_volume, "/spec/starts", json!(0));
    accepted(&another_volume, Some(&a_member()));
    let ended = changed("/spec/run", json!("Terminated"));
    refused(&a_member(), Some(&ended), "which is final");
}

#[test]
fn a_node_name_is_of_rabbitmq_and_a_server_id_of_zookeeper() {
    refused(&changed("/spec/nodeName", json!("rabbit@a")), None, "only members of RabbitMQ");
    let mut rabbit = changed("/spec/system", json!("RabbitMQ"));
    refused(&rabbit, None, "only members of ZooKeeper");
    rabbit["spec"].as_object_mut().expect("a spec").remove("serverID");
    accepted(&with(rabbit, "/spec/nodeName", json!("rabbit@a")), None);
    refused(&changed("/spec/serverID", json!(255)), None, "less than or equal to 254");
    refused(&changed("/spec/serverID", json!(0)), None, "greater than or equal to 1");
}

#[test]
fn permits_and_operations_carry_what_their_kind_needs_and_no_more() {
    let permit = |kind: &str, peers: Value| {
        let permit = json!({ "kind": kind, "nonce": "n", "podUID": "p", "volumeID": "v", "reason": "r", "peers": peers });
        changed("/spec/start", permit)
    };
    let peers = json!([{ "serverID": 1, "address": "10.0.0.1" }]);
    accepted(&permit("Join", peers.clone()), None);
    accepted(&permit("Initialize", json!([])), None);
    refused(&permit("Initialize", peers.clone()), None, "only a Join permit has `peers`");
    refused(&permit("Rescue", peers), None, "only a Join permit has `peers`");
    let operation = |kind: &str, more: Value| {
        let mut operation = json!({ "id": "o", "volumeID": "v", "kind": kind });
        operation.as_object_mut().expect("a map").extend(more.as_object().expect("a map").clone());
        changed("/spec/operation", operation)
    };
    let reconfig = json!({ "reconfig": { "version": "100000000", "remove": [3] } });
    accepted(&operation("Reconfig", reconfig.clone()), None);
    accepted(&operation("Rebalance", json!({})), None);
    refused(&operation("Reconfig", json!({})), None, "Reconfig requires `reconfig`");
    refused(&operation("Rebalance", reconfig), None, "no other operation has them");
    refused(&operation("Forget", json!({})), None, "Forget requires `node`");
    let odd = json!({ "reconfig": { "version": "0x1" } });
    refused(&operation("Reconfig", odd), None, "should match");
}

#[test]
fn jobs_of_rabbitmq_name_the_node_and_what_becomes_of_its_queues() {
    let operation = |kind: &str, more: Value| {
        let mut operation = json!({ "id": "o", "volumeID": "v", "kind": kind });
        operation.as_object_mut().expect("a map").extend(more.as_object().expect("a map").clone());
        changed("/spec/operation", operation)
    };
    let node = || json!({ "node": "rabbit@a" });
    accepted(&operation("MoveReplicas", node()), None);
    accepted(&operation("Forget", node()), None);
    accepted(&operation("Forget", json!({ "node": "rabbit@a", "queues": "MayName" })), None);
    accepted(&operation("ImportDefinitions", json!({ "definitionsHash": "h" })), None);
    for (kind, more) in [
        ("MoveReplicas", json!({})),
        ("Grow", node()),
        ("MoveReplicas", json!({ "node": "rabbit@a", "queues": "MayName" })),
        ("ImportDefinitions", json!({})),
        ("Rebalance", json!({ "definitionsHash": "h" })),
    ] {
        refused(
            &operation(kind, more),
            None,
            "Forget requires `node`, MoveReplicas requires `node`",
        );
    }
    let permit = |kind: &str, field: &str| {
        let mut permit =
            json!({ "kind": kind, "nonce": "n", "podUID": "p", "volumeID": "v", "reason": "r" });
        permit[field] = json!(["rabbit@a"]);
        changed("/spec/start", permit)
    };
    for field in ["nodes", "flags"] {
        accepted(&permit("Join", field), None);
        refused(&permit("Initialize", field), None, "only a Join permit has `nodes` and `flags`");
    }
}

/// A status with every enum in it, each with a word that nobody knows.
fn newer_status() -> Value {
    let time = "2026-01-01T00:00:00Z";
    let view = json!({
        "serverID": 1, "mode": "Invented", "configVersion": "1",
        "servers": [{ "serverID": 1, "address": "a", "role": "Invented" }],
    });
    json!({
        "volume": { "volumeID": "v", "state": "Invented", "fileSystem": "f" },
        "server": { "state": "Invented", "since": time },
        "health": [{ "result": "Invented", "since": time }],
        "permit": { "nonce": "n", "state": "Invented" },
        "intent": { "nonce": "n", "state": "Invented" },
        "operation": { "id": "o", "state": "Invented", "answer": "Invented" },
        "ensemble": view,
        "evidence": { "nonce": "n", "readAt": time, "volumeID": "v", "ensemble": view },
    })
}

#[test]
fn a_newer_agents_words_are_taken_named_and_end_no_watch() {
    let member = changed("/status", newer_status());
    accepted(&member, None);
    let status: ServiceMemberStatus =
        serde_json::from_value(newer_status()).expect("it should be read all the same");
    assert_eq!(
        status.unknown(),
        [
            "status.ensemble",
            "status.evidence.ensemble",
            "status.health.result",
            "status.intent.state",
            "status.operation.answer",
            "status.operation.state",
            "status.permit.state",
            "status.server.state",
            "status.volume.state",
        ]
    );
    let words = newer_status().to_string().matches("Invented").count();
    let schema = &judges()["ServiceMember"].schema["properties"]["status"];
    assert_eq!(words, open_words(schema), "each enum of the status is in it");
}

/// Enums of a schema that take any word.
fn open_words(schema: &Value) -> usize {
    let inner = ["items", "additionalProperties"].map(|each| &schema[each]);
    let fields = schema["properties"].as_object().into_iter().flat_map(|f| f.values());
    let own = usize::from(schema["pattern"] == crd::WORD);
    assert!(schema["enum"].is_null(), "{schema} is closed");
    own + fields.chain(inner.into_iter().filter(|s| s.is_object())).map(open_words).sum::<usize>()
}

#[test]
fn a_newer_operators_words_are_kept_and_written_back_as_they_were() {
    let spec = json!({
        "system": "Invented", "cluster": "c", "run": "Invented", "revisions": [],
        "start": { "kind": "Invented", "nonce": "n", "podUID": "p", "volumeID": "v", "reason": "r", "attempt": 1, "data": "Invented" },
        "intent": { "kind": "Invented", "nonce": "n", "volumeID": "v" },
        "operation": { "id": "o", "volumeID": "v", "kind": "Invented", "queues": "Invented" },
        "replace": { "lost": { "volumeID": "v" }, "cause": "Invented", "reason": "r" },
    });
    let member: ServiceMember =
        serde_json::from_value(changed("/spec", spec.clone())).expect("it should be read");
    assert_eq!(member.spec.unknown().len(), 8, "{:?}", member.spec.unknown());
    assert_eq!(json!(member.spec), spec);
    // The API server takes none of them in a spec, which people write.
    assert_eq!(
        crate::judge::said(&changed("/spec", spec), None)
            .iter()
            .filter(|s| s.contains("Unsupported value"))
            .count(),
        8
    );
}
