//! Backups that expire: what keeps them, how they go, and what the store says to it.

use jiff::Timestamp;
use palladion_api::backup::TransferCause as Cause;
use palladion_api::ids::MemberName;

palladion_plan::sentences! {
    /// Why a backup stays that is to expire.
    pub enum Waits {
        Restore { restore: String } => ExpiryWaits,
            "the backup stays until CassandraRestore {restore} has ended, which names it";
        Newest { schedule: String } => ExpiryWaits,
            "the backup stays: it is the newest complete one of CassandraBackupSchedule {schedule}, or the newest with all members, and expires when a newer one is complete";
        BaseOfWindow { cluster: String } => ExpiryWaits,
            "the backup stays: the points in time to which cluster {cluster} can be restored begin with it (`status.pointInTime`); take another backup of all keyspaces and members, and it expires when they begin with that one";
        NoStore { cluster: String } => ExpiryWaits,
            "cluster {cluster} has no store for backups, so no member can reach the backup; set `spec.backup` of the CassandraCluster";
        OtherStore { cluster: String, id: String } => ExpiryWaits,
            "the backup is not in the repository that cluster {cluster} uses now; expire it where it is: `kubectl palladion backup expire {id} --store …`";
        Ring => ExpiryWaits,
            "the backup expires when the ring has nothing else to do: no backup and no restore may be under way, and no member may be about to change";
        NoMember => ExpiryWaits,
            "waiting for a member that is up, with an agent of this release";
        NoAnswer { member: MemberName } => ExpiryWaits,
            "member {member} has not answered what it was ordered; look at its agent";
        Later { why: String, again: Timestamp } => ExpiryWaits,
            "{why}; tried again after {again}";
    }

    /// How it goes.
    pub enum Going {
        Decided => BackupExpiring,
            "the backup is about to be condemned in the repository; nothing is restored from it any more";
        Condemned { due: Timestamp } => BackupExpiring,
            "the backup is condemned in the repository; its objects are deleted after {due}, but for those that other backups need";
        Stays { why: String, again: Timestamp } => ExpiryWaits,
            "the repository keeps the backup for now: {why}; asked again after {again}";
        NotSwept { why: String } => BackupExpiring,
            "the backup is condemned in the repository, and its objects are not deleted yet: {why}";
    }

    /// It has expired.
    pub enum Gone {
        Swept => BackupExpired,
            "the backup is deleted in the store, but for the objects that other backups need";
        Absent { id: String } => BackupExpired, "the repository has no backup {id} any more";
        NeverBegun => BackupExpired, "the backup never began, so the store has nothing of it";
    }

    /// What keeps backups from being condemned or deleted.
    pub enum Delayed {
        Vetoed { why: String, again: Timestamp } => RetentionVetoed,
            "condemned backups are not deleted: {why}; asked again after {again}";
        Refused { member: MemberName, why: String, again: Timestamp } => StoreRefused,
            "the store does not let member {member} delete what is condemned ({why}); run `kubectl palladion backup sweep` with credentials that may, or give them to the members; tried again after {again}";
        Stays { backup: String, why: String } => ExpiryWaits,
            "the repository keeps CassandraBackup {backup} for now: {why}";
        Absent { id: String } => ExpiryWaits,
            "the repository in `spec.backup.store` has no backup {id}: it is in another place, or was deleted there; delete the CassandraBackup if it is not needed";
        Elsewhere { backups: usize, first: String, cluster: String } => ExpiryWaits,
            "backups that expire are not in the repository that cluster {cluster} uses now: {backups}, CassandraBackup {first} among them; if `spec.backup.store` of the CassandraCluster is the same place under another name, set it as it was, or else expire them where they are: `kubectl palladion backup expire … --store …`";
        NoStore { first: String, cluster: String } => ExpiryWaits,
            "cluster {cluster} has no store for backups, so no member can reach CassandraBackup {first}, which is to expire; set `spec.backup` of the CassandraCluster";
        NoResult { member: MemberName } => ExpiryWaits,
            "member {member} reports that it is done, without what it was to report; make sure that all agents have the version of the operator";
    }

    /// What a member waits for, or has failed with.
    pub enum Stopped {
        Unreachable { member: MemberName, why: String } => StoreUnreachable, "member {member}: {why}";
        Unsuited { member: MemberName, why: String } => StoreUnsuited, "member {member}: {why}";
        Foreign { member: MemberName, why: String } => RepositoryForeign, "member {member}: {why}";
        Damaged { member: MemberName, why: String } => RepositoryDamaged, "member {member}: {why}";
        KeyMissing { member: MemberName, why: String } => EncryptionKeyMissing, "member {member}: {why}";
        Other { member: MemberName, why: String } => ExpiryWaits, "member {member}: {why}";
    }

    /// A schedule of backups with a retention.
    pub enum Kept {
        AsAsked => UpToDate, "backups expire as `spec.retention` says";
    }

    /// What has happened.
    pub enum Happened {
        Expiring { backup: String } => BackupExpiring,
            "CassandraBackup {backup} expires: nothing is restored from it any more, and it is deleted a day after it is condemned, or later";
        Expired { backup: String, said: String } => BackupExpired, "CassandraBackup {backup} has expired: {said}";
    }

    /// Steps.
    pub enum Doing {
        Report { backup: String } => "update the status of CassandraBackup {backup}, which is to expire";
        Take { backups: usize } => "record that backups are to be condemned: {backups}";
        TakeSweep => "record that what was condemned is to be deleted";
        Order { member: MemberName } => "start the next step of the retention of backups on member {member}";
        Note => "record what keeps backups from expiring";
        Release => "record what became of the retention of backups";
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
            Cause::NotEnoughSpace
            | Cause::RingChanged
            | Cause::ServerDown
            | Cause::NotForUs
            | Cause::BackupFailed
            | Cause::NotSupported
            | Cause::LoadFailed
            | Cause::RingUnsettled
            | Cause::RestoreFailed
            | Cause::Unknown => Self::Other { member, why },
        }
    }
}
