//! Wrong input on a running system: each is refused at admission or told in a
//! condition within seconds, and cured by correcting the manifest alone. A
//! landing makes one ring with a mistake after the other; the soak makes a ring
//! for each, which has to come up when its mistake is corrected.

use std::time::Duration;

use palladion_api::reasons::Reason;
use palladion_e2e::story::Story;
use palladion_e2e::{Ring, a_ring, bed};

/// Issue: a condition within 10 s.
const TOLD_IN: Duration = Duration::from_secs(10);
/// A server has to start and fail, or a scheduler has to look, before it can be told.
const TOLD_AFTER_A_TRY: Duration = Duration::from_secs(90);

pub fn story() -> Story {
    Story::named("wrong-input")
        .step(
            "one mistake after the other is told, and a ring comes of the last correction",
            one_after_the_other,
        )
        .step("too little memory is refused at the door", too_little_memory)
        .step("a missing ConfigMap is named", missing_config_map)
        .in_soak()
        .step(
            "a missing configuration of the exporter is named and then the exporter answers",
            missing_exporter_configuration,
        )
        .in_soak()
        .step("a storage class that does not exist is named", missing_storage_class)
        .in_soak()
        .step(
            "a placement that no node meets is reported in the scheduler's words",
            impossible_placement,
        )
        .in_soak()
        .step("an image that cannot be pulled is named and overtaken", missing_image)
        .in_soak()
        .step("a setting that the server refuses is quoted and overtaken", refused_setting)
        .in_soak()
        .step("a foreign object is reported and never touched", foreign_object)
        .in_soak()
        .into()
}

fn one(name: &str) -> String {
    a_ring().racks(&[("a", 1)]).manifest(name)
}

/// A member and this about its racks.
fn one_with(name: &str, field: &str) -> String {
    one(name).replace("      members: 1\n", &format!("      members: 1\n      {field}\n"))
}

fn with_missing_config_map(name: &str) -> String {
    one_with(name, "configMapName: not-there")
}

fn with_missing_storage_class(name: &str) -> String {
    one_with(
        name,
        "storage: {volumeClaimTemplates: [{spec: {storageClassName: fast-and-missing, resources: {requests: {storage: 1Gi}}}}]}",
    )
}

fn with_impossible_placement(name: &str) -> String {
    one_with(
        name,
        "placement: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [nowhere]}]}]}}}",
    )
}

fn with_missing_image(name: &str) -> String {
    one(name).replace("version: 5.0.5", "version: 5.0.404")
}

fn with_refused_setting(name: &str) -> String {
    one(name).replace("  heapSize: 400Mi\n", "  heapSize: 400Mi\n  config: {no_such_setting: 1}\n")
}

/// Each manifest corrects the mistake before it and makes the next: what is
/// told then is the next one alone.
fn one_after_the_other() {
    let name = "mistakes";
    bed().fresh_namespace(name).expect("namespace");
    let ring = Ring::at(bed(), name);
    let apply = |manifest: &str| bed().apply(name, manifest).expect("admitted");
    apply(&with_missing_config_map(name));
    ring.wait_told("Accepted", Reason::ConfigMapMissing, "not-there", TOLD_IN).expect("told");
    apply(&with_missing_storage_class(name));
    let class = "fast-and-missing";
    ring.wait_told("Accepted", Reason::StorageClassMissing, class, TOLD_IN).expect("told");

    let before = a_service_in_the_way(name);
    apply(&with_impossible_placement(name));
    let service = client_service(name);
    ring.wait_told("Degraded", Reason::ForeignObject, &service, TOLD_IN).expect("told");
    out_of_the_way(name, &before);
    let words = "nodes are available";
    ring.wait_told("Degraded", Reason::Unschedulable, words, TOLD_AFTER_A_TRY).expect("told");

    apply(&with_missing_image(name));
    ring.wait_told("Degraded", Reason::ImagePullFailed, "5.0.404", TOLD_AFTER_A_TRY).expect("told");
    apply(&with_refused_setting(name));
    let setting = "no_such_setting";
    ring.wait_told("Degraded", Reason::ConfigurationRefused, setting, TOLD_AFTER_A_TRY)
        .expect("told");
    apply(&one(name));
    ring.wait_ready(1).expect("cured by the manifest alone");
    bed().remove_namespace(name).expect("clean up");
}

/// The Service by which clients find a ring of this name.
fn client_service(name: &str) -> String {
    format!("{name}-client")
}

/// Somebody else's Service has the name of one of ours: its version.
fn a_service_in_the_way(name: &str) -> String {
    let service = client_service(name);
    bed()
        .kubectl(&format!("create service clusterip {service} -n {name} --tcp=1:1"))
        .expect("service");
    version_of_service(name)
}

