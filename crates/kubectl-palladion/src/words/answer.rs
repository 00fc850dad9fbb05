//! What a verb says when it has done what it was asked.

use palladion_api::words::{Count, Names};
use palladion_backup::words::notice::Notice;

palladion_api::sentences! {
    /// What was done.
    pub enum Answer {
        PauseRequested { ring: String } => "pause of ring {ring} requested; the operator completes its in-flight requests first";
        ResumeRequested { ring: String } => "resume of ring {ring} requested";
        Paused { ring: String } => "ring {ring} paused; the operator now updates only the status of the ring";
        Resumed { ring: String } => "ring {ring} resumed";
        RestartOfMember { member: String } => "member {member} will restart when its turn comes";
        RestartOfRing { ring: String } => "all members of ring {ring} will restart, one at a time";
        RestartOfRack { rack: String, ring: String } => "all members of rack {rack} of ring {ring} will restart, one at a time";
        Stops { member: String } => "member {member} will be stopped when its turn comes";
        Starts { member: String } => "member {member} will be started when its turn comes";
        SeedRequested { member: String, seed: String } => "seed of member {member} set to {seed}; the seed lists of all members follow without a restart";
        Terminates { member: String } => "member {member} will be stopped for good when its turn comes";
        Replacing { task: String, member: String } => "task {task} created to replace member {member}";
        TaskCreated { task: String, ring: String } => "task {task} created for ring {ring}";
        Scheduled { task: String, schedule: String } => "task {task} created from schedule {schedule}";
        ScheduleSuspended { schedule: String } => "schedule {schedule} suspended; its tasks that exist go on";
        ScheduleResumed { schedule: String } => "schedule {schedule} resumed; what was due meanwhile is not caught up with";
        NoSchedules { place: String } => "no schedules found in {place}";
        NoSchedulesOf { ring: String } => "no schedules found for ring {ring}";
        NothingCovers { ring: String } => "no schedule covers ring {ring}: deleted rows may come back unless it is repaired in another way";
        Aborting { task: String } => "abort of task {task} requested";
        Nothing { place: String } => "no rings found in {place}";
        NoMembers { ring: String } => "ring {ring} has no members";
        NoMembersIn { place: String } => "no members found in {place}";
        NoTasks { place: String } => "no tasks found in {place}";
        NoTasksOf { ring: String } => "no tasks found for ring {ring}";
        NoBackups { store: String } => "no backups found in {store}";
        BackupSound { id: String, objects: u64, read: u64 } => "backup {id} is complete: {objects} objects are there, {read} of them were read and match";
        BackupDamaged { id: String, objects: u64, damaged: u64 } => "backup {id} is damaged: {damaged} of {objects} objects are missing or do not match";
        DamageNoted { objects: u64 } => "noted in the repository (objects: {objects}): the next backup sends their files again, and backups that name them do not count as ones that may be the last";
        DamageNotNoted { why: String } => "the damage is not noted in the repository, so the next backup may take it over: {why}; run this again with credentials that may write";
        Fetched { id: String, files: u64, size: String, there: u64, into: String } => "{files} files of backup {id} ({size}) fetched to {into}; {there} were there already";
        FetchDamaged { files: u64 } => "{files} files do not match what was taken and were left out";
        NothingToExpire => "nothing to condemn: every object older than 48 h is named by a backup";
        WouldExpire { entry: u64, backups: u64, objects: u64, size: String } => "entry {entry} condemns {backups} backups and {objects} objects, {size} in the store";
        WouldFail { id: String } => "backup {id} has no outcome and was abandoned: it becomes failed";
        Stay { backups: String } => "complete backups that stay: {backups}";
        Expired { entry: u64 } => "entry {entry} written; sweep in 24 h or later";
        Abandoned => "the outcome of abandoned backups is written; nothing else was to do";
        NothingToSweep => "nothing to delete";
        WouldSweep { entry: u64, backups: String, objects: u64, size: String } => "entry {entry} (backups: {backups}): {objects} objects, {size} in the store";
        WouldTrim { host: String, below: u64 } => "archive of host ID {host}: entries below {below}, which no backup needs";
        Trimmed { objects: u64, size: String } => "{objects} objects ({size}) of archived commit logs deleted";
        TrimAgain { most: u64 } => "more of them can be deleted: at most {most} go at a time. Run the command again";
        Swept { objects: u64, entries: u64 } => "{objects} objects of {entries} entries deleted";
        Unsealed { name: String, size: String, file: String } => "object {name} ({size}) written to {file}";
        NoEvents { ring: String } => "no events found for ring {ring}";
    }

    /// When the next task of a schedule is due.
    pub enum Due {
        Now => "due";
        In { time: String } => "in {time}";
        For { time: String } => "for {time}";
    }

    /// What is asked before something is destroyed.
    pub enum Question {
        Replace { member: String, ring: String, namespace: String } => "This deletes the PersistentVolumeClaim of member {member} of ring {ring} in namespace {namespace}; the other members then stream its data to a new volume. Any writes that only this member has will be lost.";
        Terminate { member: String, ring: String, namespace: String, volume: String } => "This stops member {member} of ring {ring} in namespace {namespace} for good: no server ever starts on volume {volume} again. It cannot be undone; afterwards the member can only be replaced.";
        ClearSnapshot { snapshot: String, ring: String, namespace: String } => "This deletes snapshot {snapshot} from the members of ring {ring} in namespace {namespace}. What only the snapshot holds will be lost.";
        SkipCorrupted { ring: String, namespace: String } => "This scrub of ring {ring} in namespace {namespace} leaves out partitions of counter tables that cannot be read. What only this copy of them holds will be lost.";
        RemoveDatacenter { datacenter: String, hosts: Names, ring: String, namespace: String } => "This removes datacenter {datacenter} (host IDs {hosts}) from the ring of {ring} in namespace {namespace}. Rows that only its members hold will be lost, and none of them can come back.";
        FewerCopies { keyspaces: Names, datacenter: String, copies: u64, ring: String, namespace: String } => "Keyspaces {keyspaces} of ring {ring} in namespace {namespace} get replication factor {copies} in datacenter {datacenter}, even where it is higher now. Rows that only the other copies hold will be lost.";
        Condemn { backups: u64, ring: String } => "This condemns {backups} backups of ring {ring}: nobody can read them from now on, and a sweep deletes them. It cannot be undone.";
        Trim { archives: u64, ring: String } => "This deletes archived commit logs of {archives} members from the repository of ring {ring}, as far as no backup needs them. It cannot be undone.";
        Sweep { objects: u64, size: String, ring: String } => "This deletes {objects} objects ({size}) from the repository of ring {ring}. It cannot be undone.";
        Server { context: String, server: String } => "Context: {context}. API server: {server}.";
        StateOfMember { state: String, since: String, reason: String, message: String } => "Reported state of the member: {state} for {since} (reason: {reason}; message: {message}).";
        StateAlone { state: String, since: String, reason: String } =>
            "Reported state of the member: {state} for {since} (reason: {reason}).";
        AcceptsClients => "It accepts client connections.";
        VolumeNamed { volume: String } => "Because you named volume {volume}, the member is replaced if all remaining members see it down, even if they are not a majority of the ring.";
        TypeName { name: String } => "Type {name} to continue: ";
    }

    /// What members of a ring work at, one after the other.
    pub enum Job {
        OfTask { kind: String, task: String } => "{kind} of task {task}";
    }

    /// Maintenance that the operator does by itself.
    pub enum Maintenance {
        Pending { kind: String, members: Names } => "{kind} is pending on {members}";
        Running { kind: String, members: Names } => "{kind} is running on {members}";
    }

    /// Why a ring that serves is not well.
    pub enum NotWell {
        NotReady { members: String } => "only {members} members are ready";
        MemberIs { member: String, state: String } => "member {member} is {state}";
        MemberFailed { member: String, message: String } => "member {member} failed: {message}";
    }

    /// What is worth knowing beside the answer.
    pub enum Note {
        OfBackups { notice: Notice } => "{notice}";
        DryRun => "dry run: nothing was written or deleted";
        OnlyTried => "dry run: nothing was stored; this is what the API server would store";
        SpecIsNewer { ring: String } => "the operator has not processed the newest spec of ring {ring} yet";
        OtherVersion { mine: String, theirs: String } => "this is kubectl-palladion {mine}, but the operator is version {theirs}; the operator may decide differently";
        UnknownSettings => "the ring has no `status.decidedWith`, so the operator's settings are unknown; the agent image shown here may differ from the one that the operator uses";
        ViewsAgree { members: Count } => "same view of the ring and same schema version on {members}";
        SomeAreSilent { members: Names } => "no current view of the ring reported by {members}";
        NoViews => "no member has reported its view of the ring";
        ViewsDiffer => "members report different views of the ring";
        SomeAreOdd => "at least one member sees members that are not up and normal";
        SchemasDiffer => "members have different schema versions";
        NothingIsDone => "the operator will not carry out this plan: its own check rejects it";
        Recovered { task: String } => "the request to create task {task} was not answered, but the task exists";
        OtherTime { behind: String } => "the clocks of this machine and the API server differ by {behind}; the plan uses the API server's clock";
        NoTime => "the API server did not send its time; the plan uses the clock of this machine";
        NothingToDo => "nothing to do: the ring matches its spec";
        TlsRequiredOfCqlsh { ring: String } => "ring {ring} accepts clients only over TLS; add --ssl to the cqlsh command, and set SSL_CERTFILE to a file with ca.crt of ConfigMap {ring}-client-ca";
    }
}
