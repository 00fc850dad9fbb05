//! The order to drain the server of a member.

use crate::ids::{HostId, Nonce, VolumeId};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::{Deserialize, Serialize};

/// An order to drain the server: it writes its memtables to disk, leaves gossip and takes no more requests. It does so until it is restarted.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Drain {
    /// Nonce of the turn. The server is asked once for each.
    pub nonce: Nonce,
    /// Host ID of the member. An agent with another host ID does nothing.
    #[serde(rename = "hostID")]
    pub host_id: HostId,
    /// Volume of the member. An agent on another volume does nothing.
    #[serde(rename = "volumeID")]
    pub volume_id: VolumeId,
    /// When the server that is drained was started, as the member reports it: one that was started since is not.
    pub started_at: Time,
}
