//! What every pod with a gate has besides the user's template: the gate itself,
//! volumes for its labels, its texts and the agent's program, the readiness
//! probe, and the container that signals.

use palladion_api::component::{HttpReadiness, ProbeHost};
use palladion_api::gate::{
    AGENT_PATH, AGENT_VOLUME, CONFIG_VOLUME, INIT, LABELS_FILE, RELOAD, STATUS, STATUS_PATH,
    STATUS_VOLUME,
};
use palladion_api::labels::{APP_NAME, SPEC_HASH};
use palladion_api::staged::{Reload, ReloadPolicy, Signal};
use palladion_plan::workload::agent_pod::restricted;
use serde_json::{Map, Value, json};

/// The agent's program in its own image.
const IN_IMAGE: &str = "/palladion-agent";
/// The agent's program, once the gate has copied it.
const COPIED: &str = "/palladion/palladion-agent";
/// The variable that holds the key of the pod's texts.
pub const KEY: &str = "PALLADION_CONFIG_KEY";
/// The host by which the agent means that address.
const IN_POD: &str = "pod-ip";
/// The variable that holds the address of the pod.
const POD_IP: &str = "PALLADION_POD_IP";

/// The texts of a pod.
#[derive(Clone, Copy, Debug)]
pub struct Mounted<'a> {
    /// The ConfigMap.
    pub map: &'a str,
    /// Where it is mounted.
    pub path: &'a str,
    /// Its key.
    pub key: Key<'a>,
}

/// The key of a pod's texts.
#[derive(Clone, Copy, Debug)]
pub enum Key<'a> {
    /// What this field of the pod says.
    Field(&'static str),
    /// The same for all pods.
    Shared(&'a str),
}

/// The process that is signalled.
#[derive(Clone, Copy, Debug)]
struct Signalled<'a> {
    /// Its name.
    process: &'a str,
    /// The container that it runs in.
    container: &'a str,
    /// The signal.
    signal: Signal,
}

/// Labels and annotations of the pods: theirs, ours, and what they are made from.
pub fn stamp(template: &mut Value, mut own: Map<String, Value>, hash: &str) {
    own.insert(STATUS.to_string(), "".into());
    if let Some(metadata) = template["metadata"].as_object_mut() {
        // kubectl and exporters write it; a template has no time of its own.
        metadata.remove("creationTimestamp");
    }
    // A person's own app.kubernetes.io/name says more than ours.
    if template["metadata"]["labels"].get(APP_NAME).is_some() {
        own.remove(APP_NAME);
    }
    merge(&mut template["metadata"]["labels"], own);
    let made_from = Map::from_iter([(SPEC_HASH.to_string(), hash.into())]);
    merge(&mut template["metadata"]["annotations"], made_from);
}

fn merge(target: &mut Value, from: Map<String, Value>) {
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    for (key, value) in from {
        target[key] = value;
    }
}

/// Everything that a pod with a gate has.
pub fn add_ours(spec: &mut Value, reload: &Reload, agent_image: &str, texts: Option<Mounted<'_>>) {
    if let Some(texts) = texts {
        mount_texts(spec, texts);
    }
    if let (ReloadPolicy::Signal, Some(process), Some(container)) =
        (reload.policy, &reload.process, &reload.container)
    {
        let to = Signalled { process, container, signal: reload.signal() };
        add_reload(spec, to, texts);
    }
    add_gate(spec, agent_image, texts);
    add_volumes(spec, texts);
}

/// Pods use the network of their nodes.
pub fn use_host_network(spec: &mut Value) {
    spec["hostNetwork"] = json!(true);
    if spec["dnsPolicy"].is_null() {
        spec["dnsPolicy"] = json!("ClusterFirstWithHostNet");
    }
}

/// Put the gate before all other init containers.
fn add_gate(spec: &mut Value, agent_image: &str, texts: Option<Mounted<'_>>) {
    let mut gate = json!({
        "name": INIT,
        "image": agent_image,
        "command": [IN_IMAGE, "gate"],
        "args": arguments(texts),
        "env": key(texts),
        "securityContext": restricted(),
        "resources": resources(),
        "terminationMessagePolicy": "File",
        "volumeMounts": [
            { "name": AGENT_VOLUME, "mountPath": AGENT_PATH },
            { "name": STATUS_VOLUME, "mountPath": STATUS_PATH, "readOnly": true },
        ],
    });
    mount(&mut gate, texts);
    match spec["initContainers"].as_array_mut() {
        Some(all) => all.insert(0, gate),
        None => spec["initContainers"] = json!([gate]),
    }
}

