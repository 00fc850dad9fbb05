//! Schedules of tasks: why one is not valid, what its next run waits for, and
//! what was missed.

use jiff::Timestamp;
use palladion_plan::words::Quoted;

palladion_plan::sentences! {
    /// Its pattern and its time zone are valid.
    pub enum Accepted {
        Valid => Valid, "the schedule is valid";
        Waits { due: Timestamp, task: String } => Valid,
            "the schedule is valid; a task has been due since {due} and waits for CassandraTask {task} to end";
        Full { due: Timestamp, most: usize } => Valid,
            "the schedule is valid; a task has been due since {due} and waits until fewer than {most} tasks of the schedule are active";
    }

    /// No task is ever created.
    pub enum Invalid {
        Schedule { schedule: Quoted, why: Quoted } => InvalidSpec,
            "`schedule` {schedule} is not valid ({why}); use five fields (minute, hour, day of the month, month, day of the week) such as `0 2 * * *`";
        Never { schedule: Quoted } => InvalidSpec,
            "`schedule` {schedule} matches no date, so no task is ever created; change its day of the month or its month";
        TimeZone { time_zone: Quoted } => InvalidSpec,
            "`timeZone` {time_zone} is not a name of the IANA time zone database; use one such as `Europe/Berlin` or `Etc/UTC`";
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
        TooLate { schedule: String, due: Timestamp, seconds: u32 } => ScheduleMissed,
            "CassandraTaskSchedule {schedule} did not create the task due at {due}: it would have been more than {seconds} seconds late (`startingDeadlineSeconds`)";
    }

    /// Steps.
    pub enum Doing {
        Create { task: String, schedule: String } =>
            "create CassandraTask {task} of CassandraTaskSchedule {schedule}";
        Abort { task: String, schedule: String } =>
            "abort CassandraTask {task}, which the next one of CassandraTaskSchedule {schedule} replaces";
        Report { schedule: String } => "update the status of CassandraTaskSchedule {schedule}";
        Delete { task: String, schedule: String } =>
            "delete CassandraTask {task}, which is older than the history that CassandraTaskSchedule {schedule} keeps";
    }
}
