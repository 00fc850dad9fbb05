//! Gates, as a status shows them.

use serde::{Deserialize, Serialize};

/// The gate of one pod.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Gate {
    /// The pod.
    pub pod: String,
    /// The last ticket that it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket: Option<String>,
    /// Whether the services of the pod may start.
    pub state: GateState,
    /// What it waits for. Absent when it waits for nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256))]
    pub message: Option<String>,
}

/// Whether the services of a pod may start.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateState {
    /// They may not.
    Closed,
    /// They may; the pod has not seen it yet.
    Open,
    /// The pod has seen it.
    Passed,
}
