//! What a task asks for: one body per kind of job.

use crate::ids::{MemberName, VolumeId};
use serde::{Deserialize, Serialize};

/// Replace a dead member: delete its volume claim and stream its data to a new volume.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ReplaceTask {
    /// Name of the `CassandraMember`.
    #[schemars(length(min = 1, max = 63))]
    pub member: MemberName,
    /// The volume to replace: `spec.volumeID` of the member. The task is refused if the member is on another volume. If most of the ring is lost, a task with this field lets the remaining members decide; one that sees the member up still refuses it. Default: the member's current volume, and a majority must agree.
    #[serde(default, rename = "volumeID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub volume_id: Option<VolumeId>,
}
