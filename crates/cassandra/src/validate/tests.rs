//! Every refusal by what a person would have to write to meet it, and by what
//! the answer says.

use super::{Refusal, Valid};
use crate::fixtures::{ClusterFixture, a_cluster};
use palladion_api::cluster::Mode;
use palladion_api::reasons::Reason;
use palladion_api::words::Reasoned;
use serde_json::{Value, json};

mod admission;
mod machine;
mod names;
mod settings;

fn good() -> ClusterFixture {
    a_cluster().rack("a", 3)
}

/// Refused for this reason, in a message with these words: the field or object
/// and the next step.
#[track_caller]
fn refused(cluster: &ClusterFixture, reason: Reason, words: &[&str]) {
    let refusal: Refusal = cluster.validate().expect_err("should be refused");
    let message = refusal.to_string();
    assert_eq!(refusal.reason(), reason, "{message}");
    for word in words {
        assert!(message.contains(word), "{message:?} does not say {word:?}");
    }
}

fn limits(memory: &str) -> Value {
    json!({ "resources": { "limits": { "memory": memory } } })
}

#[test]
fn a_short_manifest_is_valid_and_gets_defaults() {
    let (valid, rack) = good().valid_rack();
    assert_eq!(valid.image, "cassandra:5.0.5");
    assert_eq!(valid.ring, "demo");
    assert_eq!(rack.set, "demo-dc1-a");
    assert_eq!(rack.claim.metadata.name.as_deref(), Some("data"));
    assert_eq!(
        json!(rack.claim.spec),
        json!({
            "accessModes": ["ReadWriteOnce"],
            "resources": { "requests": { "storage": "10Gi" } },
        })
    );
}

#[test]
fn scylla_has_its_own_repository() {
    let scylla = good().spec(|spec| {
        spec.mode = Mode::Scylla;
        spec.version = "6.2.0".into();
    });
    assert_eq!(scylla.valid().image, "scylladb/scylla:6.2.0");
}

#[test]
fn a_paused_cluster_is_validated_as_any_other() {
    let paused = good().spec(|spec| spec.paused = true);
    assert!(paused.validate().is_ok());
    let words = ["`members` of rack a", "0 or more"];
    refused(&paused.first_rack(|rack| rack.members = -1), Reason::InvalidSpec, &words);
}

#[test]
fn scylla_has_no_jvm() {
    let scylla = || {
        good().spec(|spec| {
            spec.mode = Mode::Scylla;
            spec.version = "6.2.0".into();
        })
    };
    let options = scylla().spec(|spec| spec.jvm_options = vec!["-Dx=y".into()]);
    refused(&options, Reason::InvalidSpec, &["JVM options", "Scylla"]);
    let heap = scylla().spec(|spec| spec.heap_size = serde_json::from_value(json!("4Gi")).unwrap());
    refused(&heap, Reason::InvalidSpec, &["`heapSize`", "Scylla"]);
    let exporter = scylla().first_rack_with(&json!({ "jmxExporterConfigMapName": "m" }));
    let words = ["`jmxExporterConfigMapName`", "Scylla"];
    refused(&exporter, Reason::InvalidSpec, &words);
    let options = scylla()
        .first_rack_with(&json!({ "configMapName": "ours" }))
        .config_map("ours", json!({ "jvm-server.options": "-Dx=y" }));
    let words = ["key jvm-server.options", "supported keys: scylla.yaml"];
    refused(&options, Reason::ConfigMapInvalid, &words);
    // A Scylla may be small: its own check of memory decides.
    let small = scylla().first_rack_with(&limits("512Mi"));
    assert!(small.validate().is_ok());
}

#[test]
fn the_agents_image_is_the_clusters_then_the_operators() {
    let image = |cluster: ClusterFixture| {
        cluster.validate().map(|valid: Valid| valid.agent_image.reference().to_string())
    };
    assert_eq!(image(good()).as_deref(), Ok("palladion.dev/palladion-agent:0.1.0"));
    let own = good().spec(|spec| {
        let own = json!({ "repository": "mirror/agent", "version": "7" });
        spec.sidecar_image = serde_json::from_value(own).unwrap();
    });
    assert_eq!(image(own).as_deref(), Ok("mirror/agent:7"));
    let words = ["`sidecarImage`", "OperatorConfig default"];
    refused(&good().without_agent_image(), Reason::InvalidSpec, &words);
}

#[test]
fn a_racks_annotations_win_over_the_clusters() {
    let cluster = good()
        .spec(|spec| spec.annotations = [("a".into(), "1".into()), ("b".into(), "1".into())].into())
        .first_rack_with(&json!({ "annotations": { "b": "2" } }));
    let (_, rack) = cluster.valid_rack();
    assert_eq!(json!(rack.annotations), json!({ "a": "1", "b": "2" }));
}
