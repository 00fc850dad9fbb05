//! What other members are asked before a step, what in their answers forbids
//! it, what is proven by them, and volumes that are marked for replacement.

use super::members::{Life, Part};
use jiff::Timestamp;
use palladion_api::ids::{HostId, MemberName, Nonce, PodUid, StaticAddress, Uid};
use palladion_plan::words::{Count, Names};

palladion_plan::sentences! {
    /// Answers that are waited for: under the reason that the step has when they
    /// forbid it, so that both are one wait, whose time goes on while asking
    /// and refusal take turns.
    pub enum Waiting {
        NobodyUp { member: MemberName } => WaitingForRing,
            "member {member} cannot join yet: no member of the ring is up";
        Join { member: MemberName, from: Names } => WaitingForRing,
            "member {member} cannot join yet: waiting for {from} to report the state of the ring";
        Leave { member: MemberName, from: Names } => WaitingForRing,
            "member {member} cannot leave yet: waiting for {from} to report the state of the ring";
        Restart { member: MemberName, from: Names } => RollingOut,
            "member {member} cannot restart yet: waiting for {from} to report the state of the ring";
        Replace { member: MemberName, from: Names } => MemberReplacing,
            "member {member} cannot be replaced yet: waiting for {from} to confirm that {member} is dead";
        Remove { member: MemberName, from: Names } => MemberLeaving,
            "member {member} cannot be removed yet: waiting for {from} to confirm that {member} is dead";
        HasLeft { member: MemberName, from: Names } => WaitingForEvidence,
            "member {member} reports that it has left; waiting for {from} to confirm this";
        WasRemoved { member: MemberName, from: Names } => MemberLeaving,
            "member {member} was removed from the ring; waiting for {from} to confirm this";
        Interrupted { member: MemberName, from: Names } => WaitingForEvidence,
            "the server of member {member} exited while the member was leaving; waiting for {from} to report whether {member} has left";
    }

    /// A step that an answer forbids; the question is put again.
    pub enum Forbidden {
        Join { member: MemberName, why: Objection } => WaitingForRing,
            "member {member} cannot join yet: {why}";
        Leave { member: MemberName, why: Objection } => WaitingForRing,
            "member {member} cannot leave yet: {why}";
        Restart { member: MemberName, why: Objection } => RollingOut,
            "member {member} cannot restart yet: {why}";
        Replace { member: MemberName, why: Objection } => MemberReplacing,
            "member {member} cannot be replaced yet: {why}";
        Remove { member: MemberName, why: Objection } => MemberLeaving,
            "member {member} cannot be removed yet: {why}";
        Removal { member: MemberName, why: Objection, reported: String } => MemberLeaving,
            "the removal of member {member} is not confirmed yet: {why}; the member carrying it out reports: {reported}";
        HasLeft { member: MemberName, why: Objection } => WaitingForEvidence,
            "member {member} reports that it has left, but this is not confirmed: {why}";
        Interrupted { member: MemberName, why: Objection } => WaitingForEvidence,
            "cannot tell whether member {member} has left (its server exited while it was leaving): {why}";
    }

    /// Why a step may not be taken, as far as the ring goes.
    pub enum Objection {
        NotNormal { member: MemberName } => "member {member} is not up and normal";
        NotReported { member: MemberName } =>
            "member {member} has not reported its view of the ring yet";
        StateNotKnown { member: MemberName } =>
            "the volume or the server of member {member} is in a state that this operator does not know; upgrade the operator to the version of the agent";
        Unread { witness: MemberName } => "member {witness} could not read the state of the ring from its server";
        Schemas { witness: MemberName } => "member {witness} sees more than one schema version";
        Sees { witness: MemberName, address: StaticAddress, life: Life, part: Part } =>
            "member {witness} sees {address} as {life} and {part}";
        SeesHost {
            witness: MemberName,
            address: StaticAddress,
            host_id: HostId,
            life: Life,
            part: Part,
        } => "member {witness} sees {address} ({host_id}) as {life} and {part}";
        Unseen { witness: MemberName, host_id: HostId } =>
            "member {witness} does not see host ID {host_id}";
        SeesOnly { witness: MemberName, sees: u32, recorded: usize } =>
            "member {witness} sees {sees} members in the ring, but {recorded} are recorded";
        SeesItUp { witness: MemberName } => "member {witness} sees it as up";
        StillUp { witness: MemberName } => "member {witness} still sees it as up";
        StillKnown { witness: MemberName, host_id: HostId } =>
            "member {witness} still sees host ID {host_id} in the ring";
        NotKnown { witness: MemberName, host_id: HostId } =>
            "member {witness} does not see host ID {host_id} in the ring";
        TooOld { asked: Timestamp } =>
            "the reports of the other members are out of date: they were requested at {asked}";
        TooFew { asked: usize, others: Count } =>
            "only {asked} of {others} can report on the ring, which is not a majority";
        TooFewLeft { asked: usize, others: Count } =>
            "only {asked} of {others} can report on the ring; if the rest are also permanently lost, create a CassandraTask with `replace.volumeID` for each lost member";
        OnlyMember =>
            "it was the only member of the ring, and its data is gone; restore a backup into a new ring, or delete and recreate the CassandraCluster";
        NotLost => "its volume is no longer lost or marked for replacement";
    }

    /// Why it is not clear whose data a volume holds.
    pub enum NotClear {
        NoRing => "there is no ring yet";
        OtherTurn { member: MemberName } => "it is currently member {member}'s turn to change the ring";
        Ring { why: Objection } => "{why}";
    }

    /// Why nothing is lost when a pod ends.
    pub enum Idle {
        Unschedulable { message: String } => "it cannot be scheduled: {message}";
        Failing { reason: String, message: String } => "{reason}: {message}";
        Server { server: super::members::Server } => "{server}";
    }

    /// What is proven, for records and logs.
    pub enum Proven {
        Well { nonce: Nonce, members: Count, witnesses: Names } =>
            "nonce {nonce}: the whole ring ({members}) is up and normal according to {witnesses}";
        Dead { nonce: Nonce, host_id: HostId, witnesses: Names } =>
            "nonce {nonce}: host ID {host_id} is down according to {witnesses}";
        Gone { nonce: Nonce, host_id: HostId, witnesses: Names } =>
            "nonce {nonce}: host ID {host_id} is gone according to {witnesses}";
        Down { nonce: Nonce, host_id: HostId, witnesses: Names } =>
            "nonce {nonce}: host ID {host_id} belongs to a member that is down according to {witnesses}";
        Quiet { members: Count } => "each member reports itself up and normal ({members})";
        JoinedUnnoticed { host_id: HostId, ring: String } =>
            "it is already a member with host ID {host_id} and is down; {ring}";
        OnRecord { recorded: String, proven: String } => "{recorded}; {proven}";
        Idle { pod: PodUid, revision: String, why: Idle } =>
            "pod {pod} of revision {revision} is not serving: {why}";
        Exited => "its server exited on its own";
        FirstMember => "first member of a new ring; every volume was reported empty";
        HasLeft { said: String } => "the member has left: {said}";
        Vacant { set: String, ordinal: i32 } =>
            "StatefulSet {set} has no member with ordinal {ordinal} or higher";
        StopRequested => "`spec.run` is Stopped";
        ClusterDeleted { uid: Uid } =>
            "`deletionPolicy` is Delete and cluster {uid} is being deleted";
        NothingOnNode { member: MemberName, node: String } =>
            "the volume holds no ring data: member {member} has no host ID, no member knows its address, and its Node {node} is gone";
        NeverJoined =>
            "the member never joined, its server is not running, and every member known to the ring is accounted for";
    }

    /// Why a volume is marked for replacement.
    pub enum Marked {
        NodeGone { node: String, since: Timestamp } =>
            "its Node {node} has been gone since {since}";
        ByLabel { label: &'static str } => "a user requested it with the label {label}";
        ByTask { task: String } => "requested by task {task}";
        VolumeNamed { marked: String, task: String } => "{marked}; task {task} names the volume";
        Removed { host_id: HostId } => "host ID {host_id}, whose data it holds, was removed from the ring";
    }

    /// Why a volume is no longer marked for replacement.
    pub enum Unmarked {
        Replaced => "it was replaced";
        UpAgain => "it is up and normal again";
        NodeBack => "its Node is back";
        TaskAborted => "the task was aborted";
    }

    /// Events.
    pub enum Happened {
        Marked { member: MemberName, why: Marked } => Synced,
            "The volume of member {member} is marked for replacement: {why}";
    }

    /// Steps.
    pub enum Doing {
        Ask { witness: MemberName } => "ask member {witness} for its view of the ring";
        Mark { member: MemberName } => "mark the volume of member {member} for replacement";
        Unmark { member: MemberName, why: Unmarked } =>
            "clear the replacement mark on the volume of member {member}: {why}";
    }
}
