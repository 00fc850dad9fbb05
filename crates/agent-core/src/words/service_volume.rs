//! About the data volume of a clustered service that cannot be used as it is.

use palladion_api::ids::{MemberName, VolumeId};
use palladion_api::words::Names;

palladion_api::sentences! {
    /// What is wrong with a volume.
    pub enum Wrong {
        NoLedger => "the volume holds data, but its Palladion marker or ledger is missing, so the agent cannot tell which member it belongs to; mount the expected volume and delete the pod or, if this data is not needed, give the member an empty volume";
        OtherFileSystem { recorded: String, found: String } => "expected file system {recorded}, but found {found} without a Palladion marker; mount the expected volume and delete the pod, or replace the member";
        CannotTell { recorded: String, found: String } => "found file system {found} without a Palladion marker, where {recorded} is recorded; one of them is known by the number of its device alone, so the agent cannot tell whether the data is gone or another disk is mounted; mount the expected volume and delete the pod or, if its data is gone, replace the member";
        NoMarker { recorded: VolumeId } => "expected volume {recorded}, but this file system has no Palladion marker, and no file system ID was recorded to compare with; mount the expected volume and delete the pod, or replace the member";
        OtherCluster { ledger: String, member: String } => "the ledger names cluster {ledger}, but the member belongs to cluster {member}; mount the expected volume and delete the pod or, if this data is not needed, give the member an empty volume";
        DataWithoutStart => "the volume holds data, but its ledger does not record that a server was ever started; mount the expected volume and delete the pod or, if this data is not needed, give the member an empty volume";
        OtherMember { owner: MemberName, member: MemberName } => "the volume holds the data of member {owner}, but this is member {member}; mount the expected volume and delete the pod or, if this data is not needed, give the member an empty volume";
        Replaced { lost: VolumeId } => "this volume replaces volume {lost}, whose data is gone";
        DataGone => "the volume has a ledger, but the data of the member is gone";
        PartsGone { parts: Names } => "the volume has a ledger, but a part of the member's data is gone: {parts}; mount the expected volume and delete the pod, or replace the member";
        RolledBack { recorded: i64, found: i64 } => "the volume is an old copy: its ledger counts {found} starts, but {recorded} were reported; a server on it would vote without what it has acknowledged; mount the expected volume and delete the pod, or replace the member";
        NotLooked => "the volume has not been inspected yet";
    }
}
