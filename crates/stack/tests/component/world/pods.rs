//! What the kubelet takes from a pod: its labels, its address, the key of its texts.

use palladion_agent_gate::Labels;
use palladion_api::gate::INIT;
use palladion_plan::sim::store::text;
use serde_json::Value;

/// The labels of a pod, as its gate reads them.
pub(super) fn labels(pod: &Value) -> Labels {
    let all = pod["metadata"]["labels"].as_object().into_iter().flatten();
    all.map(|(key, value)| (key.clone(), value.as_str().unwrap_or_default())).collect()
}

/// A pod on the network of its node has the address of that.
pub(super) fn address(pod: &Value, number: u32) -> String {
    let node = text(pod, "/spec/nodeName").rsplit('-').next().unwrap_or_default();
    match pod["spec"]["hostNetwork"] == true {
        true => format!("10.2.0.{node}"),
        false => format!("10.1.0.{number}"),
    }
}

/// As the gate gets it from its environment.
pub(super) fn key_of_texts(pod: &Value, ip: &str) -> String {
    let init = pod["spec"]["initContainers"].as_array().into_iter().flatten();
    let variable = init.map(|c| c["env"][0].clone()).find(Value::is_object).unwrap_or_default();
    match (variable["value"].as_str(), text(&variable, "/valueFrom/fieldRef/fieldPath")) {
        (Some(key), _) => key.to_string(),
        (None, "status.podIP") => ip.to_string(),
        (None, "spec.nodeName") => text(pod, "/spec/nodeName").to_string(),
        (None, _) => text(pod, "/metadata/name").to_string(),
    }
}

/// Does the gate of the pod look at files? Without these words there are none for it, whatever is
/// in the map.
pub(super) fn mounts_texts(pod: &Value) -> bool {
    let init = pod["spec"]["initContainers"].as_array().into_iter().flatten();
    let gate = init.into_iter().find(|container| container["name"] == INIT);
    let words = gate.and_then(|gate| gate["args"].as_array());
    words.is_some_and(|words| words.iter().any(|word| word == "--config"))
}

/// Has the pod a container of this name?
pub(super) fn has_container(pod: &Value, name: &str) -> bool {
    pod["spec"]["containers"].as_array().into_iter().flatten().any(|c| c["name"] == name)
}
