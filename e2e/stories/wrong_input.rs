//! Wrong input on a running system: each is refused at admission or told in a
//! condition within seconds, and cured by correcting the manifest alone.

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
        .step("a missing ConfigMap is named", missing_config_map)
        .step(
            "a missing configuration of the exporter is named and then the exporter answers",
            missing_exporter_configuration,
        )
        .in_soak()
        .step("a storage class that does not exist is named", missing_storage_class)
        .step(
            "a placement that no node meets is reported in the scheduler's words",
            impossible_placement,
        )
        .step("an image that cannot be pulled is named and overtaken", missing_image)
        .step("a setting that the server refuses is quoted and overtaken", refused_setting)
        .step("too little memory is refused at the door", too_little_memory)
        .step("a foreign object is reported and never touched", foreign_object)
        .into()
}

fn one(name: &str) -> String {
    a_ring().racks(&[("a", 1)]).manifest(name)
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
    let wrong = one("nomap")
        .replace("      members: 1\n", "      members: 1\n      configMapName: not-there\n");
    told_and_cured("nomap", &wrong, "Accepted", Reason::ConfigMapMissing, "not-there", TOLD_IN);
}

fn missing_exporter_configuration() {
    let name = "nojmx";
    bed().fresh_namespace(name).expect("namespace");
    let manifest = one(name).replace(
        "      members: 1\n",
        "      members: 1\n      jmxExporterConfigMapName: exporter\n",
    );
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
    let wrong = one("noclass").replace(
        "      members: 1\n",
        "      members: 1\n      storage: {volumeClaimTemplates: [{spec: {storageClassName: fast-and-missing, resources: {requests: {storage: 1Gi}}}}]}\n",
    );
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
    let wrong = one("noplace").replace(
        "      members: 1\n",
        "      members: 1\n      placement: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [nowhere]}]}]}}}\n",
    );
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
    let wrong = one("noimage").replace("version: 5.0.5", "version: 5.0.404");
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
    let wrong = one("badset")
        .replace("  heapSize: 400Mi\n", "  heapSize: 400Mi\n  config: {no_such_setting: 1}\n");
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
    let namespace = "foreign";
    bed().fresh_namespace(namespace).expect("namespace");
    bed()
        .kubectl(&format!("create service clusterip foreign-client -n {namespace} --tcp=1:1"))
        .expect("service");
    let before = bed().get(namespace, "service", "foreign-client").expect("get").expect("exists");
    let other = Ring::at(bed(), namespace);
    bed().apply(namespace, &a_ring().racks(&[("a", 1)]).manifest(namespace)).expect("apply");
    let message = other
        .wait_reason("Degraded", Reason::ForeignObject, Duration::from_secs(10))
        .expect("reported");
    assert!(message.contains("foreign-client"), "{message}");
    let after = bed().get(namespace, "service", "foreign-client").expect("get").expect("exists");
    assert_eq!(before["metadata"]["resourceVersion"], after["metadata"]["resourceVersion"]);
    bed()
        .kubectl(&format!("delete service foreign-client -n {namespace}"))
        .expect("out of the way");
    other.wait_ready(1).expect("cured");
    bed().remove_namespace(namespace).expect("clean up");
}
