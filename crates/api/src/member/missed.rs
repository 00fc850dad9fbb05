//! What a server missed while it was down.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::{Deserialize, Serialize};

/// A time in which no server of the ring ran, by the reports of all its members.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct RingDown {
    /// When the server of this member ran last.
    pub since: Time,
    /// When the operator found all members down, and allowed them to start.
    pub until: Time,
}

/// A time in which a server was down. Several absences are added up until the member was repaired.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Missed {
    /// When the server ran last before the first absence.
    pub since: Time,
    /// When it was a full member again after the last one.
    pub until: Time,
    /// Number of absences.
    pub absences: u32,
    /// When the server ran last by what this status showed, where the volume does not hold that: it was set back to an earlier state, and no member keeps hints for what this one took between `since` and then. Agents of before do not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran_until: Option<Time>,
}
