//! Health of a ring: what is checked, and what the checks add up to.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::{Deserialize, Serialize};

/// As many checks as a status has room for.
pub const MOST_CHECKS: usize = 32;
/// As many contact points as a client needs to find the rest.
pub const MOST_CONTACT_POINTS: usize = 3;

/// Whether a ring is well.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct RingHealth {
    /// What the checks add up to.
    pub verdict: Verdict,
    /// Since when it is the verdict.
    pub since: Time,
    /// The checks, in a fixed order.
    #[serde(default)]
    #[schemars(length(max = MOST_CHECKS), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub checks: Vec<Check>,
}

/// What checks add up to.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every check passes.
    Well,
    /// A check fails.
    Ill,
    /// No check fails, and for one or more it is not known.
    Unknown,
}

/// One check of a ring.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// Name of the check, which is also the reason of the condition `Healthy` where it is the first to fail.
    #[schemars(length(max = 64))]
    pub name: String,
    /// What it has found.
    pub result: CheckResult,
    /// Why it does not pass, or under what assumption it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// What a check has found.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckResult {
    /// It is as it should be.
    Pass,
    /// It is not.
    Fail,
    /// Nobody who would know reports it.
    Unknown,
}
