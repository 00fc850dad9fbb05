//! The pod of a node: a stock image whose PID 1 is our init, with the agent put there by
//! an init container.

use super::config;
use crate::resources::CONTAINER;
use crate::validate::Valid;
use palladion_api::labels::ports;
use palladion_api::names;
use palladion_api::rabbitmq::{
    AGENT_PASSWORD_KEY, COOKIE_KEY, CREDENTIALS_DIR, DEFINITIONS_DIR, DEFINITIONS_KEY,
    PASSWORD_KEY, RABBITMQ_DATA_DIR, USERNAME_KEY,
};
use palladion_api::server_config::{CONFIG_DIR, SECRETS_DIR, SHARED_DIR};
use palladion_plan::members::build::{self, PodParts, Release};
use palladion_plan::workload::agent_pod::{self, RUN_DIR, port, probe, restricted};
use serde_json::{Value, json};

/// User and group of the server in the stock images.
const USER: i64 = 999;
/// The volume: marker, ledger and the node's data.
const VOLUME_DIR: &str = "/palladion";
/// How templates are made of a spec; raised when they are made otherwise.
const GENERATION: u32 = 1;
/// Name of the volume with the Secrets.
const SECRETS: &str = "secrets";
/// Readable for user and group of the server (0440).
const FILE_MODE: i32 = 0o440;
/// Erlang's port mapper.
const EPMD: i32 = 4369;

/// The template that the spec asks for. Where a set that stands differs from it only in
/// the agent's image, and the spec names none, it stays: an upgrade of Palladion restarts
/// nothing. `standing` are the annotations of that set's template.
pub fn release(valid: &Valid, standing: Option<&Value>) -> Release {
    build::release(&valid.agent_image, standing, |image| {
        let parts = PodParts {
            generation: GENERATION,
            user: USER,
            server: server(valid),
            config_map: config::name(valid),
            volumes: vec![secrets(valid)],
        };
        build::template(valid, image, parts)
    })
}

fn server(valid: &Valid) -> Value {
    let agent = format!("{SHARED_DIR}/palladion-agent");
    let claim = valid.claim.metadata.name.as_deref().unwrap_or_default();
    let mut container = json!({
        "name": CONTAINER,
        "image": valid.image,
        "command": [agent, "init"],
        "env": environment(valid),
        "ports": [
            port("amqp", i32::from(valid.ports.amqp)),
            port("management", i32::from(valid.ports.management)),
            port("distribution", i32::from(valid.ports.distribution)),
            port("epmd", EPMD),
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
            { "name": SECRETS, "mountPath": SECRETS_DIR, "readOnly": true },
            { "name": claim, "mountPath": VOLUME_DIR },
            { "name": claim, "mountPath": RABBITMQ_DATA_DIR, "subPath": "rabbitmq" },
            { "name": "run", "mountPath": RUN_DIR },
            { "name": "tmp", "mountPath": "/tmp" },
        ],
    });
    agent_pod::limit(&mut container, valid.resources.as_ref());
    container
}

/// Files, never environment or arguments. The kubelet reads the Secrets, so neither the
/// operator nor the agent needs a right to. All are optional, since a node that has
/// joined starts by itself, whatever is missing.
fn secrets(valid: &Valid) -> Value {
    let credentials = [COOKIE_KEY, AGENT_PASSWORD_KEY, USERNAME_KEY, PASSWORD_KEY];
    let mut sources = vec![source(&valid.secret, CREDENTIALS_DIR, &credentials)];
    if let Some(secret) = &valid.definitions_secret {
        sources.push(source(secret, DEFINITIONS_DIR, &[DEFINITIONS_KEY]));
    }
    json!({ "name": SECRETS, "projected": { "defaultMode": FILE_MODE, "sources": sources } })
}

fn source(secret: &str, path: &str, keys: &[&str]) -> Value {
    let folder = path.strip_prefix(SECRETS_DIR).unwrap_or(path).trim_start_matches('/');
    let item = |key: &&str| json!({ "key": key, "path": format!("{folder}/{key}") });
    let items: Vec<Value> = keys.iter().map(item).collect();
    json!({ "secret": { "name": secret, "items": items, "optional": true } })
}

fn environment(valid: &Valid) -> Vec<Value> {
    let mut env = vec![json!({ "name": "PALLADION_SYSTEM", "value": "rabbitmq" })];
    env.extend(agent_pod::environment(&valid.env));
    // What a user types in the container, `rabbitmqctl` and its sisters, finds the node.
    let service = names::nodes_service(&valid.set);
    let domain = &valid.cluster_domain;
    let node = format!("rabbit@$(POD_NAME).{service}.$(POD_NAMESPACE).svc.{domain}");
    env.push(json!({ "name": "RABBITMQ_USE_LONGNAME", "value": "true" }));
    env.push(json!({ "name": "RABBITMQ_NODENAME", "value": node }));
    env
}
