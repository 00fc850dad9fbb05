//! Conditions of a cluster, and what keeps anything from being decided.

use super::members::Server;
use palladion_api::ids::{MemberName, StaticAddress};
use palladion_plan::words::Names;
use palladion_plan::workload::words::MemberPod;

palladion_plan::sentences! {
    /// The spec was understood.
    pub enum Accepted {
        Valid => Valid, "the spec is valid";
    }

    /// How many members of the ring are ready.
    pub enum Available {
        Quorum { ready: usize, size: usize } => Running, "{ready} of {size} members are ready";
        NoQuorum { ready: usize, size: usize } => MembersDown,
            "{ready} of {size} members are ready";
        QuorumTogether { ready: usize, size: usize, together: usize } => Running,
            "{ready} of {size} members are ready, but at most {together} of them, still a quorum, see each other as up";
        NoQuorumTogether { ready: usize, size: usize, together: usize } => MembersDisagree,
            "{ready} of {size} members are ready, but fewer than a quorum of them see each other as up";
    }

    /// Nothing is being changed.
    pub enum Rest {
        AllReady => UpToDate, "all members are ready";
        AllReadyUnused { claims: Names, namespace: String, first: String } => UpToDate,
            "all members are ready; no member uses these PersistentVolumeClaims: {claims}; if nobody needs their data, delete them (`kubectl delete pvc -n {namespace} {first}`)";
        MembersStopped { members: Names } => StoppedByIntent,
            "all other members are ready; stopped, as a user requested: {members}";
        Stopped => Stopped,
            "`spec.run` is Stopped: there are no pods; volumes, members and addresses are kept";
    }

    /// Condition `MemberLeaving` of a rack.
    pub enum Leaving {
        Member { member: MemberName } => MemberLeaving, "member {member} is leaving the ring";
        Nobody => UpToDate, "no member of this rack is leaving the ring";
    }

    /// Condition `MemberReplacing` of a rack.
    pub enum Replacing {
        Member { member: MemberName } => MemberReplacing, "member {member} is being replaced";
        Nobody => UpToDate, "no member of this rack is being replaced";
    }

    /// Members are on their way.
    pub enum Starting {
        Member { member: MemberName, pod: MemberPod, server: Server } => MembersDown,
            "member {member}: {pod}; {server}";
        Unreported { member: MemberName, pod: MemberPod } => MembersDown, "member {member}: {pod}";
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
        AddressTaken {
            member: MemberName,
            address: StaticAddress,
            namespace: String,
            cluster: String,
            annotation: &'static str,
            answer: String,
        } => AddressTaken,
            "another Service has the recorded address {address} of member {member}, or it is outside of the range, and the member does not start without it; to let the member take another address, run `kubectl annotate -n {namespace} cassandracluster {cluster} --overwrite {annotation}={address}`: {answer}";
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
        VolumeLost { member: MemberName, message: String } => VolumeLost,
            "member {member}: {message}";
        VolumeNotMounted { member: MemberName, message: String } => VolumeNotMounted,
            "member {member}: {message}";
        VolumeForeign { member: MemberName, message: String } => VolumeForeign,
            "member {member}: {message}";
        VolumeDamaged { member: MemberName, message: String } => VolumeDamaged,
            "member {member}: {message}";
        NotKnown { member: MemberName, fields: Names, agent: String } => FactUnknown,
            "CassandraMember {member} (agent {agent}) has values in {fields} that this operator does not support; a newer version of Palladion wrote them: upgrade the operator to that version";
        Stalled { member: MemberName, message: String } => NoProgress,
            "member {member}: {message}";
        LeftByHand { member: MemberName, label: &'static str } => LeftByHand,
            "member {member} has left the ring, but the operator did not request it; the operator makes no other change to the ring until the member is replaced (`kubectl label cassandramember {member} {label}=`) or `members` of its rack is lowered";
        DataTooOld { member: MemberName, message: String } => DataTooOld,
            "member {member}: {message}";
        RetainedVolume { member: MemberName, message: String } => RetainedVolumeInTheWay,
            "member {member}: {message}";
        Banned { member: MemberName, message: String } => MemberTerminated,
            "member {member}: {message}";
        Terminated { members: Names } => MemberTerminated,
            "terminated for good, as a user requested: {members}; replace them with `kubectl palladion replace`; until then, no other member joins, leaves or is restarted";
        Stopped { members: Names } => StoppedByIntent,
            "stopped, as a user requested: {members}; until they run again, no other member joins, leaves or is restarted";
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

    /// Why nothing is decided.
    pub enum Unknown {
        Kind { kind: &'static str, why: String } => FactUnknown, "cannot read {kind}: {why}";
        Fact { why: String } => FactUnknown, "{why}";
        NoSpec => FactUnknown, "the CassandraCluster has no spec";
    }
}

impl From<String> for Unknown {
    /// As whoever could not read it says.
    fn from(why: String) -> Self {
        Unknown::Fact { why }
    }
}
