//! About a data volume that cannot be used as it is.

use palladion_api::ids::{HostId, MemberName, VolumeId};

palladion_api::sentences! {
    /// What is wrong with a volume.
    pub enum Wrong {
        NoLedger => "the volume holds data, but its Palladion marker or ledger is missing, so the agent cannot tell which member it belongs to; mount the expected volume and delete the pod or, if this data is not needed, give the member an empty volume";
        OtherFileSystem { recorded: String, found: String } => "expected file system {recorded}, but found {found} without a Palladion marker; mount the expected volume and delete the pod, or replace the member (label `palladion.dev/replace`)";
        CannotTell { recorded: String, found: String } => "found file system {found} without a Palladion marker, where {recorded} is recorded; one of them is known by the number of its device alone, so the agent cannot tell whether the data is gone or another disk is mounted; mount the expected volume and delete the pod or, if its data is gone, replace the member (label `palladion.dev/replace`)";
        NoMarker { recorded: VolumeId } => "expected volume {recorded}, but this file system has no Palladion marker, and no file system ID was recorded to compare with; mount the expected volume and delete the pod, or replace the member (label `palladion.dev/replace`)";
        OtherRing { ledger: String, member: String } => "the ledger names ring {ledger}, but the member belongs to ring {member}; mount the expected volume and delete the pod or, if this data is not needed, give the member an empty volume";
        DataWithoutStart => "the volume holds data, but its ledger does not record that a server was ever started; mount the expected volume and delete the pod or, if this data is not needed, give the member an empty volume";
        OtherMember { owner: MemberName, member: MemberName } => "the volume holds the data of member {owner}, but this is member {member}; mount the expected volume and delete the pod or, if this data is not needed, give the member an empty volume";
        Damaged { host_id: HostId } => "the volume holds files, but not those in which the server keeps its host ID and tokens (`data/system/local-*`), so it would start as a new member, without the data of host ID {host_id}; restore the files of this volume or mount the expected one, then delete the pod; or replace the member (label `palladion.dev/replace`)";
        CameUpAsOther { host_id: HostId } => "a server that was started on this volume came up with another host ID than {host_id}, whose data the volume should hold, and was stopped; no server starts on this volume again: mount the expected volume and delete the pod, or replace the member (label `palladion.dev/replace`)";
        Replaced { lost: VolumeId } => "this volume replaces volume {lost}, whose data is gone";
        DataGone => "the volume has a ledger, but the data of the member is gone";
        NotLooked => "the volume has not been inspected yet";
    }

    /// What a permit asks to be done with data, refused.
    pub enum DataKept {
        Joined { host_id: HostId } => "the data of host ID {host_id} must not be deleted: its member has joined the ring";
        JoinedUnknown => "the data on this volume must not be deleted: its member has joined the ring (the ledger contains no host ID)";
        Nameless => "cannot set the data on this volume aside: the ledger contains no host ID";
        NoRoom { host_id: HostId, used: u64, free: u64 } => "the volume keeps the data of host ID {host_id}, so joining again requires at least as much free space: {used} bytes, but only {free} are free; expand the volume or, if this data is not needed, delete the PersistentVolumeClaim and the pod";
    }
}

impl Wrong {
    /// Is it the right volume, without what its server needs to be this member?
    pub fn is_damage(&self) -> bool {
        match self {
            Wrong::Damaged { .. } | Wrong::CameUpAsOther { .. } => true,
            Wrong::NoLedger
            | Wrong::OtherFileSystem { .. }
            | Wrong::CannotTell { .. }
            | Wrong::NoMarker { .. }
            | Wrong::OtherRing { .. }
            | Wrong::OtherMember { .. }
            | Wrong::DataWithoutStart
            | Wrong::Replaced { .. }
            | Wrong::DataGone
            | Wrong::NotLooked => false,
        }
    }
}
