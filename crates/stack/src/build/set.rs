//! The StatefulSet of a Component. It creates all pods at once, as their gates
//! hold them, and restarts none (`OnDelete`): the order is ours, so that a pod
//! that never gets ready does not hold up its own fix (kubernetes/kubernetes#67250).

use super::gated::{self, Key, Mounted};
use super::{labels, metadata, object};
use crate::resources::STATEFUL_SET;
use crate::validate::Valid;
use palladion_api::component::names;
use palladion_api::labels::SPEC_HASH;
use palladion_api::staged::{Addresses, ConfigKey, ReloadPolicy};
use palladion_plan::{Object, hash};
use serde_json::{Value, json};

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
    let mut meta = metadata(valid.owner(), &valid.name);
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

/// Leave the template of a set as it is stored, with what it was made from.
pub fn keep_template(set: &mut Value, stored: &Object) {
    set["spec"]["template"] = stored.at("/spec/template").cloned().unwrap_or_default();
    for key in [SPEC_HASH, names::AGENT_IMAGE] {
        let Some(annotations) = set["metadata"]["annotations"].as_object_mut() else { continue };
        match stored.meta.annotations.get(key) {
            Some(value) => annotations.insert(key.to_string(), json!(value)),
            None => annotations.remove(key),
        };
    }
}

fn template(valid: &Valid, agent_image: &str, hash: &str) -> Value {
    let mut template = valid.spec.template.clone();
    gated::stamp(&mut template, labels(valid.owner()), hash);
    let map = names::config_map(&valid.name);
    let texts = valid.spec.config.as_ref().map(|config| Mounted {
        map: &map,
        path: &config.mount_path,
        key: Key::Field(match config.key {
            ConfigKey::PodName => "metadata.name",
            ConfigKey::PodIp => "status.podIP",
        }),
    });
    let spec = &mut template["spec"];
    if let Some(readiness) = &valid.spec.readiness {
        gated::add_readiness(spec, &readiness.http);
    }
    gated::add_ours(spec, &valid.spec.reload, agent_image, texts);
    match valid.spec.network.addresses {
        Addresses::HostNetwork => gated::use_host_network(spec),
        Addresses::Service | Addresses::PodIp => {}
    }
    template
}
