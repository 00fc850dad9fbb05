//! The image of the agent.

use serde::{Deserialize, Serialize};

/// An image by repository and tag.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct SidecarImage {
    /// Repository without tag.
    #[schemars(length(min = 1, max = 255))]
    pub repository: String,
    /// Tag.
    #[schemars(length(min = 1, max = 128))]
    pub version: String,
}
