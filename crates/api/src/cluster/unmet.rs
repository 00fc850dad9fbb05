//! What users want of members and the operator has not carried out, and why.

use crate::ids::MemberName;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::{Deserialize, Serialize};

/// As many as a status shows.
pub const MOST_UNMET: usize = 32;

/// One wish of `spec.wanted` of a member that is not carried out, or not yet.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Unmet {
    /// The member.
    pub member: MemberName,
    /// Field of `spec.wanted` and its value, for example `run: Stopped`.
    #[schemars(length(max = 160))]
    pub wish: String,
    /// Why it is not carried out yet, as a documented reason.
    #[schemars(length(max = 64))]
    pub reason: String,
    /// Why, in words.
    #[schemars(length(max = 1024))]
    pub message: String,
    /// Since when the operator has known of the wish.
    pub since: Time,
}
