//! About a data volume that cannot be used as it is.

use palladion_api::ids::{HostId, VolumeId};

palladion_api::sentences! {
    /// What is wrong with a volume.
    pub enum Wrong {
        NoLedger => "the volume holds data, but no ledger says whose it is";
        OtherFileSystem { recorded: String, found: String } => "expected file system {recorded}, but found {found} without a Palladion marker";
        NoMarker { recorded: VolumeId } => "expected volume {recorded}; the file system here has no marker, and none was recorded to compare it with";
        OtherRing { ledger: String, member: String } => "the ledger names ring {ledger}, but the member belongs to ring {member}";
        DataWithoutStart => "the volume holds data, but its ledger knows of no start of a server";
        Replaced { lost: VolumeId } => "this volume is in the place of volume {lost}, whose data is gone";
        DataGone => "the ledger is there, but the data of the member is gone";
        NotLooked => "the volume has not been inspected yet";
        NewerLedger { path: String, format: u32 } => "the ledger on {path} has format {format}, which this agent cannot read; use a newer agent";
        TwoIds { path: String } => "the marker and the ledger on {path} name different volumes";
    }

    /// What a permit asks to be done with data, refused.
    pub enum DataKept {
        Joined { host_id: HostId } => "refusing to delete the data of host ID {host_id}";
        JoinedUnknown => "refusing to delete the data of a member that has joined and whose host ID is unknown";
        Nameless => "the ledger names no host ID whose data could be set aside";
        NoRoom { host_id: HostId, used: u64, free: u64 } => "the data of host ID {host_id} takes {used} bytes, and only {free} bytes are free: too little to keep it and to join again";
    }
}
