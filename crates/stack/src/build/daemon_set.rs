//! The DaemonSet of a group of node agents. It restarts none (`OnDelete`): the
//! order is ours, so that a node on which no pod can run holds up no other.

use super::gated::{self, Key, Mounted};
use super::{labels, metadata, object};
use crate::resources::DAEMON_SET;
use crate::validate::ValidGroup;
use palladion_api::component::names;
use palladion_api::labels::{AGENT_IMAGE, SPEC_HASH};
use palladion_api::node_agents::names::{AGENT, OWNER};
use palladion_api::node_agents::{GroupKey, NodeAddresses};
use palladion_api::staged::ReloadPolicy;
use palladion_plan::hash;
use serde_json::{Value, json};

/// Counts the ways in which a template was made from a spec; see the StatefulSet's.
const GENERATION: u32 = 1;

/// Hash of all that a pod is made from, without its texts.
pub fn template_hash(valid: &ValidGroup, agent_image: &str) -> String {
    let spec = &valid.spec;
    let config = spec.config.as_ref();
    hash::of(&json!({
        "generation": GENERATION,
        "template": spec.template,
        "agent": spec.agent,
        "nodeSelector": spec.node_selector,
        "tolerations": spec.tolerations,
        "addresses": spec.network.addresses,
        "config": config.map(|c| json!({ "key": c.key, "mountPath": c.mount_path })),
        "signal": (spec.reload.policy == ReloadPolicy::Signal).then_some(&spec.reload),
        "agentImage": agent_image,
    }))
}

/// The DaemonSet.
pub fn daemon_set(valid: &ValidGroup, agent_image: &str) -> Value {
    let hash = template_hash(valid, agent_image);
    let mut meta = metadata(valid.owner(), &valid.name);
    meta["annotations"] = json!({ SPEC_HASH: hash, AGENT_IMAGE: agent_image });
    let mut set = object(DAEMON_SET, meta);
    set["spec"] = json!({
        "updateStrategy": { "type": "OnDelete" },
        "selector": { "matchLabels": { OWNER: valid.name } },
        "template": template(valid, agent_image, &hash),
    });
    set
}

fn template(valid: &ValidGroup, agent_image: &str, hash: &str) -> Value {
    let mut template = valid.spec.template.clone();
    let mut own = labels(valid.owner());
    own.insert(AGENT.to_string(), valid.spec.agent.as_str().into());
    gated::stamp(&mut template, own, hash);
    let map = names::config_map(&valid.name);
    let texts = valid.spec.config.as_ref().map(|config| Mounted {
        map: &map,
        path: &config.mount_path,
        key: match config.key {
            GroupKey::Group => Key::Shared(&valid.name),
            GroupKey::NodeName => Key::Field("spec.nodeName"),
            GroupKey::PodIp => Key::Field("status.podIP"),
        },
    });
    let spec = &mut template["spec"];
    gated::add_ours(spec, &valid.spec.reload, agent_image, texts);
    for (key, value) in &valid.spec.node_selector {
        spec["nodeSelector"][key] = json!(value);
    }
    let own = valid.spec.tolerations.iter().map(|toleration| json!(toleration));
    match spec["tolerations"].as_array_mut() {
        Some(all) => all.extend(own),
        None => spec["tolerations"] = own.collect(),
    }
    exclude_others(spec, &valid.spec.agent);
    match valid.spec.network.addresses {
        NodeAddresses::HostNetwork => gated::use_host_network(spec),
        NodeAddresses::PodIp => {}
    }
    template
}

/// No node gets two pods of an agent, whatever groups and namespaces they are of.
fn exclude_others(spec: &mut Value, agent: &str) {
    let term = json!({
        "labelSelector": { "matchLabels": { AGENT: agent } },
        "namespaceSelector": {},
        "topologyKey": "kubernetes.io/hostname",
    });
    let required =
        &mut spec["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
    match required.as_array_mut() {
        Some(all) => all.push(term),
        None => *required = json!([term]),
    }
}
