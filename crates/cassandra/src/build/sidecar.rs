//! Containers of the user beside the server. They share its network, which Kubernetes does not
//! divide, and of its volume the directory of change data capture, if they read that. Nothing else:
//! no user, no token.

use crate::validate::sidecar::{self, TOKEN_VOLUME};
use crate::validate::{Valid, ValidRack};
use palladion_api::cluster::{Sidecar, SidecarCdc};
use palladion_api::server_config::CDC_DIRECTORY;
use palladion_plan::workload::agent_pod::{limit, port, restricted, variables};
use serde_json::{Value, json};

/// Their user and group: another one than that of the server, for where something is shared after all.
const USER: i64 = 65532;
/// Where a reader finds the segments.
const CDC_DIR: &str = "/cdc";
/// Where clients of Kubernetes look for it.
const TOKEN_DIR: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
/// As long as tokens that Kubernetes mounts by itself: renewed hourly, and still good for a while
/// where that is late.
const TOKEN_SECONDS: i64 = 3607;

/// Does every container of the pod get the token of its account, as Kubernetes does it?
pub fn token_is_for_all(valid: &Valid) -> bool {
    valid.sidecars.is_empty()
}

/// The containers.
pub fn containers(valid: &Valid, rack: &ValidRack) -> impl Iterator<Item = Value> {
    valid.sidecars.iter().map(|sidecar| container(sidecar, rack))
}

fn container(sidecar: &Sidecar, rack: &ValidRack) -> Value {
    let mut security = restricted();
    security["runAsUser"] = USER.into();
    security["runAsGroup"] = USER.into();
    let mut mounts = vec![json!({ "name": sidecar::volume(sidecar), "mountPath": "/tmp" })];
    match sidecar.cdc {
        SidecarCdc::Off => {}
        SidecarCdc::ReadWrite => mounts.push(segments(rack)),
    }
    let mut container = json!({
        "name": sidecar.name,
        "image": sidecar.image,
        "securityContext": security,
        "volumeMounts": mounts,
    });
    let mut state = |field: &str, values: Vec<Value>| {
        if !values.is_empty() {
            container[field] = values.into();
        }
    };
    let texts = |all: &[String]| all.iter().map(|text| Value::from(text.as_str())).collect();
    state("command", texts(&sidecar.command));
    state("args", texts(&sidecar.args));
    state("env", variables(&sidecar.env));
    state("ports", sidecar.ports.iter().map(|p| port(&p.name, p.port)).collect());
    limit(&mut container, sidecar.resources.as_ref());
    container
}

/// The one directory of the volume in which the server keeps what is to be read. The group of the
/// server, which all containers of the pod have by `fsGroup`, reads and deletes its files there.
fn segments(rack: &ValidRack) -> Value {
    let claim = &rack.claim.metadata.name;
    json!({ "name": claim, "mountPath": CDC_DIR, "subPath": CDC_DIRECTORY })
}

/// What the container of the server mounts where the token is for it alone.
pub fn token_mount(valid: &Valid) -> Option<Value> {
    let mount = || json!({ "name": TOKEN_VOLUME, "mountPath": TOKEN_DIR, "readOnly": true });
    (!token_is_for_all(valid)).then(mount)
}

/// The volumes: scratch space of each sidecar, and the token.
pub fn volumes(valid: &Valid) -> Vec<Value> {
    if valid.sidecars.is_empty() {
        return Vec::new();
    }
    let of_each = valid.sidecars.iter();
    let scratch =
        of_each.map(|sidecar| json!({ "name": sidecar::volume(sidecar), "emptyDir": {} }));
    scratch.chain([token()]).collect()
}

/// What Kubernetes puts there by itself: the token, whom to trust, and the namespace.
fn token() -> Value {
    json!({ "name": TOKEN_VOLUME, "projected": { "sources": [
        { "serviceAccountToken": { "path": "token", "expirationSeconds": TOKEN_SECONDS } },
        { "configMap": {
            "name": "kube-root-ca.crt",
            "items": [{ "key": "ca.crt", "path": "ca.crt" }],
        } },
        { "downwardAPI": { "items": [{
            "path": "namespace",
            "fieldRef": { "apiVersion": "v1", "fieldPath": "metadata.namespace" },
        }] } },
    ] } })
}
