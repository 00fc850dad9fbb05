//! What a volume without a marker and without data may be. Pure (safety rule 2.8).

use palladion_api::file_system::{self, Comparison};
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
    /// The recorded one, emptied, or another one under its device number: nobody knows.
    CannotTell {
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
        (Some(lost), Some(recorded)) => match file_system::compare(recorded, found) {
            Comparison::Same => Unmarked::Lost(lost.clone()),
            Comparison::Other => Unmarked::OtherFileSystem { recorded: recorded.clone() },
            Comparison::Unknown => Unmarked::CannotTell { recorded: recorded.clone() },
        },
        (None, Some(recorded)) => Unmarked::OtherFileSystem { recorded: recorded.clone() },
        (Some(recorded), None) => Unmarked::NoMarker { recorded: recorded.clone() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(recorded: &str, found: &str) -> Unmarked {
        unmarked(Some(&"v0".into()), Some(&recorded.to_string()), found)
    }

    /// The kernel gives XFS the number of the device for an ID: 8:33 is 0x821.
    #[test]
    fn a_blank_disk_under_the_same_device_number_is_not_the_recorded_one_emptied() {
        let by_number = "xfs/0000000000000821/";
        let cannot_tell = Unmarked::CannotTell { recorded: by_number.into() };
        for found in [by_number, "xfs/device 8:33/", "xfs/1fd108ae430442179b781ccf34f280e8/"] {
            assert_eq!(of(by_number, found), cannot_tell, "{found}");
        }
    }

    #[test]
    fn an_emptied_file_system_that_says_who_it_is_is_lost() {
        for id in ["xfs/1fd108ae430442179b781ccf34f280e8/", "ext4/7033aa87c1a0fbe2/pv/a"] {
            assert_eq!(of(id, id), Unmarked::Lost("v0".into()));
            let other = Unmarked::OtherFileSystem { recorded: id.into() };
            assert_eq!(of(id, "ext4/7033aa87c1a0fbe3/pv/a"), other);
        }
    }
}
