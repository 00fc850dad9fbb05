//! The pod of a server: a stock image whose PID 1 is our init, with the agent
//! put there by an init container.

use super::config;
use crate::resources::CONTAINER;
use crate::validate::Valid;
use palladion_api::labels::ports;
use palladion_api::server_config::{CONFIG_DIR, SHARED_DIR};
use palladion_api::zookeeper::{DATA_DIR, LOG_DIR};
use palladion_plan::members::build::{self, PodParts, Release};
use palladion_plan::workload::agent_pod::{self, RUN_DIR, port, probe, restricted};
use serde_json::{Value, json};

/// User and group of the server in the stock images.
const USER: i64 = 1000;
/// The volume: marker, ledger, data, logs and the dynamic configuration.
const VOLUME_DIR: &str = "/palladion";
/// How templates are made of a spec; raised when they are made otherwise.
const GENERATION: u32 = 1;

/// The template that the spec asks for. Where a set that stands differs from it only
/// in the agent's image, and the spec names none, it stays: an upgrade of Palladion
/// restarts nothing. `standing` are the annotations of that set's template.
pub fn release(valid: &Valid, standing: Option<&Value>) -> Release {
    build::release(&valid.agent_image, standing, |image| {
        let parts = PodParts {
            generation: GENERATION,
            user: USER,
            server: server(valid),
            config_map: config::name(valid),
            volumes: Vec::new(),
        };
        build::template(valid, image, parts)
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
