//! The pod of a member: a stock server image whose PID 1 is our init, with the
//! agent put there by an init container, as in Rook's Cassandra operator.

use super::common::rack_labels;
use super::release::Release;
use super::{config, secrets};
use crate::validate::{Valid, ValidRack};
use palladion_api::cluster::{Mode, Placement};
use palladion_api::labels;
use palladion_api::labels::ports;
use palladion_api::names;
use palladion_api::server_config::{CONFIG_DIR, SECRETS_DIR, SHARED_DIR};
use serde_json::{Value, json};

/// User and group of the server in the stock images.
const USER: i64 = 999;
/// Where rendered configuration, sockets and credentials are; in memory.
const RUN_DIR: &str = "/run/palladion";

/// The pod template as a release of Palladion renders it, without the spec hash.
pub fn template(valid: &Valid, rack: &ValidRack, release: &Release) -> Value {
    let mut annotations = json!(rack.annotations);
    release.record(&mut annotations);
    if rack.jmx_exporter.is_some() {
        annotations["prometheus.io/scrape"] = "true".into();
        annotations["prometheus.io/port"] = ports::PROMETHEUS.to_string().into();
    }
    let mut spec = json!({
        "serviceAccountName": names::member_account(&valid.name),
        "automountServiceAccountToken": true,
        "enableServiceLinks": false,
        "terminationGracePeriodSeconds": valid.termination_grace_seconds,
        "securityContext": {
            "runAsUser": USER,
            "runAsGroup": USER,
            "runAsNonRoot": true,
            "fsGroup": USER,
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": { "type": "RuntimeDefault" },
        },
        "initContainers": [install(rack, release)],
        "containers": [server(valid, rack, release)],
        "volumes": volumes(valid, rack, release),
    });
    place(&mut spec, valid, rack.placement.as_ref());
    if !valid.pull_secrets.is_empty() {
        spec["imagePullSecrets"] = json!(valid.pull_secrets);
    }
    json!({
        "metadata": { "labels": rack_labels(valid, rack), "annotations": annotations },
        "spec": spec,
    })
}

fn restricted() -> Value {
    json!({
        "allowPrivilegeEscalation": false,
        "readOnlyRootFilesystem": true,
        "capabilities": { "drop": ["ALL"] },
    })
}

fn install(rack: &ValidRack, release: &Release) -> Value {
    let mut container = json!({
        "name": "install",
        "image": release.agent_image,
        "command": ["/palladion-agent", "install", SHARED_DIR],
        "securityContext": restricted(),
        "volumeMounts": [{ "name": "shared", "mountPath": SHARED_DIR }],
    });
    limit(&mut container, rack);
    container
}

/// The rack's resources, for both containers: they run one after the other, so
/// the pod asks for no more, and it is only of class Guaranteed (whole CPUs of
/// its own, last to be evicted) where every container is.
fn limit(container: &mut Value, rack: &ValidRack) {
    if let Some(resources) = &rack.resources {
        container["resources"] = json!(resources);
    }
}

fn server(valid: &Valid, rack: &ValidRack, release: &Release) -> Value {
    let agent = format!("{SHARED_DIR}/palladion-agent");
    let (name, data_dir) = match valid.mode {
        Mode::Cassandra => ("cassandra", "/var/lib/cassandra"),
        Mode::Scylla => ("scylla", "/var/lib/scylla"),
    };
    let mut container = json!({
        "name": name,
        "image": valid.image,
        "command": [agent, "init"],
        "env": environment(valid),
        "ports": [
            port("intra-node", ports::INTERNODE),
            port("tls-intra-node", ports::INTERNODE_TLS),
            port("jmx", ports::JMX),
            port("cql", ports::CQL),
            port("cql-ssl", ports::CQL_TLS),
            port("thrift", ports::THRIFT),
            port("prometheus", ports::PROMETHEUS),
            port("agent", ports::AGENT),
        ],
        "startupProbe": probe("/healthz", 2, 300),
        "livenessProbe": probe("/healthz", 10, 6),
        "readinessProbe": probe("/readyz", 2, 3),
        "lifecycle": { "preStop": { "exec": { "command": [agent, "drain"] } } },
        "securityContext": restricted(),
        "volumeMounts": [
            { "name": "shared", "mountPath": SHARED_DIR, "readOnly": true },
            { "name": "config", "mountPath": CONFIG_DIR, "readOnly": true },
            { "name": rack.claim.metadata.name, "mountPath": data_dir },
            { "name": "run", "mountPath": RUN_DIR },
            { "name": "tmp", "mountPath": "/tmp" },
        ],
    });
    if secrets::volume(valid, rack, release.generation).is_some()
        && let Some(mounts) = container["volumeMounts"].as_array_mut()
    {
        mounts.push(json!({ "name": secrets::VOLUME, "mountPath": SECRETS_DIR, "readOnly": true }));
    }
    limit(&mut container, rack);
    container
}

