//! The pod of a server: a stock image whose PID 1 is our init, with the agent
//! put there by an init container.

use super::common::cluster_labels;
use super::config;
use crate::validate::{AgentImage, Valid};
use palladion_api::cluster::Placement;
use palladion_api::labels::{self, ports};
use palladion_api::names;
use palladion_api::server_config::{CONFIG_DIR, SHARED_DIR};
use palladion_api::zookeeper::{DATA_DIR, LOG_DIR};
use palladion_plan::hash;
use serde_json::{Value, json};

/// User and group of the server in the stock images.
const USER: i64 = 1000;
/// Sockets and what only this start knows; in memory.
const RUN_DIR: &str = "/run/palladion";
/// The volume: marker, ledger, data, logs and the dynamic configuration.
const VOLUME_DIR: &str = "/palladion";
/// How templates are made of a spec; raised when they are made otherwise.
const GENERATION: u32 = 1;

/// A pod template with the hash of what it is made of.
#[derive(Debug, Clone)]
pub struct Release {
    /// The template, without its hash.
    pub template: Value,
    /// Its hash.
    pub hash: String,
}

/// The template that the spec asks for. Where a set that stands differs from it only
/// in the agent's image, and the spec names none, it stays: an upgrade of Palladion
/// restarts nothing. `standing` are the annotations of that set's template.
pub fn release(valid: &Valid, standing: Option<&Value>) -> Release {
    let annotation = |key: &str| standing?.get(key)?.as_str();
    if let AgentImage::Default(_) = valid.agent_image
        && let (Some(image), Some(stored)) =
            (annotation(labels::AGENT_IMAGE), annotation(labels::SPEC_HASH))
    {
        let kept = rendered(valid, image);
        if kept.hash == stored {
            return kept;
        }
    }
    rendered(valid, valid.agent_image.reference())
}

fn rendered(valid: &Valid, agent_image: &str) -> Release {
    let template = template(valid, agent_image);
    let hash = hash::of(&template);
    Release { template, hash }
}

fn template(valid: &Valid, agent_image: &str) -> Value {
    let mut annotations = json!(valid.annotations);
    annotations[labels::TEMPLATE_GENERATION] = GENERATION.to_string().into();
    annotations[labels::AGENT_IMAGE] = agent_image.into();
    let mut spec = json!({
        "serviceAccountName": names::member_account(&valid.set),
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
        "initContainers": [install(valid, agent_image)],
        "containers": [server(valid)],
        "volumes": [
            { "name": "shared", "emptyDir": {} },
            { "name": "config", "configMap": { "name": config::name(valid) } },
            { "name": "run", "emptyDir": { "medium": "Memory", "sizeLimit": "16Mi" } },
            { "name": "tmp", "emptyDir": {} },
        ],
    });
    place(&mut spec, valid, valid.placement.as_ref());
    if !valid.pull_secrets.is_empty() {
        spec["imagePullSecrets"] = json!(valid.pull_secrets);
    }
    json!({
        "metadata": { "labels": cluster_labels(valid), "annotations": annotations },
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

fn install(valid: &Valid, agent_image: &str) -> Value {
    let mut container = json!({
        "name": "install",
        "image": agent_image,
        "command": ["/palladion-agent", "install", SHARED_DIR],
        "securityContext": restricted(),
        "volumeMounts": [{ "name": "shared", "mountPath": SHARED_DIR }],
    });
    limit(&mut container, valid);
    container
}

fn limit(container: &mut Value, valid: &Valid) {
    if let Some(resources) = &valid.resources {
        container["resources"] = json!(resources);
    }
}

fn server(valid: &Valid) -> Value {
    let agent = format!("{SHARED_DIR}/palladion-agent");
    let claim = valid.claim.metadata.name.as_deref().unwrap_or_default();
    let mounted =
        |path: &str, part: &str| json!({ "name": claim, "mountPath": path, "subPath": part });
    let mut container = json!({
        "name": "zookeeper",
        "image": valid.image,
        "command": [agent, "init"],
        "env": environment(valid),
        "ports": [
            port("client", valid.ports.client),
            port("quorum", valid.ports.quorum),
            port("election", valid.ports.election),
            port("agent", u16::try_from(ports::AGENT).unwrap_or_default()),
        ],
        "startupProbe": probe("/healthz", 2, 300),
        "livenessProbe": probe("/healthz", 10, 6),
        "readinessProbe": probe("/readyz", 2, 3),
        "lifecycle": { "preStop": { "exec": { "command": [agent, "drain"] } } },
        "securityContext": restricted(),
        "volumeMounts": [
            { "name": "shared", "mountPath": SHARED_DIR, "readOnly": true },
            { "name": "config", "mountPath": CONFIG_DIR, "readOnly": true },
            { "name": claim, "mountPath": VOLUME_DIR },
            mounted(DATA_DIR, "data"),
            mounted(LOG_DIR, "datalog"),
            { "name": "run", "mountPath": RUN_DIR },
            { "name": "tmp", "mountPath": "/tmp" },
        ],
    });
    limit(&mut container, valid);
    container
}

fn port(name: &str, number: u16) -> Value {
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
        json!({ "name": "PALLADION_SYSTEM", "value": "zookeeper" }),
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

/// Placement as the user wrote it. If it says nothing about other pods, servers
/// prefer nodes of their own.
fn place(spec: &mut Value, valid: &Valid, placement: Option<&Placement>) {
    let mut affinity = placement.map(Placement::affinity).map_or_else(|| json!({}), |a| json!(a));
    if placement.is_none_or(|p| p.pod_anti_affinity.is_none()) {
        affinity["podAntiAffinity"] = json!({
            "preferredDuringSchedulingIgnoredDuringExecution": [{
                "weight": 100,
                "podAffinityTerm": {
                    "topologyKey": "kubernetes.io/hostname",
                    "labelSelector": { "matchLabels": { labels::ZOOKEEPER: valid.name } },
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
