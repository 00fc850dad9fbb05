//! Schedules of tasks: why one is not valid, what its next run waits for, and
//! what was missed.

use jiff::Timestamp;
use palladion_api::ids::MemberName;
use palladion_plan::words::{Names, Quoted};

palladion_plan::sentences! {
    /// Its pattern and its time zone are valid.
    pub enum Accepted {
        Valid => Valid, "the schedule is valid";
        Waits { due: Timestamp, task: String } => Valid,
            "the schedule is valid; a task has been due since {due} and waits for CassandraTask {task} to end";
        Covers => Valid, "the schedule is valid and covers the ring";
        Repairs { due: Timestamp, task: String } => Valid,
            "the schedule is valid and covers the ring; CassandraTask {task} repairs what has been due since {due}";
        Rests { due: Timestamp, until: Timestamp, seconds: i64 } => Valid,
            "the schedule is valid and covers the ring; ranges have been due for repair since {due}, and the next task is created at {until}, {seconds} s after the end of the last one";
        Down { due: Timestamp, members: Names } => MembersDown,
            "the schedule is valid and covers the ring; ranges have been due for repair since {due}, and a task is created when all members are up: waiting for {members}";
        DownRests { due: Timestamp, members: Names, until: Timestamp } => MembersDown,
            "the schedule is valid and covers the ring; ranges have been due for repair since {due}, and a task for those without a copy on a member that is down is created at {until}, or for all of them when these members are up: {members}";
        Refused { due: Timestamp, task: String, why: String } => ErrSyncFailed,
            "the schedule is valid; a task has been due since {due}, and CassandraTask {task} could not be created: {why}";
        Full { due: Timestamp, most: usize } => Valid,
            "the schedule is valid; a task has been due since {due} and waits until fewer than {most} tasks of the schedule are active";
    }

    /// No task is ever created.
    pub enum Invalid {
        Schedule { schedule: Quoted, why: Quoted } => InvalidSpec,
            "`schedule` {schedule} is not valid ({why}); use five fields (minute, hour, day of the month, month, day of the week) such as `0 2 * * *`";
        Never { schedule: Quoted } => InvalidSpec,
            "`schedule` {schedule} matches no date, so no task is ever created; change its day of the month or its month";
        NoCluster { cluster: String } => ClusterNotFound,
            "CassandraCluster {cluster} does not exist, so no task is created";
        AnotherCovers { cluster: String, other: String } => AnotherCovers,
            "CassandraTaskSchedule {other} is older and covers CassandraCluster {cluster} already; delete one of the two";
        RepairedByConfig { cluster: String } => RepairedByServer,
            "the configuration of CassandraCluster {cluster} enables `auto_repair`, so its servers repair themselves, and the schedule creates no tasks; set `auto_repair.enabled` to false in `spec.config` (or in the ConfigMap of the rack), or delete the schedule";
        RepairedByServers { members: Names } => RepairedByServer,
            "the servers of these members repair themselves (`auto_repair`), and the schedule creates no tasks; restart them with `auto_repair.enabled: false` in `spec.config`, or delete the schedule: {members}";
        OfScylla => InvalidSpec,
            "`cover` applies to Cassandra only; repair ScyllaDB with Scylla Manager";
        TimeZone { time_zone: Quoted } => InvalidSpec,
            "`timeZone` {time_zone} is not a name of the IANA time zone database; use one such as `Europe/Berlin` or `Etc/UTC`";
    }

    /// Are ranges repaired later than they should be?
    pub enum Behind {
        Late { member: MemberName, since: Timestamp } => RepairBehind,
            "ranges of member {member} are not repaired: at {since} they had used up 90% of the time for which deletions in them are kept (`gc_grace_seconds`); see what keeps their repair from ending with `kubectl palladion task list`, or raise `gc_grace_seconds`";
        Silent { members: Names } => FactUnknown,
            "these members have not reported yet what is due for repair: {members}";
        TooOld { members: Names } => AgentTooOld,
            "the agents of these members are too old to know what is due for repair, and nothing is repaired there until their pods are replaced: {members}";
        NoRange => FactUnknown,
            "no range is covered: no table that `cover` names exists in a keyspace with more than one copy";
        Absent { keyspaces: Names } => FactUnknown,
            "`cover.keyspaces` names keyspaces that do not exist, so their repair is not watched: {keyspaces}; correct the names, or create the keyspaces";
        OneCopy => NothingToRepair,
            "nothing needs repair: every covered keyspace has one copy, so there is no other copy to repair from or to bring deleted rows back";
        Unclear { member: MemberName, why: String } => FactUnknown,
            "member {member} does not know what is due for repair: {why}";
        Short { tables: Names } => GraceTooShort,
            "`gc_grace_seconds` of these tables is below 600, so no repair comes in time; they are repaired every seven days: {tables}";
        First => UpToDate,
            "nothing is late; some ranges were never repaired, and deletions in them are safe from their first repair on";
        InTime => UpToDate, "all ranges were repaired in time";
    }

    /// Can deletions be lost?
    pub enum Risk {
        TooLate { member: MemberName, since: Timestamp } => RepairTooLate,
            "ranges of member {member} were not repaired before {since}, when deletions in them began to be forgotten (`gc_grace_seconds`): rows that were deleted may come back; see what keeps their repair from ending with `kubectl palladion task list`, and check rows that were deleted since then";
        ReturnsTooLate { member: MemberName, since: Timestamp, seconds: u32 } => ReturnsTooLate,
            "member {member} has been down since {since}, for longer than the {seconds} s for which deletions in some tables are kept (`gc_grace_seconds`): rows that were deleted may come back with it; before you start it, see `kubectl palladion explain ReturnsTooLate`";
        Nothing => UpToDate, "no range is beyond `gc_grace_seconds`";
    }

    /// Why no task is created for the time being.
    pub enum Held {
        Suspended => Paused, "`spec.suspend` is true; the schedule creates no tasks";
        Everywhere => Paused,
            "OperatorConfig default has `paused: true`; the schedule creates no tasks";
        Cluster { cluster: String } => Paused,
            "CassandraCluster {cluster} is paused; the schedule creates no tasks";
        NotAccepted { cluster: String } => InvalidSpec,
            "the spec of CassandraCluster {cluster} is not valid; the schedule creates no tasks until it is corrected";
    }

    /// Tasks are created when they are due.
    pub enum Runs {
        NotPaused => UpToDate, "not paused";
    }

    /// Events.
    pub enum Told {
        Invalid { schedule: String, why: Invalid } => InvalidSpec,
            "CassandraTaskSchedule {schedule}: {why}";
        Behind { schedule: String, why: Behind } => RepairBehind,
            "CassandraTaskSchedule {schedule}: {why}";
        TooLateForDeletions { schedule: String, why: Risk } => RepairTooLate,
            "CassandraTaskSchedule {schedule}: {why}";
        TooLate { schedule: String, due: Timestamp, seconds: u32 } => ScheduleMissed,
            "CassandraTaskSchedule {schedule} did not create the task due at {due}: it would have been more than {seconds} seconds late (`startingDeadlineSeconds`)";
    }

    /// Steps.
    pub enum Doing {
        Create { task: String, schedule: String } =>
            "create CassandraTask {task} of CassandraTaskSchedule {schedule}";
        Give { member: MemberName } => "set what repair covers on member {member}";
        Abort { task: String, schedule: String } =>
            "abort CassandraTask {task}, which the next one of CassandraTaskSchedule {schedule} replaces";
        Report { schedule: String } => "update the status of CassandraTaskSchedule {schedule}";
        Delete { task: String, schedule: String } =>
            "delete CassandraTask {task}, which is older than the history that CassandraTaskSchedule {schedule} keeps";
    }
}
