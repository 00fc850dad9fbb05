//! The pod of a server: a stock image whose PID 1 is our init, with the agent
//! put there by an init container.

use super::common::cluster_labels;
use super::config;
use crate::validate::{AgentImage, Valid};
use palladion_api::labels::{self, ports};
use palladion_api::names;
use palladion_api::server_config::{CONFIG_DIR, SHARED_DIR};
use palladion_api::zookeeper::{DATA_DIR, LOG_DIR};
use palladion_plan::hash;
use palladion_plan::workload::agent_pod::{self, RUN_DIR, port, probe, restricted};
use serde_json::{Value, json};

/// User and group of the server in the stock images.
const USER: i64 = 1000;
/// The container in which a server runs, with its agent.
pub const CONTAINER: &str = "zookeeper";
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
        "securityContext": agent_pod::security(USER),
        "initContainers": [agent_pod::install(agent_image, valid.resources.as_ref())],
        "containers": [server(valid)],
        "volumes": [
            { "name": "shared", "emptyDir": {} },
            { "name": "config", "configMap": { "name": config::name(valid) } },
            { "name": "run", "emptyDir": { "medium": "Memory", "sizeLimit": "16Mi" } },
            { "name": "tmp", "emptyDir": {} },
        ],
    });
    let alike = json!({ labels::ZOOKEEPER: valid.name });
    agent_pod::place(&mut spec, &alike, valid.placement.as_ref());
    if !valid.pull_secrets.is_empty() {
        spec["imagePullSecrets"] = json!(valid.pull_secrets);
    }
    json!({
        "metadata": { "labels": cluster_labels(valid), "annotations": annotations },
        "spec": spec,
    })
}

fn server(valid: &Valid) -> Value {
    let agent = format!("{SHARED_DIR}/palladion-agent");
    let claim = valid.claim.metadata.name.as_deref().unwrap_or_default();
    let mounted =
        |path: &str, part: &str| json!({ "name": claim, "mountPath": path, "subPath": part });
    let mut container = json!({
        "name": CONTAINER,
        "image": valid.image,
        "command": [agent, "init"],
        "env": environment(valid),
        "ports": [
            port("client", i32::from(valid.ports.client)),
            port("quorum", i32::from(valid.ports.quorum)),
            port("election", i32::from(valid.ports.election)),
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
            { "name": claim, "mountPath": VOLUME_DIR },
            mounted(DATA_DIR, "data"),
            mounted(LOG_DIR, "datalog"),
            { "name": "run", "mountPath": RUN_DIR },
            { "name": "tmp", "mountPath": "/tmp" },
        ],
    });
    agent_pod::limit(&mut container, valid.resources.as_ref());
    container
}

fn environment(valid: &Valid) -> Vec<Value> {
    let mut env = vec![json!({ "name": "PALLADION_SYSTEM", "value": "zookeeper" })];
    env.extend(agent_pod::environment(&valid.env));
    env
}
