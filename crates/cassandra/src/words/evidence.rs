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
            "member {member} cannot join yet: no member of the ring is up and normal";
        NobodyToAsk { member: MemberName } => WaitingForRing,
            "member {member} cannot leave yet: no member of the ring is up and normal";
        NeverJoined { member: MemberName, from: Names } => WaitingForRing,
            "member {member} cannot leave yet: waiting for {from} to report whether it ever joined";
        Join { member: MemberName, from: Names } => WaitingForRing,
            "member {member} cannot join yet: waiting for {from} to report the state of the ring";
        Leave { member: MemberName, from: Names } => WaitingForRing,
            "member {member} cannot leave yet: waiting for {from} to report the state of the ring";
        Restart { member: MemberName, from: Names } => RollingOut,
            "member {member} cannot restart yet: waiting for {from} to report the state of the ring";
        Stop { member: MemberName, from: Names } => MemberStopping,
            "member {member} cannot be stopped yet: waiting for {from} to report the state of the ring";
        Replace { member: MemberName, from: Names } => MemberReplacing,
            "member {member} cannot be replaced yet: waiting for {from} to confirm that {member} is down";
        Remove { member: MemberName, from: Names } => MemberLeaving,
            "member {member} cannot be removed from the ring yet: waiting for {from} to confirm that {member} is down";
        Readdress { member: MemberName, from: Names } => AddressChanged,
            "member {member} cannot start under its new address yet: waiting for {from} to confirm that {member} is down";
        HasLeft { member: MemberName, from: Names } => WaitingForEvidence,
            "waiting for {from} to confirm that member {member} has left the ring";
        WasRemoved { member: MemberName, from: Names } => MemberLeaving,
            "waiting for {from} to report whether member {member} has been removed from the ring";
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
        Stop { member: MemberName, why: Objection } => MemberStopping,
            "member {member} cannot be stopped yet: {why}; to stop it anyway, set `spec.wanted.when` of its CassandraMember to Now";
        Replace { member: MemberName, why: Objection } => MemberReplacing,
            "member {member} cannot be replaced yet: {why}";
        Remove { member: MemberName, why: Objection } => MemberLeaving,
            "member {member} cannot be removed from the ring yet: {why}";
        Readdress { member: MemberName, why: Objection } => AddressChanged,
            "member {member} cannot start under its new address yet: {why}";
        Unconfirmed { member: MemberName, why: Objection } => MemberLeaving,
            "the removal of member {member} is not confirmed yet: {why}";
        Removal { member: MemberName, why: Objection, reported: String } => MemberLeaving,
            "the removal of member {member} is not confirmed yet: {why}; the member carrying it out reports: {reported}";
        HasLeft { member: MemberName, why: Objection } => WaitingForEvidence,
            "it is not confirmed yet that member {member} has left the ring: {why}";
        Interrupted { member: MemberName, why: Objection } => WaitingForEvidence,
            "it is not known yet whether member {member} has left the ring (its server exited while it was leaving): {why}";
    }

    /// Why a step may not be taken, as far as the ring goes.
    pub enum Objection {
        NotNormal { member: MemberName } => "member {member} is not up and normal";
        Terminated { member: MemberName } =>
            "member {member} was terminated for good, as a user requested, and waits to be replaced";
        Stopped { member: MemberName } => "member {member} is stopped, as a user requested";
        NotReported { member: MemberName } =>
            "member {member} has not reported the state of the ring";
        Silent { member: MemberName, since: Timestamp } =>
            "the agent of member {member} has not answered since {since}";
        ClosedToClients { member: MemberName } =>
            "the native transport of member {member} is off; run `nodetool enablebinary` there, or restart it";
        StateNotKnown { member: MemberName } =>
            "the volume or the server of member {member} is in a state that this operator does not know; upgrade the operator to the version of the agent";
        Unread { witness: MemberName } =>
            "the agent of member {witness} could not read the state of the ring from its server";
        Schemas { witness: MemberName } => "member {witness} sees more than one schema version";
        Sees { witness: MemberName, address: StaticAddress, life: Life, part: Part } =>
            "member {witness} sees {address} as {life} and {part}";
        SeesHost {
            witness: MemberName,
            address: StaticAddress,
            host_id: HostId,
            life: Life,
            part: Part,
        } => "member {witness} sees {address} (host ID {host_id}) as {life} and {part}";
        Stranger { witness: MemberName, address: StaticAddress, host_id: HostId, member: MemberName } =>
            "member {witness} sees host ID {host_id} ({address}) in the ring, which no CassandraMember has; it may be member {member}";
        SameAddress { witness: MemberName, address: StaticAddress, host_id: HostId, member: MemberName } =>
            "member {witness} sees host ID {host_id} in the ring at {address}, the address of member {member}";
        Unseen { witness: MemberName, host_id: HostId } =>
            "member {witness} does not see host ID {host_id} in the ring";
        SeesOnly { witness: MemberName, members: Count, recorded: usize } =>
            "member {witness} sees {members} in the ring, but the operator has recorded {recorded}";
        Unplaced { witness: MemberName, members: Count, recorded: usize, agent: String } =>
            "member {witness} sees {members} in the ring, but the operator has recorded {recorded}, and its agent (version {agent}) does not say which of them are in another datacenter; to roll out a newer agent, change `spec.sidecarImage` if it is set, or otherwise an annotation in `spec.annotations`";
        SeesElsewhere {
            witness: MemberName,
            address: StaticAddress,
            datacenter: String,
            life: Life,
            part: Part,
        } => "member {witness} sees {address} of datacenter {datacenter} as {life} and {part}";
        ElsewhereDiffers { witness: MemberName, other: MemberName } =>
            "members {witness} and {other} do not see the same members of other datacenters";
        RegionDown { witness: MemberName, datacenter: String } =>
            "member {witness} sees all members of datacenter {datacenter} down";
        MoreDownElsewhere { members: Count, addresses: Names } =>
            "{members} of other datacenters are down ({addresses}); with one more of ours, data may lose its quorum";
        SeesItUp { witness: MemberName, member: MemberName } =>
            "member {witness} does not see member {member} as down";
        StillUp { witness: MemberName, member: MemberName } =>
            "member {witness} still sees member {member} as up and normal";
        StillKnown { witness: MemberName, host_id: HostId } =>
            "member {witness} still sees host ID {host_id} in the ring";
        NotKnown { witness: MemberName, host_id: HostId } =>
            "member {witness} does not see host ID {host_id} in the ring";
        AddressOfAnother { witness: MemberName, address: StaticAddress, host_id: HostId } =>
            "member {witness} knows host ID {host_id} under address {address}";
        TooOld { asked: Timestamp } =>
            "the reports on the ring requested at {asked} are no longer valid";
        TooFew { asked: usize, others: usize } =>
            "a majority of the other members must report the state of the ring, but only {asked} of {others} can";
        TooFewLeft { asked: usize, others: usize } =>
            "a majority of the other members must report the state of the ring, but only {asked} of {others} can; if the rest are permanently lost as well, create a CassandraTask with `spec.replace.volumeID` for each lost member";
        OneAlone { witness: MemberName, member: MemberName } =>
            "member {witness} is the only other member of the ring, and cannot tell a lost member from one that it does not reach; if the volume of member {member} is permanently lost, create a CassandraTask with `spec.replace.volumeID`";
        Serves { member: MemberName } =>
            "the agent of member {member} reports that its server is up and normal, so the member is only cut off from the others";
        OnlyMember =>
            "no other member of the ring is left to stream its data; restore a backup into a new ring, or delete and recreate the CassandraCluster";
        NotLost => "its volume is no longer lost or marked for replacement";
        NoReason =>
            "its volume is not lost or marked for replacement, and its decommission is not interrupted";
    }

    /// Why it is not clear whose data a volume holds.
    pub enum NotClear {
        NoRing => "the ring has not been initialized";
        OtherTurn { member: MemberName } => "another change to the ring is in progress (member {member})";
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
            "nonce {nonce}: every member of the ring ({members}) that this step requires is up and normal according to {witnesses}";
        Dead { nonce: Nonce, host_id: HostId, witnesses: Names } =>
            "nonce {nonce}: host ID {host_id} is down according to {witnesses}";
        Gone { nonce: Nonce, host_id: HostId, witnesses: Names } =>
            "nonce {nonce}: host ID {host_id} is no longer in the ring according to {witnesses}";
        Down { nonce: Nonce, host_id: HostId, witnesses: Names } =>
            "nonce {nonce}: host ID {host_id} is still in the ring, and is down, according to {witnesses}";
        Moved { nonce: Nonce, host_id: HostId, address: StaticAddress, witnesses: Names } =>
            "nonce {nonce}: host ID {host_id} is in the ring, and is down, and nobody has address {address}, according to {witnesses}";
        AddressGivenUp { address: StaticAddress, annotation: &'static str } =>
            "a user gave up address {address} with the annotation {annotation}, and no server of the ring is running";
        Quiet { members: Count } =>
            "every member reports that the whole ring is up and normal ({members})";
        JoinedUnnoticed { host_id: HostId, ring: String } =>
            "it is already a full member of the ring with host ID {host_id}, and is down; {ring}";
        OnRecord { recorded: String, proven: String } => "{recorded}; {proven}";
        Idle { pod: PodUid, revision: String, why: Idle } =>
            "the pod with UID {pod} (revision {revision}) is not serving: {why}";
        Exited => "its server exited on its own";
        Drained => "its server is drained and serves nobody";
        NotRunning { server: super::members::Server } => "no server of the member is running: {server}";
        StopOfMemberRequested =>
            "`spec.wanted` of the CassandraMember requests a stop without regard to other members";
        FirstMember =>
            "it is the first member of a new ring; every other volume was reported empty, or a user allowed the new ring";
        FirstHere =>
            "it is the first member of its datacenter; the ring exists elsewhere, and no volume here holds data of one";
        LeftAsTheLast { host_id: HostId } =>
            "host ID {host_id} was the last member of its datacenter, and its agent reports that it has left the ring";
        HasLeft { said: String } => "the member is not in the ring: {said}";
        Vacant { set: String, ordinal: i32 } =>
            "StatefulSet {set} has no member with ordinal {ordinal} or higher";
        StopRequested => "`spec.run` is Stopped";
        ClusterDeleted { uid: Uid } =>
            "`deletionPolicy` is Delete, and the CassandraCluster with UID {uid} is being deleted";
        NothingOnNode { member: MemberName, node: String } =>
            "the volume holds no ring data: member {member} has no recorded host ID, no other member knows its address, and its Node {node} is gone";
        NeverJoined { nonce: Nonce, witnesses: Names } =>
            "nonce {nonce}: the member never joined the ring, and its server is not running; every member of the ring is recorded, according to {witnesses}";
    }

    /// Why a volume is marked for replacement.
    pub enum Marked {
        NodeGone { node: String, since: Timestamp } =>
            "its Node {node} has been gone since {since}";
        ByLabel { label: &'static str } => "a user requested it with the label {label}";
        ByTask { task: String } => "a user requested it with CassandraTask {task}";
        VolumeNamed { marked: String, task: String } => "{marked}; CassandraTask {task} names the volume";
        Removed { host_id: HostId } => "host ID {host_id}, whose data it holds, was removed from the ring";
    }

    /// Why a volume is no longer marked for replacement.
    pub enum Unmarked {
        Replaced => "the member was replaced";
        UpAgain => "the member is up and normal again";
        Serves => "its agent reports that its server is up and normal";
        NodeBack => "its Node is back";
        TaskAborted => "the task was aborted";
        TaskDeleted => "the task was deleted";
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
