//! Labels, annotations and names of what is created for a `Component`.

/// On every object: the Component that it belongs to.
pub const OWNER: &str = "palladion.dev/component";
/// On pods and the StatefulSet, an annotation: hash of what the texts are made
/// from and the Component itself says.
pub const INPUTS: &str = "palladion.dev/config-inputs";
/// On pods, an annotation: when they were last asked to read their configuration again.
pub const RELOADED: &str = "palladion.dev/reloaded";
/// On the StatefulSet, an annotation: all pods stop, and start again with what
/// this hash is of.
pub const RECREATING: &str = "palladion.dev/recreating";
/// On the StatefulSet, an annotation: the agent's image that its pods have.
pub use crate::labels::AGENT_IMAGE;

/// The ConfigMap of all pods' texts.
pub fn config_map(component: &str) -> String {
    format!("{component}-config")
}

/// The headless Service of all pods, which gives them their DNS names.
pub fn nodes_service(component: &str) -> String {
    format!("{component}-nodes")
}

/// A pod: `<component>-<ordinal>`. Its own Service has the same name.
pub fn pod(component: &str, ordinal: i32) -> String {
    format!("{component}-{ordinal}")
}
