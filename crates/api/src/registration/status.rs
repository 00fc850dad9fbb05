//! What is registered, and what is on its way.

use crate::ids::{Nonce, Uid};
use crate::waits::{MOST, Wait};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Entries at the most: a status must not grow without end.
pub const MOST_ENTRIES: usize = 1000;

/// Bytes of what is kept of the answers about one pod, names and values together: as many
/// entries as there may be stay below the 1.5 MiB that an object may have.
pub const MOST_CAPTURED: usize = 256;

/// What is observed of a `Registration`.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct RegistrationStatus {
    /// The `metadata.generation` that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Conditions: Accepted, Available, Progressing, Degraded, Paused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// What the operator waits for, the most important first. Absent when it waits for nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST), extend("x-kubernetes-list-type" = "atomic"))]
    pub waits: Vec<Wait>,
    /// Registered pods out of all that should be, for example `4/5`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registered: Option<String>,
    /// uid of the Component that is called. One of another uid knows nobody, so that all pods are registered again.
    #[serde(default, rename = "targetUID", skip_serializing_if = "Option::is_none")]
    pub target_uid: Option<Uid>,
    /// Each pod that is registered, or is to be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST_ENTRIES), extend("x-kubernetes-list-type" = "atomic"))]
    pub entries: Vec<Entry>,
}

/// A pod that is registered, or is to be. It is known by its name and its address.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Name of the pod; of a node agent, that of its node.
    pub name: String,
    /// Its address.
    pub address: String,
    /// Where it is on its way.
    pub state: EntryState,
    /// The call that is under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<OpenCall>,
    /// Calls that have failed in a row.
    #[serde(default)]
    pub attempts: i32,
    /// When the last call ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_try: Option<Time>,
    /// Since when it is no longer on record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gone_since: Option<Time>,
    /// What kept the last call from being done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// Why the last call failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub message: Option<String>,
    /// Address of the pod itself, as of the last call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip: Option<String>,
    /// Node of the pod, as of the last call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// What was kept of the answers.
    // Each of the two calls whose values are kept may have eight.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 16))]
    pub captured: BTreeMap<String, String>,
    /// Hash of the call by which it was registered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
}

/// A call that is under way. It is recorded before it is sent.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct OpenCall {
    /// Which of the calls.
    pub kind: CallKind,
    /// Unique for ever, together with the name of the pod.
    pub nonce: Nonce,
    /// Epoch of the operator that began it: a later one does not know whether it was sent.
    pub epoch: i64,
}

/// One of the calls of a `Registration`.
#[derive(
    Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord,
)]
pub enum CallKind {
    /// Is the pod registered?
    Lookup,
    /// Register it.
    Register,
    /// Take it out.
    Deregister,
}

impl CallKind {
    /// As it is called in the spec.
    pub fn as_str(self) -> &'static str {
        match self {
            CallKind::Lookup => "lookup",
            CallKind::Register => "register",
            CallKind::Deregister => "deregister",
        }
    }
}

/// What kept a call from being done.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// No answer came.
    Unreachable,
    /// The Secret, or the ConfigMap with the authority, cannot be read.
    Credentials,
    /// The answer was none of those that are accepted, or the call cannot be made from its template.
    Refused,
}

/// Where a pod is on its way.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryState {
    /// It waits for the target, or for its turn.
    Queued,
    /// It is being registered.
    Registering,
    /// It is registered.
    Registered,
    /// It is being taken out. If that fails, the message says why, and it is tried again.
    Deregistering,
    /// It could not be registered; it is tried again.
    Failed,
}
