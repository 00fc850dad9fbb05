//! What the agent must know of the running node after a restart of its own. Kept in
//! memory-backed storage: it holds the password of the agent's user, so that a node stays
//! ready whose Secret somebody has deleted.

use crate::decide::Doors;
use crate::wire::http::Password;
use palladion_agent_core::launch_record::LaunchRecord;
use serde::{Deserialize, Serialize};

/// The record of a launch.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// Tag of the launch; init tells it of the server that runs.
    pub tag: String,
    /// Hash of the operator's configuration that the node was started with.
    pub config_hash: String,
    /// Was it started open for clients?
    pub doors: Doors,
    /// The password of the agent's user, as the Secret had it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<Password>,
}

impl LaunchRecord for Record {
    fn tag(&self) -> &str {
        &self.tag
    }
}
