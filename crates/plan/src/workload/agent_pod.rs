//! The parts of a pod whose PID 1 is our init, whatever the server beside the agent
//! is: what is the same in the pods of every system.

use k8s_openapi::api::core::v1::{EnvVar, ResourceRequirements};
use palladion_api::cluster::Placement;
use palladion_api::labels::{self, ports};
use palladion_api::server_config::SHARED_DIR;
use serde_json::{Value, json};

/// Sockets, credentials and what only this start knows; in memory.
pub const RUN_DIR: &str = "/run/palladion";

/// The security context of a pod whose containers run as this user and group.
pub fn security(user: i64) -> Value {
    json!({
        "runAsUser": user,
        "runAsGroup": user,
        "runAsNonRoot": true,
        "fsGroup": user,
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": { "type": "RuntimeDefault" },
    })
}

/// The security context of a container.
pub fn restricted() -> Value {
    json!({
        "allowPrivilegeEscalation": false,
        "readOnlyRootFilesystem": true,
        "capabilities": { "drop": ["ALL"] },
    })
}

/// The init container that puts the agent where the server's container finds it.
pub fn install(image: &str, resources: Option<&ResourceRequirements>) -> Value {
    let mut container = json!({
        "name": "install",
        "image": image,
        "command": ["/palladion-agent", "install", SHARED_DIR],
        "securityContext": restricted(),
        "volumeMounts": [{ "name": "shared", "mountPath": SHARED_DIR }],
    });
    limit(&mut container, resources);
    container
}

/// The same resources for both containers: they run one after the other, so the pod
/// asks for no more, and it is only of class Guaranteed (whole CPUs of its own, last to
/// be evicted) where every container is.
pub fn limit(container: &mut Value, resources: Option<&ResourceRequirements>) {
    if let Some(resources) = resources {
        container["resources"] = json!(resources);
    }
}

/// A port of a container.
pub fn port(name: &str, number: i32) -> Value {
    json!({ "name": name, "containerPort": number, "protocol": "TCP" })
}

/// A probe that the agent answers: a look every `period` seconds.
pub fn probe(path: &str, period: i32, failures: i32) -> Value {
    json!({
        "httpGet": { "path": path, "port": ports::AGENT },
        "periodSeconds": period,
        "timeoutSeconds": 5,
        "failureThreshold": failures,
    })
}

/// What the agent has to know of its pod, and then the user's variables.
pub fn environment(user: &[EnvVar]) -> Vec<Value> {
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
    env.extend(variables(user));
    env
}

/// The user's variables.
pub fn variables(user: &[EnvVar]) -> Vec<Value> {
    user.iter().map(|e| as_stored(json!(e))).collect()
}

/// The API server drops empty texts of these types; stated, they would look
/// like a difference for ever.
fn as_stored(mut item: Value) -> Value {
    if let Some(fields) = item.as_object_mut() {
        fields.retain(|_, value| value != "");
    }
    item
}

/// Placement as the user wrote it. If it says nothing about other pods, those with
/// these labels prefer nodes of their own.
pub fn place(spec: &mut Value, alike: &Value, placement: Option<&Placement>) {
    let mut affinity = placement.map(Placement::affinity).map_or_else(|| json!({}), |a| json!(a));
    if placement.is_none_or(|p| p.pod_anti_affinity.is_none()) {
        affinity["podAntiAffinity"] = json!({
            "preferredDuringSchedulingIgnoredDuringExecution": [{
                "weight": 100,
                "podAffinityTerm": {
                    "topologyKey": "kubernetes.io/hostname",
                    "labelSelector": { "matchLabels": alike },
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
