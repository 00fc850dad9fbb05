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
            "member {member} waits to join: no member of the ring is up";
        Join { member: MemberName, from: Names } => WaitingForRing,
            "member {member} waits to join: waiting for {from} to report their view of the ring";
        Leave { member: MemberName, from: Names } => WaitingForRing,
            "member {member} waits to leave: waiting for {from} to report their view of the ring";
        Restart { member: MemberName, from: Names } => RollingOut,
            "member {member} waits for its restart: waiting for {from} to report their view of the ring";
        Replace { member: MemberName, from: Names } => MemberReplacing,
            "member {member} waits to be replaced: waiting for {from} to confirm that it is dead";
        Remove { member: MemberName, from: Names } => MemberLeaving,
            "member {member} waits to be removed: waiting for {from} to confirm that it is dead";
        HasLeft { member: MemberName, from: Names } => WaitingForEvidence,
            "member {member} has left; waiting for {from} to confirm it";
        WasRemoved { member: MemberName, from: Names } => MemberLeaving,
            "member {member} was removed; waiting for {from} to confirm it";
        Interrupted { member: MemberName, from: Names } => WaitingForEvidence,
            "the server of member {member} ended while it was leaving; waiting for {from} to report whether it has left";
    }

    /// A step that an answer forbids; the question is put again.
    pub enum Forbidden {
        Join { member: MemberName, why: Objection } => WaitingForRing,
            "member {member} waits to join: {why}";
        Leave { member: MemberName, why: Objection } => WaitingForRing,
            "member {member} waits to leave: {why}";
        Restart { member: MemberName, why: Objection } => RollingOut,
            "member {member} waits for its restart: {why}";
        Replace { member: MemberName, why: Objection } => MemberReplacing,
            "member {member} waits to be replaced: {why}";
        Remove { member: MemberName, why: Objection } => MemberLeaving,
            "member {member} waits to be removed: {why}";
        Removal { member: MemberName, why: Objection, reported: String } => MemberLeaving,
            "member {member} waits to be removed: {why}; the member that removes it reported: {reported}";
        HasLeft { member: MemberName, why: Objection } => WaitingForEvidence,
            "member {member} reported that it has left, which is not confirmed: {why}";
        Interrupted { member: MemberName, why: Objection } => WaitingForEvidence,
            "the server of member {member} ended while it was leaving: {why}";
    }

    /// Why a step may not be taken, as far as the ring goes.
    pub enum Objection {
        NotNormal { member: MemberName } => "member {member} is not up and normal";
        NotReported { member: MemberName } =>
            "member {member} has not reported its view of the ring yet";
        Unread { witness: MemberName } => "member {witness} could not read its ring";
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
        SeesOnly { witness: MemberName, sees: u32, members: Count } =>
            "member {witness} sees {sees} of {members}";
        SeesItUp { witness: MemberName } => "member {witness} sees it up";
        StillUp { witness: MemberName } => "member {witness} still sees it up";
        StillKnown { witness: MemberName, host_id: HostId } =>
            "member {witness} still knows host ID {host_id}";
        NotKnown { witness: MemberName, host_id: HostId } =>
            "member {witness} does not know host ID {host_id}";
        TooOld { asked: Timestamp } =>
            "the answers are too old: they were asked for at {asked}";
        TooFew { asked: usize, others: Count } => "only {asked} of {others} can be asked";
        TooFewLeft { asked: usize, others: Count } =>
            "only {asked} of {others} can be asked; if the rest is lost for good too, create a CassandraTask for each that names its volume";
        OnlyMember =>
            "it was the only member of the ring, and its data is gone; restore a backup into a new ring, or delete and recreate the CassandraCluster";
        NotLost => "its data is no longer reported as lost";
    }

    /// Why it is not clear whose data a volume holds.
    pub enum NotClear {
        NoRing => "there is no ring yet";
        OtherTurn { member: MemberName } => "member {member} has the turn";
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
            "nonce {nonce}: {members}, all up and normal according to {witnesses}";
        Dead { nonce: Nonce, host_id: HostId, witnesses: Names } =>
            "nonce {nonce}: host ID {host_id} is down according to {witnesses}";
        Gone { nonce: Nonce, host_id: HostId, witnesses: Names } =>
            "nonce {nonce}: host ID {host_id} is gone according to {witnesses}";
        Down { nonce: Nonce, host_id: HostId, witnesses: Names } =>
            "nonce {nonce}: host ID {host_id} is a member and down according to {witnesses}";
        JoinedUnnoticed { host_id: HostId, ring: String } =>
            "it already is a member with host ID {host_id}, and down; {ring}";
        OnRecord { recorded: String, proven: String } => "{recorded}; {proven}";
        Idle { pod: PodUid, revision: String, why: Idle } =>
            "pod {pod} of revision {revision} is not serving: {why}";
        Exited => "its server has exited by itself";
        FirstMember => "first member of a new ring; every volume was reported empty";
        HasLeft { said: String } => "the member has left: {said}";
        Vacant { set: String, ordinal: i32 } =>
            "StatefulSet {set} has no member with ordinal {ordinal} or higher";
        StopRequested => "`spec.run` is Stopped";
        ClusterDeleted { uid: Uid } =>
            "deletionPolicy is Delete and the cluster {uid} is being deleted";
        NothingOnNode { member: MemberName, node: String } =>
            "the volume holds no data of the ring: member {member} has no host ID and no member knows its address; its Node {node} is gone";
        NeverJoined =>
            "the member never joined, its server does not run, and all members that the ring knows are accounted for";
    }

    /// Why a volume is marked for replacement.
    pub enum Marked {
        NodeGone { node: String, since: Timestamp } =>
            "Node {node} with its volume has been gone since {since}";
        ByLabel { label: &'static str } => "a user requested it with the label {label}";
        ByTask { task: String } => "requested by task {task}";
        VolumeNamed { marked: String, task: String } => "{marked}; task {task} names the volume";
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
            "cancel the replacement of member {member}: {why}";
    }
}
