//! The StatefulSet of a Component. It creates all pods at once, as their gates
//! hold them, and restarts none (`OnDelete`): the order is ours, so that a pod
//! that never gets ready does not hold up its own fix (kubernetes/kubernetes#67250).

use super::gated::{self, Mounted, Signalled};
use super::{labels, metadata, object};
use crate::resources::STATEFUL_SET;
use crate::validate::Valid;
use palladion_api::component::names;
use palladion_api::gate::STATUS;
use palladion_api::labels::{APP_NAME, SPEC_HASH};
use palladion_api::staged::{Addresses, ConfigKey, ReloadPolicy};
use palladion_plan::hash;
use serde_json::{Map, Value, json};

/// Counts the ways in which a template was made from a spec. A release that
/// makes it in another way raises this, and keeps the old way for sets that
/// were made by it, so that an upgrade of the operator restarts no pod.
const GENERATION: u32 = 1;

/// What a set is made from.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The agent's image.
    pub agent_image: &'a str,
    /// Number of pods.
    pub replicas: i32,
    /// Hash of what all pods are being recreated for.
    pub recreating: Option<&'a str>,
}

/// Hash of all that a pod is made from, without its texts.
pub fn template_hash(valid: &Valid, agent_image: &str) -> String {
    let spec = &valid.spec;
    let config = spec.config.as_ref();
    hash::of(&json!({
        "generation": GENERATION,
        "template": spec.template,
        "addresses": spec.network.addresses,
        "config": config.map(|c| json!({ "key": c.key, "mountPath": c.mount_path })),
        "signal": (spec.reload.policy == ReloadPolicy::Signal).then_some(&spec.reload),
        "readiness": spec.readiness,
        "agentImage": agent_image,
    }))
}

/// The StatefulSet.
pub fn stateful_set(valid: &Valid, wanted: Wanted<'_>) -> Value {
    let hash = template_hash(valid, wanted.agent_image);
    let mut meta = metadata(valid, &valid.name);
    meta["annotations"] = json!({ SPEC_HASH: hash, names::AGENT_IMAGE: wanted.agent_image });
    if let Some(what_for) = wanted.recreating {
        meta["annotations"][names::RECREATING] = json!(what_for);
    }
    let mut set = object(STATEFUL_SET, meta);
    let mut spec = json!({
        "replicas": wanted.replicas,
        "serviceName": names::nodes_service(&valid.name),
        "podManagementPolicy": "Parallel",
        "minReadySeconds": valid.spec.min_ready_seconds,
        "updateStrategy": { "type": "OnDelete" },
        "persistentVolumeClaimRetentionPolicy": { "whenDeleted": "Retain", "whenScaled": "Retain" },
        "selector": { "matchLabels": { names::OWNER: valid.name } },
        "template": template(valid, wanted.agent_image, &hash),
    });
    if !valid.spec.volume_claim_templates.is_empty() {
        spec["volumeClaimTemplates"] = json!(valid.spec.volume_claim_templates);
    }
    set["spec"] = spec;
    set
}

fn template(valid: &Valid, agent_image: &str, hash: &str) -> Value {
    let mut template = valid.spec.template.clone();
    let mut own = labels(valid);
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
    let stamp = Map::from_iter([(SPEC_HASH.to_string(), hash.into())]);
    merge(&mut template["metadata"]["annotations"], stamp);
    add_ours(&mut template["spec"], valid, agent_image);
    template
}

fn add_ours(spec: &mut Value, valid: &Valid, agent_image: &str) {
    let map = names::config_map(&valid.name);
    let texts = valid.spec.config.as_ref().map(|config| Mounted {
        map: &map,
        path: &config.mount_path,
        key: match config.key {
            ConfigKey::PodName => "metadata.name",
            ConfigKey::PodIp => "status.podIP",
        },
    });
    if let Some(texts) = texts {
        gated::mount_texts(spec, texts);
    }
    if let Some(readiness) = &valid.spec.readiness {
        gated::add_readiness(spec, &readiness.http);
    }
    let reload = &valid.spec.reload;
    if let (ReloadPolicy::Signal, Some(process), Some(container)) =
        (reload.policy, &reload.process, &reload.container)
    {
        let to = Signalled { process, container, signal: reload.signal() };
        gated::add_reload(spec, to, texts);
    }
    gated::add_gate(spec, agent_image, texts);
    gated::add_volumes(spec, texts);
    match valid.spec.network.addresses {
        Addresses::HostNetwork => {
            spec["hostNetwork"] = json!(true);
            if spec["dnsPolicy"].is_null() {
                spec["dnsPolicy"] = json!("ClusterFirstWithHostNet");
            }
        }
        Addresses::Service | Addresses::PodIp => {}
    }
}

fn merge(target: &mut Value, from: Map<String, Value>) {
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    for (key, value) in from {
        target[key] = value;
    }
}
