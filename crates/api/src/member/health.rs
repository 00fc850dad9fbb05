//! Health of a member: what its agent has found at its server, and since when.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::{Deserialize, Serialize};

/// As many results are kept.
pub const MOST_HEALTH_RECORDS: usize = 5;
/// Characters of a mode at the most; servers have words of 20.
pub const LONGEST_MODE: usize = 64;
/// Characters of a message at the most.
pub const LONGEST_MESSAGE: usize = 1024;

/// A result of looking at the server, for as long as it held.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct HealthRecord {
    /// The result. It counts once three looks in a row agree.
    pub result: HealthResult,
    /// When the first of those looks was taken.
    pub since: Time,
    /// When it ended: with another result, or with the start of a newer agent. Absent while it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
    /// Operation mode that the server reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = LONGEST_MODE))]
    pub mode: Option<String>,
    /// Whether the native transport was up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_transport: Option<bool>,
    /// Whether gossip was running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gossip: Option<bool>,
    /// Why, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = LONGEST_MESSAGE))]
    pub message: Option<String>,
}

/// Results of looking at a server.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum HealthResult {
    /// The server is a full member, gossips and accepts clients.
    Healthy,
    /// The server answers, and is not all of that.
    Unhealthy,
    /// The server does not answer, or none runs.
    NoAnswer,
    /// What a newer agent reports and this build does not know. Never a value of the schema.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}