fn version_of_service(name: &str) -> String {
    let service = bed().get(name, "service", &client_service(name)).expect("get").expect("exists");
    service["metadata"]["resourceVersion"].as_str().expect("a version").to_string()
}

/// Remove it, which nobody has touched since.
fn out_of_the_way(name: &str, before: &str) {
    assert_eq!(before, version_of_service(name), "somebody else's Service was touched");
    let service = client_service(name);
    bed().kubectl(&format!("delete service {service} -n {name}")).expect("out of the way");
}

/// Apply a wrong manifest, expect the condition, apply the right one, expect a ring.
fn told_and_cured(
    name: &str,
    wrong: &str,
    type_: &str,
    reason: Reason,
    says: &str,
    patience: Duration,
) {
    bed().fresh_namespace(name).expect("namespace");
    let ring = Ring::at(bed(), name);
    bed().apply(name, wrong).expect("the wrong manifest is admitted");
    ring.wait_told(type_, reason, says, patience).expect("told");
    bed().apply(name, &one(name)).expect("apply the correction");
    ring.wait_ready(1).expect("cured by the manifest alone");
    bed().remove_namespace(name).expect("clean up");
}

fn missing_config_map() {
    let wrong = with_missing_config_map("nomap");
    told_and_cured("nomap", &wrong, "Accepted", Reason::ConfigMapMissing, "not-there", TOLD_IN);
}

fn missing_exporter_configuration() {
    let name = "nojmx";
    bed().fresh_namespace(name).expect("namespace");
    let manifest = one_with(name, "jmxExporterConfigMapName: exporter");
    let ring = Ring::at(bed(), name);
    bed().apply(name, &manifest).expect("admitted: it may come later");
    ring.wait_told("Accepted", Reason::ConfigMapMissing, "exporter", TOLD_IN).expect("told");
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

fn missing_storage_class() {
    bed().fresh_namespace("noclass").expect("namespace");
    let wrong = with_missing_storage_class("noclass");
    let ring = Ring::at(bed(), "noclass");
    bed().apply("noclass", &wrong).expect("admitted: the class may come later");
    let message = ring.wait_reason("Accepted", Reason::StorageClassMissing, TOLD_IN).expect("told");
    assert!(message.contains("fast-and-missing") && message.contains("local"), "{message}");
    // The class is fixed once claims exist; before, the spec may be put right.
    let right = wrong.replace("fast-and-missing", "local");
    bed().apply("noclass", &right).expect("put right");
    ring.wait_ready(1).expect("cured by editing the spec");
    let fixed =
        bed().apply("noclass", &wrong).expect_err("the claims are made: their class is fixed");
    assert!(format!("{fixed:#}").contains("`storageClassName` is immutable"), "{fixed:#}");
    bed().remove_namespace("noclass").expect("clean up");
}

fn impossible_placement() {
    let wrong = with_impossible_placement("noplace");
    told_and_cured(
        "noplace",
        &wrong,
        "Degraded",
        Reason::Unschedulable,
        "nodes are available",
        TOLD_IN,
    );
}

fn missing_image() {
    let wrong = with_missing_image("noimage");
    told_and_cured(
        "noimage",
        &wrong,
        "Degraded",
        Reason::ImagePullFailed,
        "5.0.404",
        TOLD_AFTER_A_TRY,
    );
}

fn refused_setting() {
    let wrong = with_refused_setting("badset");
    told_and_cured(
        "badset",
        &wrong,
        "Degraded",
        Reason::ConfigurationRefused,
        "no_such_setting",
        TOLD_AFTER_A_TRY,
    );
}

fn too_little_memory() {
    let wrong = one("nomem")
        .replace("limits: {memory: 1Gi}", "limits: {memory: 256Mi}")
        .replace("memory: 1Gi}", "memory: 256Mi}");
    bed().fresh_namespace("nomem").expect("namespace");
    let error = bed().apply("nomem", &wrong).expect_err("refused at admission");
    assert!(format!("{error:#}").contains("memory"), "{error:#}");
    bed().remove_namespace("nomem").expect("clean up");
}

fn foreign_object() {
    let name = "foreign";
    bed().fresh_namespace(name).expect("namespace");
    let before = a_service_in_the_way(name);
    let ring = Ring::at(bed(), name);
    bed().apply(name, &one(name)).expect("apply");
    let service = client_service(name);
    ring.wait_told("Degraded", Reason::ForeignObject, &service, TOLD_IN).expect("reported");
    out_of_the_way(name, &before);
    ring.wait_ready(1).expect("cured");
    bed().remove_namespace(name).expect("clean up");
}
