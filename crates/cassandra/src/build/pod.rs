//! The pod of a member: a stock server image whose PID 1 is our init, with the
//! agent put there by an init container, as in Rook's Cassandra operator.

use super::common::rack_labels;
use super::release::Release;
use super::{backup, config, secrets, sidecar};
use crate::validate::{Valid, ValidRack};
use palladion_api::cluster::Mode;
use palladion_api::labels;
use palladion_api::labels::ports;
use palladion_api::names;
use palladion_api::server_config::{CONFIG_DIR, SECRETS_DIR, SHARED_DIR};
use palladion_plan::workload::agent_pod::{self, RUN_DIR, port, probe, restricted};
use serde_json::{Value, json};

/// User and group of the server in the stock images.
const USER: i64 = 999;

/// Names of the container in which a server runs, with its agent: of Cassandra, of ScyllaDB.
const SERVERS: [&str; 2] = ["cassandra", "scylla"];

/// Is that the container of the server, and none that somebody added to its pod?
pub fn is_the_server(container: &str) -> bool {
    SERVERS.contains(&container)
}

/// The pod template as a release of Palladion renders it, without the spec hash.
pub fn template(valid: &Valid, rack: &ValidRack, release: &Release) -> Value {
    let mut annotations = json!(rack.annotations);
    release.record(&mut annotations);
    if let Some(mode) = valid.internode_tls {
        annotations[labels::INTERNODE_TLS] = mode.as_str().into();
    }
    if rack.jmx_exporter.is_some() {
        annotations["prometheus.io/scrape"] = "true".into();
        annotations["prometheus.io/port"] = ports::PROMETHEUS.to_string().into();
    }
    let server = server(valid, rack, release);
    // People and kubectl take the first one.
    let containers: Value =
        std::iter::once(server).chain(sidecar::containers(valid, rack)).collect();
    let mut spec = json!({
        "serviceAccountName": names::member_account(&valid.name),
        "automountServiceAccountToken": sidecar::token_is_for_all(valid),
        "enableServiceLinks": false,
        "terminationGracePeriodSeconds": valid.termination_grace_seconds,
        "securityContext": agent_pod::security(USER),
        "initContainers": [agent_pod::install(&release.agent_image, rack.resources.as_ref())],
        "containers": containers,
        "volumes": volumes(valid, rack, release),
    });
    let alike = json!({ labels::CLUSTER: valid.name });
    agent_pod::place(&mut spec, &alike, rack.placement.as_ref());
    if !valid.pull_secrets.is_empty() {
        spec["imagePullSecrets"] = json!(valid.pull_secrets);
    }
    json!({
        "metadata": { "labels": rack_labels(valid, rack), "annotations": annotations },
        "spec": spec,
    })
}

fn server(valid: &Valid, rack: &ValidRack, release: &Release) -> Value {
    let agent = format!("{SHARED_DIR}/palladion-agent");
    let [cassandra, scylla] = SERVERS;
    let (name, data_dir) = match valid.mode {
        Mode::Cassandra => (cassandra, "/var/lib/cassandra"),
        Mode::Scylla => (scylla, "/var/lib/scylla"),
    };
    let mut container = json!({
        "name": name,
        "image": valid.image,
        "command": [agent, "init"],
        "env": agent_pod::environment(&valid.env),
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
    if let Some(mounts) = container["volumeMounts"].as_array_mut() {
        mounts.extend(backup::mounts(valid));
        mounts.extend(sidecar::token_mount(valid));
    }
    if let Some(environment) = container["env"].as_array_mut() {
        environment.extend(backup::environment(valid));
    }
    agent_pod::limit(&mut container, rack.resources.as_ref());
    container
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
    all.extend(backup::volumes(valid));
    all.extend(sidecar::volumes(valid));
    all.into()
}