/// The volumes of the gate, and of the texts.
fn add_volumes(spec: &mut Value, texts: Option<Mounted<'_>>) {
    let labels = json!([{ "path": LABELS_FILE, "fieldRef": { "fieldPath": "metadata.labels" } }]);
    let mut volumes = vec![
        json!({ "name": AGENT_VOLUME, "emptyDir": {} }),
        json!({ "name": STATUS_VOLUME, "downwardAPI": { "items": labels } }),
    ];
    if let Some(texts) = texts {
        // A pod gets its address only when all its volumes are mounted, and its
        // text needs the address.
        let map = json!({ "name": texts.map, "optional": true });
        volumes.push(json!({ "name": CONFIG_VOLUME, "configMap": map }));
    }
    match spec["volumes"].as_array_mut() {
        Some(all) => all.extend(volumes),
        None => spec["volumes"] = Value::from(volumes),
    }
}

/// Mount the texts in all containers of the user.
fn mount_texts(spec: &mut Value, texts: Mounted<'_>) {
    for list in ["initContainers", "containers"] {
        for container in spec[list].as_array_mut().into_iter().flatten() {
            mount(container, Some(texts));
        }
    }
}

/// Let the agent's program ask a container whether it is ready.
pub fn add_readiness(spec: &mut Value, http: &HttpReadiness) {
    let Some(container) = container(spec, &http.container) else {
        return;
    };
    let host = match http.host {
        ProbeHost::Loopback => "127.0.0.1".to_string(),
        ProbeHost::PodIp => {
            push(container, "env", field(POD_IP, "status.podIP"));
            IN_POD.to_string()
        }
    };
    let port = http.port.to_string();
    let command = json!([COPIED, "probe", "--host", host, "--port", port, "--path", http.path]);
    container["readinessProbe"] = json!({
        "exec": { "command": command },
        "periodSeconds": 5,
        "timeoutSeconds": 5,
        "failureThreshold": 3,
    });
    push(container, "volumeMounts", program());
}

/// A container beside that of the process, with its image and its rights, that
/// signals it when its texts have changed.
fn add_reload(spec: &mut Value, to: Signalled<'_>, texts: Option<Mounted<'_>>) {
    let Some(target) = container(spec, to.container) else {
        return;
    };
    let mut reload = json!({
        "name": RELOAD,
        "image": target["image"],
        "imagePullPolicy": target["imagePullPolicy"],
        "securityContext": target["securityContext"],
        "command": [COPIED, "reload"],
        "args": arguments(texts),
        "env": key(texts),
        "resources": resources(),
        "readinessProbe": {
            "exec": { "command": [COPIED, "reload", "--check"] },
            "periodSeconds": 5,
            "timeoutSeconds": 5,
        },
        "volumeMounts": [
            // It notes here what it has signalled.
            { "name": AGENT_VOLUME, "mountPath": AGENT_PATH },
            { "name": STATUS_VOLUME, "mountPath": STATUS_PATH, "readOnly": true },
        ],
    });
    mount(&mut reload, texts);
    let who = ["--process", to.process, "--signal", to.signal.as_str()];
    who.into_iter().for_each(|word| push(&mut reload, "args", json!(word)));
    if let Some(map) = reload.as_object_mut() {
        map.retain(|_, value| !value.is_null());
    }
    push(spec, "containers", reload);
    spec["shareProcessNamespace"] = json!(true);
}

fn container<'a>(spec: &'a mut Value, name: &str) -> Option<&'a mut Value> {
    spec["containers"].as_array_mut()?.iter_mut().find(|c| c["name"] == name)
}

fn arguments(texts: Option<Mounted<'_>>) -> Vec<String> {
    let labels = format!("{STATUS_PATH}/{LABELS_FILE}");
    let mut all = vec!["--labels".to_string(), labels];
    if let Some(texts) = texts {
        all.extend(["--config".to_string(), texts.path.to_string()]);
        all.extend(["--key".to_string(), format!("$({KEY})")]);
    }
    all
}

fn key(texts: Option<Mounted<'_>>) -> Value {
    let variable = |key| match key {
        Key::Field(path) => field(KEY, path),
        Key::Shared(key) => json!({ "name": KEY, "value": key }),
    };
    texts.map(|texts| variable(texts.key)).into_iter().collect()
}

fn field(name: &str, path: &str) -> Value {
    json!({ "name": name, "valueFrom": { "fieldRef": { "fieldPath": path } } })
}

fn program() -> Value {
    json!({ "name": AGENT_VOLUME, "mountPath": AGENT_PATH, "readOnly": true })
}

fn mount(container: &mut Value, texts: Option<Mounted<'_>>) {
    if let Some(texts) = texts {
        let mount = json!({ "name": CONFIG_VOLUME, "mountPath": texts.path, "readOnly": true });
        push(container, "volumeMounts", mount);
    }
}

fn push(object: &mut Value, list: &str, item: Value) {
    match object[list].as_array_mut() {
        Some(all) => all.push(item),
        None => object[list] = json!([item]),
    }
}

/// What the agent's program takes while it waits.
fn resources() -> Map<String, Value> {
    let amounts = |cpu: &str, memory: &str| json!({ "cpu": cpu, "memory": memory });
    Map::from_iter([
        ("requests".to_string(), amounts("5m", "16Mi")),
        ("limits".to_string(), json!({ "memory": "64Mi" })),
    ])
}
