//! How a change reaches the StatefulSets.

use serde::{Deserialize, Serialize};

/// How a change of the spec reaches the StatefulSets of the racks.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
#[serde(rename_all = "camelCase")]
pub struct UpdateStrategy {
    /// When a StatefulSet is deleted without its pods and recreated, instead of changed. The pods keep running and belong to the new StatefulSet; a rollout then replaces them one at a time, as ever. Default `WhenImmutable`.
    #[serde(default)]
    pub stateful_set_replace: StatefulSetReplace,
}

impl UpdateStrategy {
    /// Is nothing said that is not the default?
    pub fn is_default(&self) -> bool {
        *self == UpdateStrategy::default()
    }
}

/// When a StatefulSet is recreated around its pods.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq,
)]
pub enum StatefulSetReplace {
    /// When something changes that Kubernetes does not change in a StatefulSet, such as the size in its claim template.
    #[default]
    WhenImmutable,
    /// Whenever its pod template or claim template changes while no member has the turn to start or stop; else it is changed. A change of `members` alone never recreates it.
    Always,
}
