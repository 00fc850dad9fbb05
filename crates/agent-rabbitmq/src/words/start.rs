//! Why no node is started.

use super::server::Named;
use palladion_api::ids::VolumeId;
use palladion_api::member::Word;
use palladion_api::rabbitmq::NodeName;
use palladion_api::words::Names;

palladion_api::sentences! {
    /// What a start waits for.
    pub enum Waiting {
        ProcessUnknown { why: String } => FactUnknown, "cannot determine whether the node is running: {why}";
        VolumeUnreadable { why: String } => VolumeForeign, "cannot determine the state of the volume: {why}";
        NoSpec => WaitingForMember, "the agent has not read its ServiceMember yet";
        NoAddress => WaitingForMember, "the member has no address yet";
        NoNodeName => WaitingForMember, "the member has no node name yet";
        PermitNotLive => WaitingForMember, "the agent cannot use the start permit until it has read its ServiceMember from the API server";
        OtherVolume { recorded: VolumeId, found: VolumeId } => StaleTwin, "the agent does not start the node: the data of this member is on volume {recorded}, but this is volume {found}";
        OtherNodeName { recorded: NodeName, found: NodeName } => StaleTwin, "the agent does not start the node: this member has node name {recorded}, but the volume holds the data of {found}";
        NotOnRecord { volume: VolumeId } => VolumeForeign, "the agent does not start the node: volume {volume} holds the data of a node that has joined a cluster, and its ServiceMember does not name that volume";
        DataLost => VolumeLost, "data of this member is gone; its replicas would vote without what they have confirmed, so the member is replaced";
        NotJoined => WaitingForPermit, "the member has not joined the cluster yet and is waiting for a permit to start";
        PermitRefused { why: String } => WaitingForPermit, "the agent refused the start permit: {why}";
        UnknownRun { run: Word, version: &'static str } => WaitingForMember, "the spec sets `run: {run}`, which this agent (version {version}) does not support, so it does not start the node; a rollout upgrades the agent";
        NotReleased { revision: String, released: Names } => WaitingForRevision, "this pod has revision {revision}, which is not allowed to start yet; allowed revisions: {released}";
        NoCookie => CredentialsMissing, "neither the volume nor the Secret with the credentials has an Erlang cookie; restore the Secret";
        NoPassword => CredentialsMissing, "the Secret with the credentials lacks `agent-password`, `username` or `password`; restore the Secret";
        Name { named: Named } => NameUnresolved, "the agent does not start the node: {named}";
        NameNotKnown => Starting, "the agent is resolving the name of the node";
        AppStopped => StoppedByIntent, "the application of the node was stopped by the intent `StopApp`, which still stands, so the agent does not start the node";
        AppUnknown => WaitingForMember, "the application of the node was stopped by an intent `StopApp`; the agent does not start the node until it has read its ServiceMember from the API server";
    }

    /// What forbids every start.
    pub enum Forbidden {
        Terminated => StoppedByIntent, "the spec sets `run: Terminated`, so no node will start on this data again";
        Banned => StoppedByIntent, "the node was stopped permanently; no node will start on this data again";
        Left => Decommissioned, "the member has left the cluster; no node will start on this data again";
        MarkedAsLost { volume: VolumeId } => VolumeLost, "volume {volume} is marked as lost, so no node will start on it again";
        BySpec => StoppedByIntent, "the spec sets `run: Stopped`";
        WithContainer => StoppedByIntent, "the container is shutting down";
    }
}
