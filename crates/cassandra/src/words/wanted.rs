//! What people want of members: stops and starts, and what they wait for.

use super::evidence::Objection;
use super::members::Server;
use super::turn::Work;
use jiff::Timestamp;
use palladion_api::ids::{MemberName, VolumeId};
use palladion_plan::workload::words::MemberPod;

palladion_plan::sentences! {
    /// What waits for a member that a person has stopped.
    pub enum HeldUp {
        By { work: Work, member: MemberName, by: MemberName } => StoppedByIntent,
            "the {work} of member {member} cannot begin while member {by} is stopped, as a user requested; to start {by}, set `spec.wanted.run` of its CassandraMember to Running";
        Terminated { work: Work, member: MemberName, by: MemberName } => MemberTerminated,
            "the {work} of member {member} cannot begin before member {by} is replaced, which a user has terminated for good; to replace it, run `kubectl palladion replace {by}`";
    }

    /// What a stop waits for.
    pub enum Stopping {
        ForAgent { member: MemberName, pod: MemberPod } => MemberStopping,
            "member {member} cannot be stopped yet: {pod}";
        AgentTooOld { member: MemberName, agent: String } => AgentTooOld,
            "member {member} cannot be terminated yet: its agent (version {agent}) cannot ban a volume; to roll out a newer agent, change `spec.sidecarImage` if it is set, or otherwise an annotation in `spec.annotations`";
        OtherFirst { member: MemberName, up: usize, copies: usize, other: MemberName, at: Timestamp } => DataTooOld,
            "member {member} cannot be terminated yet: only {up} of the {copies} members that all copies of a row need are up, and the data of {other} is too old to start with, too, so that rows may exist on {member} alone; to start {other} first, set `spec.allowStaleStart` of its CassandraMember to {at}";
        OtherStarts { member: MemberName, up: usize, copies: usize, other: MemberName } => DataTooOld,
            "member {member} cannot be terminated yet: only {up} of the {copies} members that all copies of a row need are up, so that rows may exist on {member} alone; waiting until {other}, whose start was allowed, is up";
        NowIsOver { member: MemberName, why: Objection, at: Timestamp } => MemberStopping,
            "member {member} cannot be stopped yet: {why}; `when: Now` in its `spec.wanted` counted for the stop at {at} alone; to insist once more, set `when` to RingIsWell, and then to Now";
        Draining { member: MemberName, server: Server } => MemberStopping,
            "member {member} is being stopped: {server}";
        Drains { member: MemberName, server: Server } => MemberStopping,
            "member {member} is being drained: {server}";
    }

    /// What a start waits for.
    pub enum Starting {
        ForAgent { member: MemberName, pod: MemberPod } => MemberStarting,
            "member {member} cannot be started yet: {pod}";
        Banned { member: MemberName } => MemberTerminated,
            "member {member} cannot be started: a user has terminated its volume for good, as its agent reports; to replace it, run `kubectl palladion replace {member}`";
        ForRing { member: MemberName, why: Objection } => MemberStarting,
            "member {member} cannot be started yet: {why}";
        ForGrace { member: MemberName, until: Timestamp } => WaitingForGrace,
            "member {member} will be started after {until}: `bootstrapGraceSeconds` must pass after the last start";
        ForSeed { member: MemberName } => MemberStarting,
            "member {member} cannot be started yet: no seed of the ring is up and normal; start a seed first";
        Boots { member: MemberName, server: Server } => MemberStarting,
            "member {member} is being started: {server}";
    }

    /// Why a wish is not carried out, where nothing else says it.
    pub enum Unmet {
        Joining { member: MemberName } => WaitingForTurn,
            "member {member} is not a full member of the ring yet; it is stopped once it has joined";
        Leaving { member: MemberName } => MemberLeaving,
            "member {member} is leaving the ring";
        Replacing { member: MemberName } => MemberReplacing,
            "member {member} is being replaced";
        RingStopped => Stopped, "`spec.run` of the CassandraCluster is Stopped";
        OtherTurn { member: MemberName, work: Work } => WaitingForTurn,
            "waiting until the {work} of member {member} has finished";
        NotKnown { word: String } => FactUnknown,
            "this operator does not support the value {word}; upgrade the operator to the version that wrote it";
        NoSeeds => SeedsNotComplete, "the ring has no seeds before its first member has joined";
        NoSeedYet { member: MemberName } => WaitingForTurn,
            "member {member} becomes a seed once it has joined the ring";
        LastSeed { member: MemberName } => LastSeed,
            "member {member} stays a seed: no other seed is up and normal";
        Banned { member: MemberName } => MemberTerminated,
            "a user has terminated the volume of member {member} for good, as its agent reports; to replace it, run `kubectl palladion replace {member}`";
        Next => WaitingForTurn, "waiting for its turn";
    }

    /// Events.
    pub enum Happened {
        Stops { member: MemberName } => Synced, "Stopping member {member} as requested";
        StopsNow { member: MemberName } => MemberStopping,
            "Stopping member {member} as requested without regard to other members (`spec.wanted.when` is Now); data can be unavailable while other members are down";
        Terminates { member: MemberName, volume: VolumeId } => MemberTerminated,
            "Terminating member {member} for good as requested: no server starts on volume {volume} any more";
        Stopped { member: MemberName } => Synced, "Member {member} is stopped";
        Drains { member: MemberName } => Drained, "Draining member {member} as requested";
        Drained { member: MemberName } => Drained,
            "Member {member} is drained; it serves again after a restart";
        Starts { member: MemberName } => Synced, "Starting member {member} as requested";
        Started { member: MemberName } => Synced, "Member {member} is up and normal again";
    }

    /// Why the turn of a stop or a start ends early.
    pub enum Ended {
        NoMember => "the member no longer exists";
        NotWanted => "it is no longer requested, or the member is being replaced or removed";
        Forbidden { why: Objection } => "{why}";
        Silent => "its agent does not report; it carries out the request when it is back";
        NotDrained => "its agent does not report";
        Failed { server: Server } => "{server}";
    }

    /// Steps.
    pub enum Doing {
        BeginStop { member: MemberName } => "begin the stop of member {member}";
        BeginDrain { member: MemberName } => "begin the drain of member {member}";
        Drain { member: MemberName } => "drain the server of member {member}";
        EndDrain { member: MemberName } => "take back the order to drain member {member}";
        Stop { member: MemberName } => "stop the server of member {member}";
        Terminate { member: MemberName } => "stop the server of member {member} for good";
        Forget { member: MemberName } =>
            "clear the terminated volume of member {member}: the member has another one";
        NowIsFree { member: MemberName } =>
            "record that `when: Now` of member {member} counts again: it was taken back";
        StopInstead { member: MemberName } =>
            "stop member {member} instead of starting it, as a user requested";
        UpdateInstead { member: MemberName, revision: String } =>
            "update member {member} while it starts: its pod has the older revision {revision}";
        BeginStart { member: MemberName } => "begin the start of member {member}";
        Start { member: MemberName } => "start the server of member {member}";
    }
}
