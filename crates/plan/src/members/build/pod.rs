//! The pod of a server: a stock image whose PID 1 is our init, with the agent put there
//! by an init container.

use super::super::spec::{AgentImage, ServiceSpec};
use super::common::{cluster_labels, selector};
use crate::hash;
use crate::workload::agent_pod;
use palladion_api::{labels, names};
use serde_json::{Value, json};

/// A pod template with the hash of what it is made of.
#[derive(Debug, Clone)]
pub struct Release {
    /// The template, without its hash.
    pub template: Value,
    /// Its hash.
    pub hash: String,
}

/// What a mind gives to the pod template of its servers.
#[derive(Debug)]
pub struct PodParts {
    /// How templates are made of a spec; raised when they are made otherwise.
    pub generation: u32,
    /// User and group of the server in the stock images.
    pub user: i64,
    /// The server's container.
    pub server: Value,
    /// Name of the ConfigMap with the configuration.
    pub config_map: String,
    /// Volumes besides those that every such pod has.
    pub volumes: Vec<Value>,
}

/// The template that the spec asks for, as `render` makes it with an agent's image. Where
/// a set that stands differs from it only in that image, and the spec names none, it
/// stays: an upgrade of Palladion restarts nothing. `standing` are the annotations of
/// that set's template.
pub fn release(
    image: &AgentImage,
    standing: Option<&Value>,
    render: impl Fn(&str) -> Value,
) -> Release {
    let rendered = |image: &str| {
        let template = render(image);
        let hash = hash::of(&template);
        Release { template, hash }
    };
    let annotation = |key: &str| standing?.get(key)?.as_str();
    if let AgentImage::Default(_) = image
        && let (Some(image), Some(stored)) =
            (annotation(labels::AGENT_IMAGE), annotation(labels::SPEC_HASH))
    {
        let kept = rendered(image);
        if kept.hash == stored {
            return kept;
        }
    }
    rendered(image.reference())
}

/// The template with this image of the agent.
pub fn template(spec: &ServiceSpec, agent_image: &str, parts: PodParts) -> Value {
    let mut annotations = json!(spec.annotations);
    annotations[labels::TEMPLATE_GENERATION] = parts.generation.to_string().into();
    annotations[labels::AGENT_IMAGE] = agent_image.into();
    let mut volumes = vec![
        json!({ "name": "shared", "emptyDir": {} }),
        json!({ "name": "config", "configMap": { "name": parts.config_map } }),
        json!({ "name": "run", "emptyDir": { "medium": "Memory", "sizeLimit": "16Mi" } }),
        json!({ "name": "tmp", "emptyDir": {} }),
    ];
    volumes.extend(parts.volumes);
    let mut pod = json!({
        "serviceAccountName": names::member_account(&spec.set),
        "automountServiceAccountToken": true,
        "enableServiceLinks": false,
        "terminationGracePeriodSeconds": spec.termination_grace_seconds,
        "securityContext": agent_pod::security(parts.user),
        "initContainers": [agent_pod::install(agent_image, spec.resources.as_ref())],
        "containers": [parts.server],
        "volumes": volumes,
    });
    agent_pod::place(&mut pod, &selector(spec), spec.placement.as_ref());
    if !spec.pull_secrets.is_empty() {
        pod["imagePullSecrets"] = json!(spec.pull_secrets);
    }
    json!({
        "metadata": { "labels": cluster_labels(spec), "annotations": annotations },
        "spec": pod,
    })
}
