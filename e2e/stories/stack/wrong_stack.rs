//! Mistakes in a Stack: each is named in a condition in time, with the service that it is about,
//! and cured by correcting the Stack alone.

use std::time::Instant;

use palladion_api::reasons::Reason;
use palladion_e2e::bed;
use palladion_e2e::bed::condition;
use palladion_e2e::mistakes::{Said, wait_named};
use palladion_e2e::stack::Services;
use serde_json::{Value, json};

use super::wrong_input::{OPERATOR, object, right, said};

/// A service that the API server refuses, one that the operator refuses, and one that nobody is
/// to create.
pub(super) fn named_and_cured() {
    let services = Services { namespace: "stack-of-mistakes" };
    bed().fresh_namespace(services.namespace).expect("a namespace");
    let child = |spec: &Value| {
        json!({ "name": "web", "kind": "Component", "activate": true, "create": true,
                "spec": spec })
    };
    let stack = |service: &Value| object("Stack", "all", &json!({ "services": [service] }));
    let named = |service: &Value, said: Said| {
        services.apply(&stack(service).to_string());
        wait_named((services.namespace, "stack", "all"), &said, OPERATOR, Instant::now());
    };
    let mut absent = child(&right());
    absent["create"] = json!(false);
    named(
        &absent,
        said(
            "Degraded",
            Reason::ChildAbsent,
            &["Component", "web does not exist", "set `create: true`"],
        ),
    );
    let mut refused = right();
    refused["replicas"] = json!(1000);
    named(
        &child(&refused),
        said(
            "Degraded",
            Reason::ChildRefused,
            &["the API server rejects", "web", "spec.replicas", "100"],
        ),
    );
    let mut typo = right();
    typo["config"]["files"][0]["template"] = json!("{{ ports.htp }}\n");
    named(
        &child(&typo),
        said(
            "Degraded",
            Reason::ChildRefused,
            &["the operator rejects the spec of", "web", "file conf fails in line 1"],
        ),
    );
    services.apply(&stack(&child(&right())).to_string());
    services.wait(("stack", "all"), "the service to be ready", |o| {
        o["status"]["ready"] == "1/1" && condition(o, "Degraded")["status"] == "False"
    });
    services.end();
}
