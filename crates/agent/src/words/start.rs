//! Why no server is started.

use jiff::Timestamp;
use palladion_api::ids::{HostId, StaticAddress, VolumeId};
use palladion_api::words::Names;

palladion_api::sentences! {
    /// What a start waits for.
    pub enum Waiting {
        ProcessUnknown { why: String } => FactUnknown, "cannot determine whether the server is running: {why}";
        VolumeUnreadable { why: String } => VolumeForeign, "{why}";
        NoSpec => WaitingForMember, "the agent has not read its CassandraMember yet";
        NoAddress => WaitingForMember, "the member has no address yet";
        PermitNotLive => WaitingForMember, "a start permit counts only when it is read from the API server, which does not answer";
        NoHostId => VolumeForeign, "the ledger on the volume says that the member has joined but names no host ID";
        OtherHostId { recorded: HostId, found: HostId } => StaleTwin, "host ID {recorded} is recorded for this member, but this volume holds {found}";
        OtherVolume { recorded: VolumeId, found: VolumeId } => StaleTwin, "volume {recorded} is recorded for this member, but this is volume {found}";
        NewAddress { address: StaticAddress } => WaitingForPermit, "the member now has the address {address} and had none before; its server needs a permit to start";
        OtherAddress { before: StaticAddress, now: StaticAddress } => WaitingForPermit, "the member's address changed from {before} to {now}; its server needs a permit to start";
        DataLost => VolumeLost, "the data of this member is gone; it waits for a permit to replace itself";
        TooOld { at: Timestamp } => DataTooOld, "its server last ran at {at}, longer ago than tombstones are kept (`gc_grace_seconds`, 10 days by default), and deleted rows would come back with it; replace the member (label `palladion.dev/replace`), or set `spec.allowStaleStart` of the CassandraMember to that time to start it all the same";
        Leaving => WaitingForPermit, "the server exited while the member was leaving; it must not start before the other members have been asked";
        NotJoined => WaitingForPermit, "the member has not joined the ring and waits for a permit";
        PermitRefused { why: String } => WaitingForPermit, "the permit was refused: {why}";
        RetiringRefused { why: String } => RetainedVolumeInTheWay, "the permit was refused: {why}";
        BeingRemoved { host_id: HostId } => WaitingForPermit, "another member removes host ID {host_id} of this volume from the ring; no server starts on it meanwhile";
        NotReleased { revision: String, released: Names } => WaitingForRevision, "this pod has revision {revision}, which is not released to start yet; released: {released}";
    }

    /// What forbids every start.
    pub enum Forbidden {
        Terminated => StoppedByIntent, "the member's spec says that its server is stopped permanently";
        Banned => StoppedByIntent, "the server was stopped permanently; no server starts on this data again";
        Left => Decommissioned, "the member has left the ring; its server never starts on this data again";
        BySpec => StoppedByIntent, "the spec says `run: Stopped`";
        WithContainer => StoppedByIntent, "the container is shutting down";
    }
}
