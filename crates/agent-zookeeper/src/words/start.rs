//! Why no server is started.

use palladion_api::ids::{StaticAddress, VolumeId};
use palladion_api::member::Word;
use palladion_api::words::Names;
use palladion_api::zookeeper::{ServerId, Zxid};

palladion_api::sentences! {
    /// What a start waits for.
    pub enum Waiting {
        ProcessUnknown { why: String } => FactUnknown, "cannot determine whether the server is running: {why}";
        VolumeUnreadable { why: String } => VolumeForeign, "cannot determine the state of the volume: {why}";
        NoSpec => WaitingForMember, "the agent has not read its ServiceMember yet";
        NoAddress => WaitingForMember, "the member has no address yet";
        NoServerId => WaitingForMember, "the member has no server ID yet";
        NotOnRecord { volume: VolumeId } => VolumeForeign, "the agent does not start the server: volume {volume} holds the data of a server that has joined an ensemble, and its ServiceMember does not name that volume";
        PermitNotLive => WaitingForMember, "the agent cannot use the start permit until it has read its ServiceMember from the API server";
        OtherVolume { recorded: VolumeId, found: VolumeId } => StaleTwin, "the agent does not start the server: the data of this member is on volume {recorded}, but this is volume {found}";
        OtherServerId { recorded: ServerId, found: ServerId } => StaleTwin, "the agent does not start the server: this member has server ID {recorded}, but the volume holds the data of server {found}";
        Missing { id: ServerId, version: Zxid } => NotInEnsemble, "the agent does not start the server: the configuration with version {version} does not contain server {id}, so others are the ensemble now";
        OtherAddress { before: StaticAddress, now: StaticAddress } => AddressChanged, "the member's address changed from {before} to {now}, but the other servers know it by the first; create the Service of the member again with that ClusterIP, or replace the member";
        DataLost => VolumeLost, "data of this member is gone; its server would vote without what it has acknowledged, so the member is replaced";
        NotJoined => WaitingForPermit, "the member has not joined the ensemble yet and is waiting for a permit to start";
        PermitRefused { why: String } => WaitingForPermit, "the agent refused the start permit: {why}";
        UnknownRun { run: Word, version: &'static str } => WaitingForMember, "the spec sets `run: {run}`, which this agent (version {version}) does not support, so it does not start the server; a rollout upgrades the agent";
        NotReleased { revision: String, released: Names } => WaitingForRevision, "this pod has revision {revision}, which is not allowed to start yet; allowed revisions: {released}";
    }

    /// What forbids every start.
    pub enum Forbidden {
        Terminated => StoppedByIntent, "the spec sets `run: Terminated`, so no server will start on this data again";
        Banned => StoppedByIntent, "the server was stopped permanently; no server will start on this data again";
        Left => Decommissioned, "the member has left the ensemble; no server will start on this data again";
        MarkedAsLost { volume: VolumeId } => VolumeLost, "volume {volume} is marked as lost, so no server will start on it again";
        BySpec => StoppedByIntent, "the spec sets `run: Stopped`";
        WithContainer => StoppedByIntent, "the container is shutting down";
    }
}
