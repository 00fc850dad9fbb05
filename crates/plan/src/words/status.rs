//! Conditions of a clustered service.

use super::Names;
use super::members::Server;
use super::turn::Work;
use crate::workload::words::MemberPod;
use palladion_api::ids::MemberName;

palladion_api::sentences! {
    /// The spec was understood.
    pub enum Accepted {
        Valid => Valid, "the spec is valid";
    }

    /// How many members are ready.
    pub enum Available {
        Quorum { ready: usize, size: usize } => Running, "{ready} of {size} members are ready";
        NoQuorum { ready: usize, size: usize } => QuorumLost,
            "{ready} of {size} members are ready, which is no majority";
    }

    /// Nothing is being changed.
    pub enum Rest {
        AllReady => UpToDate, "all members are ready";
    }

    /// Members are on their way.
    pub enum Starting {
        Member { member: MemberName, pod: MemberPod, server: Server } => MembersDown,
            "member {member}: {pod}; {server}";
        NoMember => MembersDown, "members are being created";
    }

    /// Nothing needs a person.
    pub enum Fine {
        Nothing => UpToDate, "no action is needed";
    }

    /// A step failed.
    pub enum Failed {
        Foreign { doing: String, answer: String } => ForeignObject, "could not {doing}: {answer}";
        Other { doing: String, answer: String } => ErrSyncFailed, "could not {doing}: {answer}";
    }

    /// A refused spec keeps more from going on than what it changes.
    pub enum Held {
        Turn { member: MemberName, work: Work } => "the {work} of member {member} stands still until the spec is accepted";
    }

    /// More than one thing needs a person.
    pub enum Several {
        Also { before: String, also: String } => "{before}. Also: {also}";
    }

    /// In the place of a version.
    pub enum AgentVersion {
        NotReported => "of unknown version";
    }

    /// A member's pod, volume or server is in trouble.
    pub enum Trouble {
        Unschedulable { member: MemberName, message: String } => Unschedulable,
            "the pod of member {member} cannot be scheduled: {message}";
        ImagePull { member: MemberName, reason: String, message: String } => ImagePullFailed,
            "the pod of member {member} is failing: {reason}: {message}";
        OutOfMemory { member: MemberName, reason: String, message: String } => NotEnoughMemory,
            "the pod of member {member} is failing: {reason}: {message}";
        PodFailing { member: MemberName, reason: String, message: String } => PodFailing,
            "the pod of member {member} is failing: {reason}: {message}";
        NodeNotReady { member: MemberName, node: String } => NodeUnreachable,
            "member {member} is on Node {node}, which is not ready";
        VolumeLost { member: MemberName, message: String } => VolumeLost, "member {member}: {message}";
        VolumeRolledBack { member: MemberName, message: String } => VolumeRolledBack,
            "member {member}: {message}";
        VolumeNotMounted { member: MemberName, message: String } => VolumeNotMounted,
            "member {member}: {message}";
        VolumeForeign { member: MemberName, message: String } => VolumeForeign,
            "member {member}: {message}";
        ServerFailed { member: MemberName, server: Server } => ServerFailed, "member {member}: {server}";
        NotKnown { member: MemberName, fields: Names, agent: String } => FactUnknown,
            "ServiceMember {member} (agent {agent}) has values in {fields} that this operator does not support; a newer version of Palladion wrote them: upgrade the operator to that version";
    }

    /// Paused, and where.
    pub enum Paused {
        Everywhere => Paused,
            "OperatorConfig default has `paused: true`; the operator updates only the status of clusters";
        Here => Paused,
            "`spec.paused` is true; the operator updates only the status of this cluster";
    }

    /// Not paused.
    pub enum Running {
        NotPaused => UpToDate, "not paused";
    }
}
