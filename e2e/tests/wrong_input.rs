//! Wrong input on a running system: each is refused at admission or told in a
//! condition within seconds, and cured by correcting the manifest alone.

use std::sync::OnceLock;
use std::time::Duration;

use palladion_e2e::{Bed, Ring, ring};

/// Issue: a condition within 10 s.
const TOLD_IN: Duration = Duration::from_secs(10);
/// A server has to start and fail, or a scheduler has to look, before it can be told.
const TOLD_AFTER_A_TRY: Duration = Duration::from_secs(90);

fn bed() -> &'static Bed {
    static BED: OnceLock<Bed> = OnceLock::new();
    BED.get_or_init(Bed::attach)
}

fn one(name: &str) -> String {
    ring::manifest(name, &[("a", 1)])
}

/// Apply a wrong manifest, expect the condition, apply the right one, expect a ring.
fn told_and_cured(
    name: &str,
    wrong: &str,
    type_: &str,
    reason: &str,
    says: &str,
    patience: Duration,
) {
    bed().fresh_namespace(name).expect("namespace");
    let ring = Ring { bed: bed(), namespace: name.into(), name: name.into() };
    bed().apply(name, wrong).expect("the wrong manifest is admitted");
    ring.wait_told(type_, reason, says, patience).expect("told");
    bed().apply(name, &one(name)).expect("apply the correction");
    ring.wait_ready(1).expect("cured by the manifest alone");
    bed().remove_namespace(name).expect("clean up");
}

#[test]
fn a_missing_config_map_is_named() {
    let wrong = one("nomap")
        .replace("      members: 1\n", "      members: 1\n      configMapName: not-there\n");
    told_and_cured("nomap", &wrong, "Accepted", "ConfigMapMissing", "not-there", TOLD_IN);
}

#[test]
fn a_missing_configuration_of_the_exporter_is_named_and_then_the_exporter_answers() {
    let name = "nojmx";
    bed().fresh_namespace(name).expect("namespace");
    let manifest = one(name).replace(
        "      members: 1\n",
        "      members: 1\n      jmxExporterConfigMapName: exporter\n",
    );
    let ring = Ring { bed: bed(), namespace: name.into(), name: name.into() };
    bed().apply(name, &manifest).expect("admitted: it may come later");
    ring.wait_told("Accepted", "ConfigMapMissing", "exporter", TOLD_IN).expect("told");
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: exporter}\ndata:\n  jmx_exporter_config.yaml: |\n    includeObjectNames: ['org.apache.cassandra.metrics:type=Client,*']\n    rules: [{pattern: '.*'}]\n";
    bed().apply(name, config).expect("the configuration");
    ring.wait_ready(1).expect("cured by what was missing");
    ring.restart_client().expect("a client");
    let pods = bed().list(name, "pods").expect("pods");
    let member = pods
        .iter()
        .find(|p| p["metadata"]["labels"]["palladion.dev/cluster"] == name)
        .expect("the member's pod");
    let program = format!(
        "import urllib.request as u; print(u.urlopen('http://{}:9180/metrics', timeout=10).read().decode())",
        member["status"]["podIP"].as_str().expect("its address")
    );
    let said = ring.in_client(&["python3", "-c", &program]).expect("metrics");
    assert!(said.contains("org_apache_cassandra_metrics_Client"), "{said}");
    bed().remove_namespace(name).expect("clean up");
}

#[test]
fn a_storage_class_that_does_not_exist_is_named() {
    bed().fresh_namespace("noclass").expect("namespace");
    let wrong = one("noclass").replace(
        "      members: 1\n",
        "      members: 1\n      storage: {volumeClaimTemplates: [{spec: {storageClassName: fast-and-missing, resources: {requests: {storage: 1Gi}}}}]}\n",
    );
    let ring = Ring { bed: bed(), namespace: "noclass".into(), name: "noclass".into() };
    bed().apply("noclass", &wrong).expect("admitted: the class may come later");
    let message = ring.wait_reason("Accepted", "StorageClassMissing", TOLD_IN).expect("told");
    assert!(message.contains("fast-and-missing") && message.contains("local"), "{message}");
    // The class is fixed once claims exist; before, the spec may be put right.
    let right = wrong.replace("fast-and-missing", "local");
    bed().apply("noclass", &right).expect("put right");
    ring.wait_ready(1).expect("cured by editing the spec");
    let fixed =
        bed().apply("noclass", &wrong).expect_err("the claims are made: their class is fixed");
    assert!(format!("{fixed:#}").contains("storageClassName is immutable"), "{fixed:#}");
    bed().remove_namespace("noclass").expect("clean up");
}

#[test]
fn a_placement_that_no_node_meets_is_told_in_the_schedulers_words() {
    let wrong = one("noplace").replace(
        "      members: 1\n",
        "      members: 1\n      placement: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [nowhere]}]}]}}}\n",
    );
    told_and_cured("noplace", &wrong, "Degraded", "Unschedulable", "nodes are available", TOLD_IN);
}

#[test]
fn an_image_that_cannot_be_pulled_is_named_and_overtaken() {
    let wrong = one("noimage").replace("version: 5.0.5", "version: 5.0.404");
    told_and_cured("noimage", &wrong, "Degraded", "ImagePullFailed", "5.0.404", TOLD_AFTER_A_TRY);
}

#[test]
fn a_setting_that_the_server_refuses_is_quoted_and_overtaken() {
    let wrong = one("badset")
        .replace("  heapSize: 400Mi\n", "  heapSize: 400Mi\n  config: {no_such_setting: 1}\n");
    told_and_cured(
        "badset",
        &wrong,
        "Degraded",
        "ConfigurationRefused",
        "no_such_setting",
        TOLD_AFTER_A_TRY,
    );
}

#[test]
fn too_little_memory_is_refused_at_the_door() {
    let wrong = one("nomem")
        .replace("limits: {memory: 1Gi}", "limits: {memory: 256Mi}")
        .replace("memory: 1Gi}", "memory: 256Mi}");
    bed().fresh_namespace("nomem").expect("namespace");
    let error = bed().apply("nomem", &wrong).expect_err("refused at admission");
    assert!(format!("{error:#}").contains("memory"), "{error:#}");
    bed().remove_namespace("nomem").expect("clean up");
}
