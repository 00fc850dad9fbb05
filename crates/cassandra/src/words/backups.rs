//! Backups: what they wait for, how they go, and how they end.

use jiff::Timestamp;
use palladion_api::backup::TransferCause as Cause;
use palladion_api::ids::MemberName;
use palladion_plan::words::{Count, Names};

use super::maintenance::Work as Maintenance;
use super::turn::Work;

palladion_plan::sentences! {
    /// What a backup waits for that has not begun.
    pub enum Pending {
        NoStore { cluster: String } => BackupPending,
            "cluster {cluster} has no store for backups; set `spec.backup` of the CassandraCluster";
        UnknownVerify { word: String } => BackupPending,
            "this version of the operator does not know `verify: {word}`; upgrade the operator, or create another backup";
        UnknownCoverage { word: String } => BackupPending,
            "this version of the operator does not know `coverage: {word}`; upgrade the operator, or create another backup";
        AllDown => BackupPending, "waiting for a member of the ring: all are down";
        RingFirst => BackupPending,
            "waiting for the ring, which is about to change";
        NoCluster { cluster: String } => ClusterNotFound,
            "CassandraCluster {cluster} does not exist in this namespace; create it, or delete this backup and create one with the right `spec.cluster`";
        NoRing => BackupPending, "waiting for the ring to be initialized";
        OtherDatacenters { datacenters: Names } => BackupPending,
            "the ring has members in other datacenters ({datacenters}), of which no backup can be taken together with these yet; nothing is snapshotted or sent, so delete the backup, and take copies with `nodetool snapshot`";
        Turn { member: MemberName, work: Work } => BackupPending,
            "waiting for member {member}: {work}";
        MemberDown { member: MemberName } => BackupPending,
            "waiting for member {member}, which is down: a backup begins when all members are up; for a backup without it, create another one with `coverage: QuorumOfEachRange`";
        AgentTooOld { member: MemberName, agent: String } => AgentTooOld,
            "the agent of member {member} has version {agent}, which cannot take backups; roll out a newer agent";
        AgentLeavesNobodyOut { member: MemberName, agent: String } => AgentTooOld,
            "the agent of member {member} has version {agent}, which takes backups of all members only; roll out a newer agent, or create another backup with `coverage: AllMembers`";
        NotRecorded { member: MemberName } => BackupPending,
            "waiting for the host ID and volume of member {member}, which are not on record yet";
        Lacking { member: MemberName, pending: String, without: Names } => BackupPending,
            "member {member} has a pending {pending}, until which it may lack what {without} has, so no backup is taken without {without}; it is taken when that is done, or when all members are up";
        TwoRepositories { repositories: Names } => RepositoryForeign,
            "the volumes of the ring name different repositories of backups: {repositories}; decide which one is right, remove `.palladion/repository.json` from the other volumes, and restart their agents";
        Restore { restore: String } => BackupPending,
            "waiting for CassandraRestore {restore}: while rows are loaded no backup is taken";
        Retention => BackupPending,
            "waiting for a member that condemns or deletes backups that expire; the backup begins when that is done, or cannot go on";
        InQueue { backup: String } => BackupPending,
            "waiting for CassandraBackup {backup}: a ring takes one backup at a time";
        Paused { cluster: String } => Paused,
            "CassandraCluster {cluster} is paused: no backup begins, and one that is under way stops after the current step of its members";
        PausedEverywhere => Paused,
            "the OperatorConfig `default` pauses all clusters: no backup begins, and one that is under way stops after the current step of its members";
        NotAccepted { cluster: String } => BackupPending,
            "the spec of CassandraCluster {cluster} is not accepted: no backup begins, and one that is under way stops after the current step of its members";
    }

    /// How far a backup is.
    pub enum Phase {
        Preparing { done: usize, members: usize } => BackupPreparing,
            "members check the store, the keys and their free space: {done} of {members} done";
        Snapshotting { done: usize, members: usize, attempt: u32 } => BackupSnapshotting,
            "members take their snapshots, attempt {attempt}: {done} of {members} done";
        LeavingOut { members: Names } => BackupSnapshotting,
            "the backup goes on without {members}, and fails if the other members do not have a majority of the replicas of each range";
        LeavingOutLost { members: Names } => BackupUploading,
            "the backup goes on without {members}, and fails if the other members do not have a majority of the replicas of each range";
        Describing => BackupSnapshotting, "all snapshots are taken; a member writes the schema into the repository";
        Uploading { done: usize, members: usize } => BackupUploading,
            "members upload their snapshots: {done} of {members} done";
        Finishing => BackupVerifying, "all is sent; a member checks it in the store";
        ReadingBack => BackupVerifying, "the manifest is written; another member reads it back";
        Discarding { why: String } => BackupDiscarding,
            "the members clear what is left of the backup: {why}";
    }

    /// It is complete.
    pub enum Complete {
        Checked { members: usize, files: u64, bytes: u64 } => BackupComplete,
            "the store has every file of the backup, and they were checked there: {files} files, {bytes} bytes, members: {members}";
        CheckedForTables { members: usize, files: u64, bytes: u64, why: String } => BackupComplete,
            "the store has every file of the backup, and they were checked there: {files} files, {bytes} bytes, members: {members}; tables can be restored from it (mode: Tables), but no ring can begin with it (mode: WholeRing): {why}";
        CheckedWithout { members: usize, files: u64, bytes: u64, without: Names } => BackupComplete,
            "the store has every file of the backup, and they were checked there: {files} files, {bytes} bytes, members: {members}, without {without}, of which other members have a majority of the replicas of each range; a ring that begins with it has all that was acknowledged at QUORUM once it is repaired";
        CheckedForTablesWithout { members: usize, files: u64, bytes: u64, without: Names, why: String } => BackupComplete,
            "the store has every file of the backup, and they were checked there: {files} files, {bytes} bytes, members: {members}, without {without}, of which other members have a majority of the replicas of each range; tables can be restored from it (mode: Tables), but no ring can begin with it (mode: WholeRing): {why}";
    }

    /// Why a member may lack what others have.
    pub enum Owed {
        Work { work: Maintenance, cause: String } => "{work} (reason: {cause})";
    }

    /// Why a member is left out.
    pub enum LeftOut {
        Down => "the member was down before it had a snapshot; it is not in the backup";
        Lost => "the member left the ring, or was replaced, before its snapshot was uploaded; it is not in the backup";
    }

    /// What a member waits for, or has failed with.
    pub enum Stopped {
        Unreachable { member: MemberName, why: String } => StoreUnreachable, "member {member}: {why}";
        Unsuited { member: MemberName, why: String } => StoreUnsuited, "member {member}: {why}";
        Foreign { member: MemberName, why: String } => RepositoryForeign, "member {member}: {why}";
        Damaged { member: MemberName, why: String } => RepositoryDamaged, "member {member}: {why}";
        KeyMissing { member: MemberName, why: String } => EncryptionKeyMissing, "member {member}: {why}";
        NoSpace { member: MemberName, why: String } => NotEnoughSpace, "member {member}: {why}";
        Changed { member: MemberName, why: String } => TopologyChanged, "member {member}: {why}";
        Other { member: MemberName, why: String } => BackupFailed, "member {member}: {why}";
        ServerDown { member: MemberName, why: String } => BackupPending, "member {member}: {why}";
    }

    /// A member that does not answer.
    pub enum Member {
        Down { member: MemberName } => BackupPending,
            "waiting for member {member}, which is down; the backup goes on when it is up";
    }

    /// An answer that cannot be used.
    pub enum Unusable {
        NoResult { member: MemberName } => BackupFailed,
            "member {member} reports that it is done, without what it was to report; make sure that all agents have the version of the operator, and take another backup";
    }

    /// Why it has ended otherwise.
    pub enum Failed {
        AbortedInTime => BackupAborted, "the backup was aborted before it began";
        Aborted => BackupAborted,
            "the backup was aborted; the next one uses what was sent";
        Deadline { seconds: u32 } => BackupFailed,
            "the backup was not complete {seconds} s after it was created (`deadlineSeconds`); the next one uses what was sent";
        NoStore { cluster: String } => BackupFailed,
            "`spec.backup` was removed from CassandraCluster {cluster} while the backup was under way; set it, and create another backup";
        OtherRepository => BackupFailed, "the repository of the ring is another one than when the backup began; take the backup again";
        MemberLost { member: MemberName } => BackupFailed,
            "member {member} left the ring, or was replaced, before its snapshot was uploaded; create another backup";
        NobodyLeft => BackupFailed,
            "all members went down, left the ring or were replaced before one had sent its snapshot; create another backup";
        Lacking { member: MemberName, pending: String, without: Names } => BackupFailed,
            "member {member} had a pending {pending} when its snapshot was taken, so it may lack what {without} has, and the backup cannot do without {without}; create another backup when that is done";
        TopologyChanged { attempts: u32 } => TopologyChanged,
            "the members, tokens or schema of the ring changed in each attempt to take the snapshots (attempts: {attempts}); create another backup when they are stable";
        OtherManifest => RepositoryDamaged,
            "two members have read different manifests of the backup; look at who else writes to the store, and take the backup again";
        Damaged { objects: Count, object: String, wrong: String, id: String } => RepositoryDamaged,
            "at least {objects} in the store changed after the upload, first {object}: {wrong}; create another backup, which uploads them again, then expire this one (`kubectl palladion backup expire {id}`), which the repository lists as damaged";
        AbortedLate { id: String } => BackupAborted,
            "the backup was aborted after its manifest was written: the repository has it as complete under the name {id}";
        DeadlineLate { seconds: u32, id: String } => BackupFailed,
            "the manifest was written, but no second member had read it back {seconds} s after the backup was created (`deadlineSeconds`): the repository has it as complete under the name {id}; verify it with `kubectl palladion backup verify {id}`";
        StoreChanged { cluster: String } => BackupFailed,
            "`spec.backup.store` or `spec.backup.encryption` of CassandraCluster {cluster} was changed while the backup was under way; create another backup";
        Forgotten => BackupFailed,
            "the CassandraCluster was created again, or its status was removed, while the backup was under way; create another backup";
        ClusterDeleted { cluster: String } => BackupFailed,
            "CassandraCluster {cluster} was deleted while the backup was under way; the backup is not complete";
    }

    /// A schedule of backups.
    pub enum Schedule {
        Valid => Valid, "the schedule is valid";
        Waits { due: Timestamp, backup: String } => Valid,
            "the schedule is valid; a backup has been due since {due} and waits for CassandraBackup {backup} to end";
        Creates => UpToDate, "backups are created at the times of the schedule";
        Suspended => Paused, "`spec.suspend` is true; the schedule creates no backups";
        Held { cluster: String } => Paused,
            "CassandraCluster {cluster} is paused, or its spec is not accepted; the schedule creates no backups";
    }

    /// What happened to a schedule.
    pub enum Told {
        Missed { schedule: String, due: Timestamp, seconds: u32 } => ScheduleMissed,
            "CassandraBackupSchedule {schedule} did not create the backup that was due at {due}: it would have been more than {seconds} s late (`startingDeadlineSeconds`)";
    }

    /// A leave waits.
    pub enum LeaveWaits {
        Uploads { backup: String } => BackupUnderWay,
            "no member leaves while CassandraBackup {backup} needs the snapshots of all members; wait for it, or abort it";
    }

    /// What has happened.
    pub enum Happened {
        Begun { backup: String } => BackupPreparing, "CassandraBackup {backup} has begun";
        Complete { backup: String, said: String } => BackupComplete, "CassandraBackup {backup} is complete: {said}";
        Failed { backup: String, said: String } => BackupFailed, "CassandraBackup {backup} has failed: {said}";
        Aborted { backup: String, said: String } => BackupAborted, "CassandraBackup {backup} was aborted: {said}";
    }

    /// Steps.
    pub enum Doing {
        Report { backup: String } => "update the status of CassandraBackup {backup}";
        Take { backup: String } => "begin CassandraBackup {backup}";
        Discard { backup: String } => "record that what is left of CassandraBackup {backup} is discarded";
        Release { backup: String } => "record that CassandraBackup {backup} has ended";
        Order { backup: String, member: MemberName } => "start the next step of CassandraBackup {backup} on member {member}";
        Create { backup: String, schedule: String } => "create CassandraBackup {backup} of CassandraBackupSchedule {schedule}";
        ReportSchedule { schedule: String } => "update the status of CassandraBackupSchedule {schedule}";
        Delete { backup: String } => "delete the object of CassandraBackup {backup}, which has ended; it stays in the store";
        Withdraw { member: MemberName } => "withdraw the order for a backup from member {member}";
    }
}

impl Stopped {
    /// As the cause says.
    pub fn of(cause: Cause, member: MemberName, why: String) -> Self {
        match cause {
            Cause::StoreUnreachable => Self::Unreachable { member, why },
            Cause::StoreUnsuited => Self::Unsuited { member, why },
            Cause::RepositoryForeign => Self::Foreign { member, why },
            Cause::RepositoryDamaged => Self::Damaged { member, why },
            Cause::EncryptionKeyMissing => Self::KeyMissing { member, why },
            Cause::NotEnoughSpace => Self::NoSpace { member, why },
            Cause::RingChanged => Self::Changed { member, why },
            Cause::ServerDown | Cause::NotForUs | Cause::Unknown => {
                Self::ServerDown { member, why }
            }
            Cause::BackupFailed
            | Cause::NotSupported
            | Cause::LoadFailed
            | Cause::RingUnsettled
            | Cause::RestoreFailed => Self::Other { member, why },
        }
    }
}
