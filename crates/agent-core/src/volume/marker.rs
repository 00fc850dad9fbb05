//! The marker: it names the volume that it is on.

use palladion_api::ids::{MemberName, VolumeId};
use serde::{Deserialize, Serialize};

/// What stands in the marker.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Marker {
    /// ID of the volume.
    #[serde(rename = "volumeID")]
    pub volume_id: VolumeId,
    /// The member that used it last; older agents have not noted it. Here and not in
    /// the ledger, which older agents refuse with a field that they do not know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<MemberName>,
}
