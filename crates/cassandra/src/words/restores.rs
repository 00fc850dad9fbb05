//! Restores: what they wait for, how they go, and how they end.

use palladion_api::backup::TransferCause as Cause;
use palladion_api::ids::MemberName;
use palladion_plan::words::{Count, Names, Several};

use super::turn::Work;

palladion_plan::sentences! {
    /// What a restore waits for that has not begun.
    pub enum Pending {
        NoStore { cluster: String } => RestorePending,
            "cluster {cluster} has no `spec.backup`, by which its pods mount the credentials of stores; set it";
        UnknownWord { field: String, word: String } => RestorePending,
            "this version of the operator does not know `{field}: {word}`; upgrade the operator, or create another restore";
        RingFirst => RestorePending,
            "waiting for the ring, which is about to change";
        NoCluster { cluster: String } => ClusterNotFound,
            "CassandraCluster {cluster} does not exist in this namespace; create it, or delete this restore and create one with the right `spec.cluster`";
        NoRing => RestorePending, "waiting for the ring to be initialized";
        Turn { member: MemberName, work: Work } => RestorePending,
            "waiting for member {member}: {work}";
        MemberDown { member: MemberName } => RestorePending,
            "waiting for member {member}, which is down: a restore begins when all members are up";
        AgentTooOld { member: MemberName, agent: String } => AgentTooOld,
            "the agent of member {member} has version {agent}, which cannot restore; roll out a newer agent";
        NoBackup { backup: String } => RestorePending,
            "CassandraBackup {backup} does not exist in this namespace; create another restore: one whose object was deleted is named by `spec.source.store`, `repositoryID` and `backupID`";
        BackupOpen { backup: String } => RestorePending,
            "waiting for CassandraBackup {backup}, which is not complete yet";
        InQueue { restore: String } => RestorePending,
            "waiting for CassandraRestore {restore}: a ring takes one restore at a time";
        Backup { backup: String } => RestorePending,
            "waiting for CassandraBackup {backup}: while a backup is taken no rows are loaded";
        Retention => RestorePending,
            "waiting for a member that condemns or deletes backups that expire; the restore begins when that is done, or cannot go on";
        RingNotNamed { cluster: String, restore: String } => RestorePending,
            "CassandraCluster {cluster} does not begin with this restore: a ring that is to be restored is created with `spec.backup.restore: {restore}`";
        Volume { member: MemberName } => RestorePending,
            "waiting for the agent of member {member} to report an empty volume";
        NoMembers { cluster: String } => RestorePending, "CassandraCluster {cluster} has no members yet";
        Paused { cluster: String } => Paused,
            "CassandraCluster {cluster} is paused: no restore begins, and one that is under way stops after the current step of its members";
        PausedEverywhere => Paused,
            "the OperatorConfig `default` pauses all clusters: no restore begins, and one that is under way stops after the current step of its members";
        NotAccepted { cluster: String } => RestorePending,
            "the spec of CassandraCluster {cluster} is not accepted: no restore begins, and one that is under way stops after the current step of its members";
    }

    /// Why a restore is refused. No table was touched.
    pub enum Refused {
        BackupFailed { backup: String } => RestoreRefused,
            "CassandraBackup {backup} has ended without being complete; restore another one";
        BackupExpires { backup: String } => RestoreRefused,
            "CassandraBackup {backup} expires, or has expired, so nothing is restored from it; restore another one";
        NoPlace => RestoreRefused,
            "`spec.source.store` is not exactly one of `s3`, `gcs`, `azure` and `volume`; create another restore";
        OtherVolume { cluster: String } => RestoreRefused,
            "the backup is on a volume, and it is not known to be the one that the pods of cluster {cluster} mount; name it by `spec.source.store.volume`, `repositoryID` and `backupID`, with the claim of `spec.backup.store.volume` of the cluster";
        NoCredentials { cluster: String } => RestoreRefused,
            "the backup is in an object store, and cluster {cluster} keeps its own backups on a volume, so its pods mount no credentials; set `spec.backup.store` of the cluster to an object store, and create another restore";
        LeftOutUnrepaired { members: Names } => RestoreRefused,
            "the backup was taken without {members} (`coverage: QuorumOfEachRange`): rows that were acknowledged at QUORUM can be read at QUORUM again only when the ring is repaired; create a restore with `repair: After`";
        NotEmpty { tables: Names } => TableNotEmpty,
            "tables have rows: {tables}; restore them under other names (`spec.tables[].to`), or create a restore with `existing: Truncate` or `existing: Merge`";
        Twice { table: String, first: String, second: String } => RestoreRefused,
            "table {table} of the backup is restored twice, as {first} and as {second}; restore it once, and again with another CassandraRestore";
        Differs { table: String, why: String } => RestoreRefused,
            "table {table} exists, and files of the backup cannot be loaded into it: {why}; restore it under another name (`spec.tables[].to`), or alter the table";
        Index { table: String, index: String } => IndexInTheWay,
            "table {table} has the index {index}, beside which rows cannot be loaded; drop it, create another restore, and create the index again when that is complete";
        MergeTooOld { table: String, seconds: u64, age: i64 } => RestoreRefused,
            "the backup was taken {age} s ago, and table {table} keeps deletions for {seconds} s (`gc_grace_seconds`): with `existing: Merge` deleted rows could come back; restore it under another name, or use `existing: Truncate`";
        RingExists { cluster: String } => RestoreRefused,
            "the ring of CassandraCluster {cluster} exists: a whole ring is restored into a new one only; create another CassandraCluster, or restore tables with `mode: Tables`";
        OtherTopology { why: String } => TopologyDiffers,
            "{why}; create the ring like that, and change it when it is restored; or create it empty and use `mode: Tables`";
        PointBeforeBackup { to: String, backup: String } => PointNotCovered,
            "`pointInTime` {to} is not behind the backup, whose snapshots were taken until {backup}; restore to a later time, or from an earlier backup";
        PointInFuture { to: String } => PointNotCovered, "`pointInTime` {to} is in the future; restore to a time that is past";
        PointNotCovered { to: String, count: usize, members: usize, which: Several<Unreached> } => PointNotCovered,
            "`pointInTime` {to} is not reached by the archived commit logs of {count} of the {members} members of the backup: {which}";
        Unnamed => RestoreRefused, "the backup has no tables to restore; `kubectl palladion backup show` lists what it has";
    }

    /// Why the archive of a member of the backup does not reach a point in time.
    pub enum Unreached {
        Journal { member: String, why: String } => "member {member}: {why}";
        LeftOut { member: String } => "member {member}: it was left out of the backup (`coverage: QuorumOfEachRange`)";
        NotRead { member: String } => "member {member}: an agent has not read its archive; make sure that all agents have the version of the operator";
    }

    /// What a ring is to be like, to take the place of one that was backed up.
    pub enum Topology {
        Datacenters { datacenters: Names } =>
            "the backup is of members in more than one datacenter ({datacenters}), and a ring of one datacenter is restored at a time";
        Datacenter { backup: String, ring: String } =>
            "the members of the backup are in datacenter {backup}, and the ring is in datacenter {ring}; map one to the other by `spec.datacenters` of the restore";
        Racks { backup: Names, ring: Names } =>
            "the members of the backup are in racks {backup}, and the ring has racks {ring}";
        Members { rack: String, backup: Count, ring: usize } =>
            "the backup has {backup} in rack {rack}, and the ring has {ring}";
        Tokens { source: String, backup: u32, ring: u32 } =>
            "member {source} of the backup has {backup} tokens, and the ring has `numTokens: {ring}`";
    }

    /// How far a restore is.
    pub enum Phase {
        Reading => RestoreStarting, "a member reads which members the backup has";
        Starting { done: usize, members: usize } => RestoreStarting,
            "members start with the tokens of the backup, closed to clients: {done} of {members} done";
        Replaying { to: String, done: usize, members: usize } => RestoreReplaying,
            "members replay what was archived since the backup, up to {to}: {done} of {members} done";
        Replicating => RestoreLoading,
            "all rows are in place; waiting for the replication of the system keyspaces, in which roles are";
        LoadingRoles { done: usize, members: usize } => RestoreLoading,
            "all rows are in place; members load roles and permissions: {done} of {members} done";
        Opening { done: usize, members: usize } => RestoreOpening,
            "all data is in place; members are started again and let clients in: {done} of {members} done";
        Repairing { done: usize, members: usize } => RestoreRepairing,
            "clients are let in; members repair what they have: {done} of {members} done";
        KeepingGrace { member: MemberName } => RestoreRepairing,
            "member {member} gives the tables their own `gc_grace_seconds` back";
        Comparing => RestoreComparing, "a member reads the backup and compares it with the ring";
        Truncates { tables: Names, nonce: String } => ConfirmationNeeded,
            "tables lose all their rows before they are restored: {tables} (all of them: `status.tables` whose state is not Absent); to confirm, set `spec.confirm` to `{nonce}`";
        Merges { tables: Names, nonce: String } => ConfirmationNeeded,
            "rows of the backup are added to tables that have rows: {tables} (all of them: `status.tables` with the state HasRows); to confirm, set `spec.confirm` to `{nonce}`";
        Creating { member: MemberName } => RestoreCreating, "member {member} creates the tables";
        Loading { done: usize, sources: usize } => RestoreLoading,
            "members load what the members of the backup had: {done} of {sources} done";
        Finishing { member: MemberName } => RestoreFinishing,
            "all rows are loaded; member {member} creates indexes and views";
        Ending { why: String } => RestoreAbandoning, "the restore is being ended; no table was changed: {why}";
        Abandoning { why: String } => RestoreAbandoning,
            "the tables get their own `gc_grace_seconds` back: {why}";
    }

    /// It is complete.
    pub enum Complete {
        Loaded { tables: usize, sstables: u64, bytes: u64 } => RestoreComplete,
            "every file of the tables was loaded: {sstables} SSTables, {bytes} bytes, tables: {tables}";
        Ring { members: usize, sstables: u64, bytes: u64 } => RestoreComplete,
            "the ring is restored and repaired: {members} members, {sstables} SSTables, {bytes} bytes";
        Rewound { to: String, members: usize, sstables: u64, bytes: u64 } => RestoreComplete,
            "the ring is restored to {to} and repaired: {members} members, {sstables} SSTables, {bytes} bytes, and the commit logs that were archived since the backup";
        RingUnrepaired { members: usize, sstables: u64, bytes: u64, seconds: u64, tables: Names } => RestoreComplete,
            "the ring is restored: {members} members, {sstables} SSTables, {bytes} bytes; members differ as far as they did in the backup until `nodetool repair --full` has run on each, and until then `gc_grace_seconds` of {tables} has to stay at {seconds}: set it back by ALTER TABLE after that (`status.tables` has the former values)";
        RingUnrepairedAsItWas { members: usize, sstables: u64, bytes: u64 } => RestoreComplete,
            "the ring is restored: {members} members, {sstables} SSTables, {bytes} bytes; members differ as far as they did in the backup until `nodetool repair --full` has run on each";
    }

    /// What a member waits for, or has failed with.
    pub enum Stopped {
        Unreachable { member: MemberName, why: String } => StoreUnreachable, "member {member}: {why}";
        Foreign { member: MemberName, why: String } => RepositoryForeign, "member {member}: {why}";
        Damaged { member: MemberName, why: String } => RepositoryDamaged, "member {member}: {why}";
        KeyMissing { member: MemberName, why: String } => EncryptionKeyMissing, "member {member}: {why}";
        NoSpace { member: MemberName, why: String } => NotEnoughSpace, "member {member}: {why}";
        Unsettled { member: MemberName, why: String } => RingUnsettled, "member {member}: {why}";
        Waits { member: MemberName, why: String } => RestorePending, "member {member}: {why}";
        Other { member: MemberName, why: String } => RestoreFailed, "member {member}: {why}";
    }

    /// A member that does not answer.
    pub enum Member {
        Down { member: MemberName } => RestorePending,
            "waiting for member {member}, which is down; the restore goes on when it is up";
        None => RestorePending,
            "waiting for a member that is up; the restore goes on then";
    }

    /// Why tables keep what was set meanwhile.
    pub enum Kept {
        NobodyUp => "no member was up for ten minutes";
        Silent { member: MemberName } => "member {member} has not answered for an hour";
        Refused { said: String } => "{said}";
    }

    /// Why it has ended otherwise.
    pub enum Failed {
        AbortedInTime => RestoreAborted, "the restore was aborted; no table was touched";
        Aborted => RestoreAborted,
            "the restore was aborted; tables that it has created or truncated have the rows that were loaded until then";
        NoStore { cluster: String } => RestoreFailed,
            "`spec.backup` was removed from CassandraCluster {cluster} while the restore was under way; set it, and create another restore";
        CoordinatorLost { member: MemberName } => RestoreFailed,
            "member {member} left the ring, or was replaced, while it created the tables; create another restore";
        PlaceLost { member: MemberName } => RestoreFailed,
            "the volume of member {member} was lost, or replaced, while the ring was being restored";
        OtherTokens { member: MemberName } => RestoreFailed,
            "member {member} has started with other tokens than the member of the backup whose place it takes";
        NoResult { member: MemberName } => RestoreFailed,
            "member {member} reports that it is done, without what it was to report; make sure that all agents have the version of the operator, and create another restore";
        OtherCount { member: MemberName, loaded: u64, sstables: u64 } => RestoreFailed,
            "member {member} reports that it has loaded {loaded} SSTables, and the backup has {sstables}; make sure that all agents have the version of the operator, and create another restore";
        Forgotten => RestoreFailed,
            "the CassandraCluster was created again, or its status was removed, while the restore was under way; compare `gc_grace_seconds` of the tables with what you want, and create another restore";
        ClusterDeleted { cluster: String } => RestoreFailed,
            "CassandraCluster {cluster} was deleted while the restore was under way; if its volumes are used again, compare `gc_grace_seconds` of the tables with what you want";
        GraceLeft { why: String, cause: String, seconds: u64, tables: Names } => RestoreFailed,
            "{why}; {cause}, so `gc_grace_seconds` is still {seconds} for {tables}: set what you want by ALTER TABLE (`status.tables` has the former values)";
    }

    /// What has happened.
    pub enum Happened {
        Begun { restore: String } => RestoreComparing, "CassandraRestore {restore} has begun";
        Complete { restore: String, said: String } => RestoreComplete, "CassandraRestore {restore} is complete: {said}";
        Failed { restore: String, said: String } => RestoreFailed, "CassandraRestore {restore} has failed: {said}";
        Aborted { restore: String, said: String } => RestoreAborted, "CassandraRestore {restore} was aborted: {said}";
        GraceLeft { restore: String, cause: String, seconds: u64, tables: Names } => RestoreFailed,
            "CassandraRestore {restore} was deleted while it was under way, and {cause}: `gc_grace_seconds` is still {seconds} for {tables}; set what you want by ALTER TABLE";
    }

    /// Steps.
    pub enum Doing {
        Report { restore: String } => "update the status of CassandraRestore {restore}";
        Take { restore: String } => "begin CassandraRestore {restore}";
        RecordGrace { restore: String } => "record the `gc_grace_seconds` of the tables of CassandraRestore {restore}";
        RecordPlaces { restore: String } => "record which member takes the place of which member of the backup of CassandraRestore {restore}";
        RecordOpen { restore: String } => "record that the ring of CassandraRestore {restore} takes clients";
        RecordRepair { restore: String } => "record that the members of the ring of CassandraRestore {restore} need a repair";
        RecordMade { restore: String } => "record that the tables of CassandraRestore {restore} are made";
        End { restore: String } => "record that CassandraRestore {restore} is being ended";
        Release { restore: String } => "record that CassandraRestore {restore} has ended";
        Order { restore: String, member: MemberName } => "start the next step of CassandraRestore {restore} on member {member}";
    }
}

impl Stopped {
    /// As the cause says.
    pub fn of(cause: Cause, member: MemberName, why: String) -> Self {
        match cause {
            Cause::StoreUnreachable | Cause::StoreUnsuited => Self::Unreachable { member, why },
            Cause::RepositoryForeign => Self::Foreign { member, why },
            Cause::RepositoryDamaged => Self::Damaged { member, why },
            Cause::EncryptionKeyMissing => Self::KeyMissing { member, why },
            Cause::NotEnoughSpace => Self::NoSpace { member, why },
            Cause::RingUnsettled => Self::Unsettled { member, why },
            Cause::ServerDown | Cause::LoadFailed | Cause::NotForUs | Cause::Unknown => {
                Self::Waits { member, why }
            }
            Cause::RestoreFailed
            | Cause::BackupFailed
            | Cause::RingChanged
            | Cause::NotSupported => Self::Other { member, why },
        }
    }
}
