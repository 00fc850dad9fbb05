//! Jobs of tasks over the members of a ring: what they wait for, how they go,
//! how their members end, and how they end themselves.

use super::evidence::Objection;
use super::region;
use super::restart::{self, Mixed};
use super::turn;
use jiff::Timestamp;
use palladion_api::ids::MemberName;
use palladion_api::task::TaskKind;
use palladion_plan::words::{Count, Names};

palladion_plan::sentences! {
    /// What a task waits for.
    pub enum Waiting {
        InQueue { task: String } => WaitingInQueue, "waiting for CassandraTask {task} to finish";
        NoCluster { cluster: String } => ClusterNotFound, "CassandraCluster {cluster} does not exist";
        NotInitialized => Initializing, "the ring has not been initialized yet";
        RingStopped => Stopped, "`spec.run` of the CassandraCluster is Stopped";
        PausedEverywhere => Paused, "OperatorConfig default has `paused: true`; the task goes on after the pause";
        Paused { cluster: String } => Paused,
            "CassandraCluster {cluster} is paused; the task goes on after the pause";
        NotAccepted { cluster: String } => InvalidSpec,
            "the spec of CassandraCluster {cluster} is not accepted, as its condition `Accepted` says; the task goes on when it is corrected";
        Turn { member: MemberName, work: turn::Work, since: Timestamp } => YieldsToTurn,
            "waiting for the {work} of member {member} to finish, which began at {since}";
        RolloutStuck { cluster: String, member: MemberName, since: Timestamp } => RolloutStuck,
            "waiting for the rollout of CassandraCluster {cluster}, which has not moved since {since}: member {member} has not come back from its restart. The condition `Degraded` of the cluster has the cause; correct the spec, and the new one replaces the broken pod at once";
        RolloutWaits { cluster: String, since: Timestamp, why: restart::Problem } => RolloutStuck,
            "waiting for the rollout of CassandraCluster {cluster}, which has not moved since {since}: {why}";
        RingFirst => YieldsToTurn, "waiting for a change to the ring to finish";
        Maintenance => MaintenancePending, "waiting for pending maintenance of a member to finish";
        MemberDown { member: MemberName } => MembersDown,
            "waiting for member {member} to be up and normal";
        NotCounted { member: MemberName } => WaitingForRing,
            "member {member} has not counted the copies of each keyspace by datacenter yet";
        NotRebuilt { member: MemberName } => RebuildOwed,
            "member {member} takes no clients yet, since its datacenter was added to the ring; run the task in a datacenter that does, or wait until this one is opened";
        NotWatched { member: MemberName } => MembersDown,
            "member {member} is up and normal; waiting for its agent to find it healthy";
        AgentTooOld { member: MemberName, agent: String } => AgentTooOld,
            "the agent of member {member} (version {agent}) does not support this task; it is replaced when the pod of the member is";
        Mixed { why: Mixed } => MixedVersions, "not while members run different release lines: {why}";
        TwoLines => MixedVersions, "not while members run different release lines";
        Region { why: region::Waiting } => WaitingForRegion, "waiting for the region lock: {why}";
        NoRegionLock { why: region::Problem } => RegionLockMissing, "{why}";
        BehindRepair { lacking: MemberName } => MaintenancePending,
            "waiting for the pending repair of member {lacking}, which may lack rows that a cleanup of other members would delete";
        Ring { why: Objection } => WaitingForRing, "waiting for the ring: {why}";
        LeftRunning { member: MemberName, until: Timestamp } => WaitingForRing,
            "waiting for a repair that was left running on the server of member {member}: until {until}, or until that server is restarted";
        Pause { member: MemberName, until: Timestamp } => WaitingForRing,
            "the repair of member {member} failed and is tried once more after {until}, when all replicas are up";
        NotEnded { member: MemberName } => WaitingForRing,
            "waiting for the agent of member {member} to report the end of what it was given before";
        BesideAnother { members: Names } => AgentTooOld,
            "waiting for {members}: an agent that does not know grants repairs while no other one does";
        NothingOffered { members: Names } => WaitingForRing,
            "waiting for {members} to offer ranges that can be repaired now; `status.members` has what each of them waits for";
        OfAnother { members: Names } => WaitingInQueue,
            "waiting for the job of {members} to end, which another CassandraTask has left running";
    }

    /// How a task goes.
    pub enum Working {
        Member { work: Work, member: MemberName, done: usize, members: Count } => TaskRunning,
            "the {work} of member {member} is running ({done} of {members} done)";
        Members { work: Work, at_work: Names, done: usize, members: Count } => TaskRunning,
            "members {at_work} take turns at the {work} ({done} of {members} done)";
        Nobody { work: Work, why: Waiting, done: usize, members: Count } => TaskRunning,
            "no member is at the {work} now: {why} ({done} of {members} done)";
        Yields { work: Work, member: MemberName } => YieldsToTurn,
            "the {work} of member {member} is being interrupted: a change to the ring comes first";
        LetsPass { work: Work, members: Names, task: String } => WaitingInQueue,
            "CassandraTask {task} goes first: waiting for the {work} of {members} to end";
        Stopping { work: Work, member: MemberName } => TaskRunning,
            "the task is being aborted: waiting for the {work} of member {member} to end";
        OverTime { work: Work, member: MemberName } => DeadlineExceeded,
            "`spec.activeDeadlineSeconds` has passed: waiting for the {work} of member {member} to end";
    }

    /// It was done for every member.
    pub enum Done {
        All { work: Work, members: Count } => TaskDone, "the {work} is complete on {members}";
    }

    /// It was done for some members.
    pub enum Partial {
        Of { work: Work, done: usize, members: Count, left: Names } => TaskPartial,
            "the {work} is complete on {done} of {members}, but not on {left}; `status.members` has the causes";
    }

    /// It has failed.
    pub enum Failed {
        Member { work: Work, member: MemberName, why: String } => TaskFailed,
            "the {work} of member {member} failed: {why}";
        All { work: Work, member: MemberName, why: String } => TaskFailed,
            "the {work} failed on all members; on member {member}: {why}";
        Deadline { work: Work, done: usize, members: Count } => DeadlineExceeded,
            "the {work} was not complete within `spec.activeDeadlineSeconds`; it is complete on {done} of {members}";
        ClusterDeleted { cluster: String } => TaskFailed, "CassandraCluster {cluster} is being deleted";
        ClusterGone { cluster: String } => TaskFailed, "CassandraCluster {cluster} was deleted";
    }

    /// It was aborted.
    pub enum Aborted {
        Never { work: Work } => TaskAborted, "the {work} was aborted before it began";
        After { work: Work, done: usize, members: Count } => TaskAborted,
            "the {work} was aborted; it is complete on {done} of {members}";
    }

    /// It cannot be done as it stands, and nothing was changed.
    pub enum Refused {
        NoSuchMembers { cluster: String, unknown: Names, members: Names } => TaskRefused,
            "cluster {cluster} has no member {unknown}; existing members: {members}";
        NoSuchRacks { cluster: String, unknown: Names, racks: Names } => TaskRefused,
            "cluster {cluster} has no rack {unknown}; existing racks: {racks}";
        NoMembers { racks: Names } => TaskRefused, "no member of the ring is in rack {racks}";
        KeptByOperator { datacenter: String, keyspaces: Names } => TaskRefused,
            "the operator itself keeps the copies of {keyspaces} in datacenter {datacenter}, which is that of this cluster: remove them from `keyspaces`";
        HasMembers { datacenter: String, keyspaces: Names } => TaskRefused,
            "the ring has members in datacenter {datacenter}, and without copies of {keyspaces} nobody could log in there: remove the members first";
        NotRebuilt { datacenter: String, own: String, members: Names } => TaskRefused,
            "{members} of datacenter {own} are not rebuilt yet, and the copies in datacenter {datacenter} may be all that there are: wait until they are";
        WouldMove { keyspaces: Names, copies: u32, racks: Count, members: Count } => TaskRefused,
            "with {racks} and {members}, NetworkTopologyStrategy would place the {copies} copies of {keyspaces} on other members than SimpleStrategy did, and reads would miss rows until they are repaired: use ALTER KEYSPACE and repair the keyspace at once, or convert it while the ring has one rack";
        OwnDatacenter { datacenter: String } => TaskRefused,
            "{datacenter} is the datacenter of this cluster: to have it leave its ring, set `datacenter.leave`";
        NoSuchDatacenter { datacenter: String, others: Names } => TaskRefused,
            "no member of datacenter {datacenter} is in the ring; other datacenters: {others}";
        NotAllDown { datacenter: String, members: Names, witness: MemberName } => TaskRefused,
            "the members of datacenter {datacenter} are not all down: {witness} sees {members} otherwise. Have the datacenter leave by itself (`datacenter.leave`), or stop its servers for good first";
        OtherMembers { datacenter: String, host_ids: Names, witness: MemberName } => TaskRefused,
            "`hostIDs` must name exactly the members of datacenter {datacenter}; {witness} sees: {host_ids}";
        HasCopies { datacenter: String, keyspaces: Names } => TaskRefused,
            "{keyspaces} have copies in datacenter {datacenter}: drop it from their replication first, with a CassandraTask with `replication`, `factor: 0` and `lowering: Allow`";
        NotOfScylla { work: Work } => TaskRefused,
            "the {work} is not supported in a ring of ScyllaDB";
    }

    /// How a member of a task ended, or why it is tried again.
    pub enum Member {
        Lost { member: MemberName } => MemberLost,
            "member {member} did not come back in time, and nobody knows how far the work went";
        GivenUp { member: MemberName } => MemberLost,
            "the volume of member {member} is marked for replacement";
        NotReported => MemberLost, "its agent does not answer, and nobody knows how far the work went";
        Drained => Drained, "the server is drained and serves nobody until it is restarted";
        TooLong => DeadlineExceeded, "it was not complete within `memberDeadlineSeconds`";
        TaskTooLong => DeadlineExceeded, "`spec.activeDeadlineSeconds` of the task had passed";
        Down => SkippedMember, "the member was down";
        NotWanted => SkippedMember,
            "a user wants the server of the member stopped; run the task for the member once it is started again";
        AgentTooOld { agent: String } => AgentTooOld,
            "its agent (version {agent}) does not know what is due for repair; it is replaced when the pod of the member is";
        NoMember => SkippedMember, "the member is not in the ring any more";
        ClusterDeleted => TaskFailed, "the CassandraCluster was deleted";
        NotBegun => SkippedMember, "not begun: the task had failed before";
        Aborted => TaskAborted, "the task was aborted";
        Yields => YieldsToTurn, "interrupted for what comes first; it is resumed afterwards";
        Silent { member: MemberName } => Interrupted,
            "member {member} does not report any more; its part is given again when it is back";
        ServesNobody { member: MemberName } => Interrupted,
            "member {member} has not served for ten minutes; its part is given again when it does";
        Unanswered { member: MemberName } => Interrupted,
            "the agent of member {member} does not answer; its part is given again when it is back";
        Again { why: String } => Interrupted, "interrupted, and tried again: {why}";
        Twice { why: String } => Interrupted, "interrupted twice: {why}";
    }

    /// Why the ring waits for a job.
    pub enum RingWaits {
        ForYield { task: String, work: Work, members: Names } => YieldsToTurn,
            "CassandraTask {task} yields: waiting for the {work} of {members} to end";
        ForOrphan { members: Names } => YieldsToTurn,
            "waiting for the job of {members} to end: its CassandraTask is gone";
        ForShare { task: String, work: Work } => RollingOut,
            "the next member restarts after CassandraTask {task} ({work}) had its time between two restarts";
        BeforeMaintenance { task: String, work: Work, members: Names } => MaintenancePending,
            "pending maintenance waits for CassandraTask {task}: the {work} of {members} ends first";
        BeforeRetry { task: String } => MaintenancePending,
            "maintenance that failed is tried again after CassandraTask {task} had its time between two tries";
    }

    /// Events.
    pub enum Happened {
        TakenUp { task: String, work: Work } => TaskRunning, "CassandraTask {task} ({work}) has started";
        GoesOn { task: String, work: Work } => TaskRunning, "CassandraTask {task} ({work}) goes on";
        Yields { task: String, work: Work } => YieldsToTurn,
            "CassandraTask {task} ({work}) yields to a change to the ring";
        GivenBack { task: String, work: Work, why: String } => WaitingInQueue,
            "CassandraTask {task} ({work}) lets other tasks pass: {why}";
        MemberFailed { task: String, work: Work, member: MemberName, why: String } => TaskFailed,
            "CassandraTask {task}: the {work} of member {member} failed: {why}";
        Done { task: String, said: String } => TaskDone, "CassandraTask {task}: {said}";
        Partial { task: String, said: String } => TaskPartial, "CassandraTask {task}: {said}";
        Failed { task: String, said: String } => TaskFailed, "CassandraTask {task}: {said}";
        Aborted { task: String, said: String } => TaskAborted, "CassandraTask {task}: {said}";
        Refused { task: String, said: String } => TaskRefused, "CassandraTask {task}: {said}";
    }

    /// What a task does to a member.
    pub enum Work {
        Repair => "repair";
        Cleanup => "cleanup";
        Compact => "compaction";
        GarbageCollect => "garbage collection";
        Scrub => "scrub";
        UpgradeSstables => "SSTable upgrade";
        Flush => "flush";
        Snapshot => "snapshot";
        ClearSnapshot => "removal of a snapshot";
        SetLogLevel => "change of log levels";
        Replication => "change of replication";
        RemoveDatacenter => "removal of a datacenter";
        Restart => "restart";
        Drain => "drain";
        Replace => "replacement";
        RotateAuthority => "rotation of an authority";
    }

    /// Steps.
    pub enum Doing {
        Take { task: String } => "take up CassandraTask {task}";
        GoOn { task: String } => "go on with CassandraTask {task}";
        Yield { task: String } => "let CassandraTask {task} yield to a change to the ring";
        GiveBack { task: String } => "let other tasks pass CassandraTask {task}";
        Release { task: String } => "record that CassandraTask {task} has ended";
        Give { work: Work, member: MemberName } => "start the {work} of member {member}";
        Grant { member: MemberName } => "let member {member} repair ranges that it has offered";
        Stop { work: Work, member: MemberName } => "stop the {work} of member {member}";
        Clear { member: MemberName } => "clear the job of member {member}";
    }
}

impl From<TaskKind> for Work {
    fn from(kind: TaskKind) -> Self {
        match kind {
            TaskKind::Repair => Work::Repair,
            TaskKind::Cleanup => Work::Cleanup,
            TaskKind::Compact => Work::Compact,
            TaskKind::GarbageCollect => Work::GarbageCollect,
            TaskKind::Scrub => Work::Scrub,
            TaskKind::UpgradeSstables => Work::UpgradeSstables,
            TaskKind::Flush => Work::Flush,
            TaskKind::Snapshot => Work::Snapshot,
            TaskKind::ClearSnapshot => Work::ClearSnapshot,
            TaskKind::SetLogLevel => Work::SetLogLevel,
            TaskKind::Replication => Work::Replication,
            TaskKind::RemoveDatacenter => Work::RemoveDatacenter,
            TaskKind::Restart => Work::Restart,
            TaskKind::Drain => Work::Drain,
            TaskKind::Replace => Work::Replace,
            TaskKind::RotateAuthority => Work::RotateAuthority,
        }
    }
}
