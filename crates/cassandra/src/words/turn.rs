//! The ring's one turn: its lock, permits, failed starts, a stop of the ring.

use super::evidence::Objection;
use jiff::Timestamp;
use palladion_api::cluster::TurnStep;
use palladion_api::ids::{HostId, MemberName};
use palladion_plan::words::Count;

palladion_plan::sentences! {
    /// What a stop of the ring waits for.
    pub enum Waiting {
        Unfinished { member: MemberName, work: Work } => Stopping,
            "the ring will be stopped once the {work} of member {member} has finished";
        Draining { members: Count } => Stopping, "waiting for {members} to drain and stop";
    }

    /// Events.
    pub enum Happened {
        Permitted { member: MemberName, purpose: Purpose } => Synced,
            "Member {member} is permitted to {purpose}";
        Joined { member: MemberName, host_id: HostId } => Synced,
            "Member {member} is now a full member of the ring with host ID {host_id}";
    }

    /// A start that failed, and what kind of failure it was.
    pub enum Problem {
        ConfigurationRefused { failed: FailedStart } => ConfigurationRefused, "{failed}";
        NotEnoughMemory { failed: FailedStart } => NotEnoughMemory, "{failed}";
        Other { failed: FailedStart } => ServerFailed, "{failed}";
    }

    /// What holds up the ring until a person acts.
    pub enum HeldUp {
        SilentMachine { member: MemberName, node: String, work: Work, since: Timestamp } => NodeUnreachable,
            "the {work} of member {member}, begun at {since}, has not ended, and Node {node} is not ready: the server may still be running there, so no other member joins, leaves or is restarted; bring the machine back or, if it is off for good, delete the Node (`kubectl delete node {node}`)";
        Asked { member: MemberName, since: Timestamp } => AgentSilent,
            "the agent of member {member} has not answered since {since}, although its pod is running and its Node is ready; until it does, no member joins, leaves or is restarted; see `kubectl logs {member}`, and check that NetworkPolicies let the pod reach the API server and that its ServiceAccount has its token and its rights";
        Unreported { member: MemberName, since: Timestamp } => AgentSilent,
            "the agent of member {member} has reported nothing since its pod started at {since}; until it does, nobody knows whether its server is running; see `kubectl logs {member}`, and check that NetworkPolicies let the pod reach the API server and that its ServiceAccount has its token and its rights";
    }

    /// A start that failed.
    pub enum FailedStart {
        Exited { member: MemberName, code: i32, message: LastMessage } =>
            "the server of member {member} has failed (exit code {code}): {message}";
        Unknown { member: MemberName, message: LastMessage } =>
            "the server of member {member} has failed: {message}";
        Refused { member: MemberName, message: String } => "member {member} cannot start: {message}";
    }

    /// What a server said last.
    pub enum LastMessage {
        Said { message: String } => "{message}";
        Nothing => "the server logged no message";
    }

    /// What the turn is for.
    pub enum Work {
        Initialize => "first start";
        Join => "join";
        Restart => "restart";
        Leave => "decommission";
        ResumeLeave => "resumed decommission";
        Replace => "replacement";
        Remove => "removal";
        Stop => "stop";
        Start => "start";
        Readdress => "change of address";
    }

    /// What a permit allows.
    pub enum Purpose {
        Initialize => "initialize the ring";
        Join => "join the ring";
        Replace { lost: HostId } => "start as the replacement of host ID {lost}";
        Restore => "start with the tokens of the backup";
        ResumeLeave => "start and complete its decommission";
        Readdress => "start under its new address";
    }

    /// Why a turn ends before its work is done.
    pub enum Ended {
        RingStops => "the ring is being stopped";
        MemberGone => "the member no longer exists";
        PodGone => "its pod is gone";
        Objection { why: Objection } => "{why}";
    }

    /// Steps.
    pub enum Doing {
        RaiseEpoch => "record the new leader epoch";
        TakeOver { member: MemberName } => "take over the turn of member {member}";
        End { member: MemberName, work: Work, why: String } =>
            "end the {work} of member {member}: {why}";
        Resume { member: MemberName, work: Work } => "resume the {work} of member {member}";
        Finish { member: MemberName, work: Work } => "finish the {work} of member {member}";
        Permit { member: MemberName, purpose: Purpose } => "permit member {member} to {purpose}";
        RenamePending { member: MemberName } =>
            "move the pending maintenance of member {member} to `spec.pendingMaintenance`";
        WithdrawPermit { member: MemberName } =>
            "withdraw the permit of member {member}: it has served its purpose";
        WithdrawUnused { member: MemberName } =>
            "withdraw the permit of member {member}, which it has not used: its turn is over";
        RecordFileSystem { member: MemberName } =>
            "record the file system of member {member} by its UUID";
        RecordIdentity { member: MemberName } =>
            "record the host ID and the volume ID of member {member}";
    }
}

impl From<TurnStep> for Work {
    fn from(step: TurnStep) -> Self {
        match step {
            TurnStep::Initialize => Work::Initialize,
            TurnStep::Join => Work::Join,
            TurnStep::Restart => Work::Restart,
            TurnStep::Leave => Work::Leave,
            TurnStep::ResumeLeave => Work::ResumeLeave,
            TurnStep::Replace => Work::Replace,
            TurnStep::Remove => Work::Remove,
            TurnStep::Stop => Work::Stop,
            TurnStep::Start => Work::Start,
            TurnStep::Readdress => Work::Readdress,
        }
    }
}
