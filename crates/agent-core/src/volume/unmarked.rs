//! What a volume without a marker and without data may be. Pure (safety rule 2.8).

use palladion_api::ids::VolumeId;

/// What an unmarked volume without data is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unmarked {
    /// Nothing is recorded: it may be taken into use.
    New,
    /// It is on the recorded file system: that volume is lost, and this one may be taken into
    /// use in its place.
    Lost(VolumeId),
    /// Another file system: the recorded one is not mounted.
    OtherFileSystem {
        /// The one that is recorded.
        recorded: String,
    },
    /// A volume is recorded, and no file system to compare with.
    NoMarker {
        /// ID of the one that is recorded.
        recorded: VolumeId,
    },
}

/// Judge one on the file system `found` by the volume and file system that are recorded.
pub fn unmarked(
    volume_id: Option<&VolumeId>,
    file_system: Option<&String>,
    found: &str,
) -> Unmarked {
    match (volume_id, file_system) {
        (None, None) => Unmarked::New,
        (Some(lost), Some(recorded)) if recorded == found => Unmarked::Lost(lost.clone()),
        (Some(_) | None, Some(recorded)) => {
            Unmarked::OtherFileSystem { recorded: recorded.clone() }
        }
        (Some(recorded), None) => Unmarked::NoMarker { recorded: recorded.clone() },
    }
}
