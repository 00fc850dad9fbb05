//! About a data volume that cannot be used as it is.

use palladion_api::ids::{HostId, VolumeId};

palladion_api::sentences! {
    /// What is wrong with a volume.
    pub enum Wrong {
        NoLedger => "the volume holds data, but its Palladion marker or ledger is missing, so the agent cannot tell which member it belongs to; mount the expected volume and delete the pod or, if this data is not needed, give the member an empty volume";
        OtherFileSystem { recorded: String, found: String } => "expected file system {recorded}, but found {found} without a Palladion marker; mount the expected volume and delete the pod, or replace the member (label `palladion.dev/replace`)";
        NoMarker { recorded: VolumeId } => "expected volume {recorded}, but this file system has no Palladion marker, and no file system ID was recorded to compare with; mount the expected volume and delete the pod, or replace the member (label `palladion.dev/replace`)";
        OtherRing { ledger: String, member: String } => "the ledger names ring {ledger}, but the member belongs to ring {member}; mount the expected volume and delete the pod or, if this data is not needed, give the member an empty volume";
        DataWithoutStart => "the volume holds data, but its ledger does not record that a server was ever started; mount the expected volume and delete the pod or, if this data is not needed, give the member an empty volume";
        Replaced { lost: VolumeId } => "this volume replaces volume {lost}, whose data is gone";
        DataGone => "the volume has a ledger, but the data of the member is gone";
        NotLooked => "the volume has not been inspected yet";
        NewerLedger { path: String, format: u32 } => "the ledger on {path} has format {format}, which this agent cannot read; a newer version of Palladion wrote it: upgrade the operator to that version";
        TwoIds { path: String } => "the marker and the ledger on {path} name different volumes; mount the expected volume and delete the pod or, if this data is not needed, give the member an empty volume";
    }

    /// What a permit asks to be done with data, refused.
    pub enum DataKept {
        Joined { host_id: HostId } => "the data of host ID {host_id} must not be deleted: its member has joined the ring";
        JoinedUnknown => "the data on this volume must not be deleted: its member has joined the ring (the ledger contains no host ID)";
        Nameless => "cannot set the data on this volume aside: the ledger contains no host ID";
        NoRoom { host_id: HostId, used: u64, free: u64 } => "the volume keeps the data of host ID {host_id}, so joining again requires at least as much free space: {used} bytes, but only {free} are free; expand the volume or, if this data is not needed, delete the PersistentVolumeClaim and the pod";
    }
}
