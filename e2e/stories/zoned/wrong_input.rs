//! What is refused, and with which words.

use std::path::Path;

use palladion_api::reasons::Reason;
use palladion_e2e::bed;
use palladion_e2e::story::Story;
use palladion_e2e::zoned::{PATIENCE, Zoned, example};
use serde_json::{Value, json};

use crate::manifests;

pub fn story() -> Story {
    Story::named("zoned-wrong-input")
        .step("wrong input is refused with the way out", refused)
        .step("a misspelled field of the template is named", misspelled_field)
        .step("the API server judges every manifest as the unit tests do", every_manifest)
        .step("every example is accepted", every_example)
        .into()
}

fn refused() {
    bed().fresh_namespace("zoned-wrong").expect("a namespace");
    let web = example("partitioned");
    let cases = [
        (web.replace("rollout: Partitioned", "rollout: Versioned").replace("      replicas: 2\n", "      replicas: 2\n      volumeClaimTemplates: [{metadata: {name: d}, spec: {}}]\n"), "use `rollout: Partitioned`"),
        (web.replace("  zones: [z1, z2]", "  activePassiveProbes: {nobody: {tcpSocket: {port: 1}}}"), "name of a container"),
        (web.replace("  zones: [z1, z2]", "  zones: [z1, z1]"), "each zone may be listed only once"),
        (web.replace("  name: web\n", "  name: a-name-that-is-much-too-long-for-pods-of-a-zone-of-it\n"), "the name is too long"),
        (web.replace("      replicas: 2\n", "      replicas: 2\n      selector: {matchLabels: {app: other}}\n"), "selector.matchLabels"),
        (web.replace("  zones: [z1, z2]", "  scaling: {min: 4, max: 2}"), "must not be greater than"),
    ];
    for (manifest, expected) in cases {
        assert_ne!(manifest, web, "the case should change something");
        let error = bed().apply("zoned-wrong", &manifest).expect_err("should be refused");
        assert!(format!("{error:#}").contains(expected), "{error:#}");
    }
    bed().apply("zoned-wrong", &web.replace("zones: [z1, z2]", "zones: [mars]")).expect("accepted");
    let zoned = Zoned { namespace: "zoned-wrong", name: "web" };
    zoned.wait("the zone to be named", PATIENCE, |o| {
        o["status"].to_string().contains(Reason::ZoneWithoutNodes.as_str())
    });
    zoned.end();
}

fn misspelled_field() {
    let ns = "zoned-misspelled";
    bed().fresh_namespace(ns).expect("a namespace");
    let wrong = example("partitioned").replace("              ports:", "              prots:");
    bed().apply(ns, &wrong).expect("accepted");
    let web = Zoned { namespace: ns, name: "web" };
    let told = web.wait("the field to be named", PATIENCE, |o| {
        o["status"].to_string().contains(Reason::CreateStatefulSetError.as_str())
    });
    assert!(told["status"].to_string().contains(".prots"), "{}", told["status"]);
    bed().apply(ns, &example("partitioned")).expect("accepted");
    web.wait_ready();
    web.end();
}

fn every_manifest() {
    bed().fresh_namespace("zoned-manifests").expect("a namespace");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/manifests/zoned");
    let all = manifests::read_all(&folder);
    assert!(all.len() > 15, "{} manifests", all.len());
    for manifest in &all {
        let judge = |verb: &str, object: &Value| {
            let words = [verb, "--dry-run=server", "-n", "zoned-manifests", "-f", "-"];
            bed().cluster.kubectl_with_input(&words, &object.to_string())
        };
        let outcome = match &manifest.old {
            None => judge("create", &manifest.new),
            Some(old) => {
                let mut old = old.clone();
                old["spec"]["paused"] = json!(true);
                bed()
                    .cluster
                    .kubectl_with_input(
                        &["create", "-n", "zoned-manifests", "-f", "-"],
                        &old.to_string(),
                    )
                    .expect("the old object");
                let outcome = judge("apply", &manifest.new);
                let name = old["metadata"]["name"].as_str().unwrap_or_default().to_string();
                bed()
                    .cluster
                    .kubectl(&["delete", "zonedstatefulset", &name, "-n", "zoned-manifests"])
                    .expect("delete");
                outcome
            }
        };
        match (manifest.verdict, outcome) {
            (manifests::Verdict::Accepted, Ok(_)) => {}
            (manifests::Verdict::Accepted, Err(error)) => {
                panic!("{} was refused: {error:#}", manifest.name)
            }
            (manifests::Verdict::Refused, Ok(_)) => panic!("{} was accepted", manifest.name),
            (manifests::Verdict::Refused, Err(error)) => {
                let error = format!("{error:#}");
                for words in &manifest.expect {
                    assert!(error.contains(words), "{}: {error}", manifest.name);
                }
            }
        }
    }
    bed().remove_namespace("zoned-manifests").expect("clean up");
}

fn every_example() {
    bed().fresh_namespace("zoned-examples").expect("a namespace");
    for name in [
        "exposing",
        "scaling",
        "partitioned",
        "versioned",
        "config",
        "active-passive",
        "exec-probe",
        "http-and-grpc-probes",
        "volumes",
    ] {
        let manifest = example(name);
        let dry = ["apply", "--dry-run=server", "-n", "zoned-examples", "-f", "-"];
        bed()
            .cluster
            .kubectl_with_input(&dry, &manifest)
            .unwrap_or_else(|e| panic!("{name}: {e:#}"));
    }
    bed().remove_namespace("zoned-examples").expect("clean up");
}