fn port(name: &str, number: i32) -> Value {
    json!({ "name": name, "containerPort": number, "protocol": "TCP" })
}

fn probe(path: &str, period: i32, failures: i32) -> Value {
    json!({
        "httpGet": { "path": path, "port": ports::AGENT },
        "periodSeconds": period,
        "timeoutSeconds": 5,
        "failureThreshold": failures,
    })
}

fn environment(valid: &Valid) -> Vec<Value> {
    let field = |name: &str, path: &str| json!({ "name": name, "valueFrom": { "fieldRef": { "apiVersion": "v1", "fieldPath": path } } });
    let limit = |name: &str, resource: &str, divisor: &str| json!({ "name": name, "valueFrom": { "resourceFieldRef": { "resource": resource, "divisor": divisor } } });
    let mut env = vec![
        field("POD_NAME", "metadata.name"),
        field("POD_NAMESPACE", "metadata.namespace"),
        field("POD_UID", "metadata.uid"),
        field("POD_IP", "status.podIP"),
        field("NODE_NAME", "spec.nodeName"),
        field("POD_REVISION", &format!("metadata.labels['{}']", labels::CONTROLLER_REVISION)),
        limit("CPU_LIMIT", "limits.cpu", "1"),
        limit("MEMORY_LIMIT", "limits.memory", "1Mi"),
    ];
    env.extend(valid.env.iter().map(|e| as_stored(json!(e))));
    env
}

/// The API server drops empty texts of these types; stated, they would look
/// like a difference for ever.
fn as_stored(mut item: Value) -> Value {
    if let Some(fields) = item.as_object_mut() {
        fields.retain(|_, value| value != "");
    }
    item
}

fn volumes(valid: &Valid, rack: &ValidRack, release: &Release) -> Value {
    let config = config::name(rack, release.generation);
    let mut all = vec![
        json!({ "name": "shared", "emptyDir": {} }),
        json!({ "name": "config", "configMap": { "name": config } }),
        json!({ "name": "run", "emptyDir": { "medium": "Memory", "sizeLimit": "16Mi" } }),
        json!({ "name": "tmp", "emptyDir": {} }),
    ];
    all.extend(secrets::volume(valid, rack, release.generation));
    all.into()
}

/// Placement as the user wrote it. If it says nothing about other pods, members
/// prefer nodes of their own.
fn place(spec: &mut Value, valid: &Valid, placement: Option<&Placement>) {
    let mut affinity = placement.map(Placement::affinity).map_or_else(|| json!({}), |a| json!(a));
    if placement.is_none_or(|p| p.pod_anti_affinity.is_none()) {
        affinity["podAntiAffinity"] = json!({
            "preferredDuringSchedulingIgnoredDuringExecution": [{
                "weight": 100,
                "podAffinityTerm": {
                    "topologyKey": "kubernetes.io/hostname",
                    "labelSelector": { "matchLabels": { labels::CLUSTER: valid.name } },
                },
            }],
        });
    }
    spec["affinity"] = affinity;
    let Some(placement) = placement else { return };
    if !placement.tolerations.is_empty() {
        let tolerations = placement.tolerations.iter();
        spec["tolerations"] = tolerations.map(|t| as_stored(json!(t))).collect();
    }
    if !placement.topology_spread_constraints.is_empty() {
        spec["topologySpreadConstraints"] = json!(placement.topology_spread_constraints);
    }
}
