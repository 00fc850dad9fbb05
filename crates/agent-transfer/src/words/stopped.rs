//! Why a transfer has stopped, and the next step.

use palladion_api::words::{Names, Quoted, Several};
use palladion_backup::Trouble;
use palladion_backup::schema::{NotChosen, Unread};
use palladion_backup::words::trouble::{Unsealed, Wrong};
use serde::{Deserialize, Serialize};

palladion_api::sentences! {
    /// Why a transfer has stopped.
    pub enum Stopped {
        Settings { why: String } => "cannot read the settings of the transfer: {why}; restart the agent of this member with the operator's version";
        Tag { tag: Quoted } => "{tag} is not the tag of a backup's snapshot; restart the agent of this member with the operator's version";
        Opening { why: String } => "{why}";
        NoCredentials { store: String } => "{store} needs credentials, and none are mounted; create their Secret";
        /// Credentials go to no store that they were not given for.
        OtherSecret { ordered: Quoted, mounted: Quoted } => "the pod has not mounted Secret {ordered} yet, and the credentials of {mounted} are for another store; the rollout that mounts it comes by itself";
        /// The Secret is mounted optionally, so a pod starts without it.
        NoKeys { why: String } => "cannot seal: {why}; add the key to its Secret, the transfer then goes on by itself";
        Backup { why: Trouble } => "{why}";
        NotWhole { tag: String } => "snapshot {tag} lacks tables that it had when it was taken: somebody has cleared a part of it; take the backup again";
        NotWholeTable { tag: String, table: String, file: String } => "snapshot {tag} lacks {file} of table {table}: somebody has cleared a part of it; take the backup again";
        Unnoted { tag: String } => "it is not noted on the volume which tables snapshot {tag} had when it was taken; take the backup again";
        NoSnapshot { tag: String } => "there is no snapshot {tag} in the data directories; take the backup again";
        Listing { path: String, why: String } => "cannot list the snapshot in {path}: {why}";
        Stranger { path: String } => "{path} is no component of an SSTable; what is not known is not left out of a backup: move it away, then take the backup again";
        NotInManifest { path: String, file: String } => "snapshot {path} has {file}, which its manifest.json does not name; take the backup again";
        NotThere { path: String, file: String } => "the manifest.json of snapshot {path} names {file}, which is not there: somebody has cleared a part of it; take the backup again";
        File { file: String, why: Unsent } => "cannot send {file}: {why}";
        Reading { file: String, why: String } => "cannot read {file}: {why}";
        Digest { file: String } => "{file} is not a checksum; scrub the table, then take the backup again";
        Volume { why: String } => "cannot tell how much of the volume is free: {why}";
        Journal { path: String, why: String } => "cannot keep the journal {path}: {why}";
        /// Nothing may be listed anew: a file that was removed as sent would be missing.
        JournalDamaged { path: String, line: u64 } => "line {line} of the journal {path} cannot be read, so it is not known what was sent; abort the backup and take another one";
        /// As the agent says it of its server.
        ServerDown { why: String } => "the server of this member cannot be asked: {why}; the transfer goes on when it answers";
        NotServing => "the server of this member is not running as a full member of the ring; the transfer goes on when it is";
        RingChanged { ordered: Names, found: Names } => "the backup has manifests of the members {ordered}, but the normal members of the ring are {found}; take the backup again when no member joins or leaves";
        OtherTokensNow => "the ring has other tokens than when the schema of the backup was written: a member has joined, left or was removed since; take the backup again when no member joins or leaves";
        OtherSchemaNow => "a member was lost after the schema of the backup was written, and the schema is another one by now, so it is not known whether the other members have a majority of the replicas of each range; take the backup again";
        Snapshotted { tag: String } => "snapshot {tag} already exists, from an earlier try of which it is not known when it was taken; take another one";
        Snapshot { tag: String, why: String } => "the server could not take snapshot {tag}: {why}; take another one";
        SnapshotLost { tag: String, why: String } => "snapshot {tag} is taken, but the server did not say how it sees its ring after that: {why}; take another one";
        Described { why: String } => "the server could not describe its schema: {why}; the transfer is tried again";
        NoChild { why: String } => "cannot start the process that moves the bytes: {why}; it is tried again";
        Crashed => "the process that moves the bytes ended without saying how, as when it is killed for its memory; it is tried again";
        OtherJournal { path: String } => "the journal {path} is of another transfer; abort that one first";
        /// What a restore cannot read.
        Restore { why: Trouble } => "{why}";
        SchemaUnread { why: Unread } => "cannot read the schema of the backup: {why}";
        NotChosen { why: NotChosen } => "{why}";
        /// Its schema shows them all the same.
        NotTaken { keyspaces: Names, has: Names } => "the backup does not have {keyspaces}: it was taken of {has} only; name in spec.tables what it has, or use another backup";
        RingNotTaken { keyspaces: Names, has: Names } => "a ring begins with a backup of all its keyspaces, and this one was taken of {has} only, without {keyspaces}; use another backup, or load its tables into a ring that runs (mode: Tables); where system_auth alone is missing, auth: Keep begins without its roles";
        /// Earlier versions did not note which keyspaces they took.
        NotKnownTaken { keyspaces: Names } => "the backup has no file of {keyspaces}, and was taken by a version of Palladion that did not note whether these were empty or left out; use another backup, or restore other tables of it by their names (mode: Tables); where it is system_auth alone, a ring begins without its roles with auth: Keep";
        TooManyTables { tables: u64, most: u64 } => "the restore is of {tables} tables, and one restore takes at most {most}; name fewer keyspaces or tables in spec.tables, and restore the others with another CassandraRestore";
        RingOfTooManyTables { tables: u64, most: u64 } => "the backup has {tables} tables, and a ring begins with at most {most}; load them into a ring that runs, some at a time (mode: Tables)";
        Scratch { path: String, why: String } => "cannot write {path} on the volume: {why}; the restore tries again";
        /// What a restore asks of the server.
        RestoreRoom { free: u64, least: u64 } => "{free} % of the volume is free, and a restore needs {least} % for what it fetches; grow the volume, or delete snapshots; the load goes on by itself";
        Unsettled { members: Several<Unsettled> } => "nothing is loaded while the ring changes, because rows could miss a member: {members}; the load goes on when every member is up and none joins, leaves or moves";
        NoTable { table: String } => "the ring has no table {table}, into which rows are to be loaded; create it again as it was, or delete the CassandraRestore";
        NotLoaded { table: String, why: String } => "the server could not load SSTables into table {table}: {why}; they are loaded again";
        LeftOut { table: String, sent: u64, least: u64 } => "the server has left out SSTables of table {table}: it has sent {sent} bytes of them to their replicas instead of {least} or more; its log says why (`Skipping file`); they are loaded again";
        RingSchemaUnread { why: Unread } => "cannot read the schema of the ring: {why}";
        /// By what the server says it is final.
        StatementRefused { about: String, why: String } => "the server refuses to create or alter {about}: {why}; correct what it names, then begin another restore";
        StatementFailed { about: String, why: String } => "the server could not create or alter {about}: {why}; it is tried again";
        Missing { about: String } => "{about} is still to be created or altered, although the server has done it; somebody else may be changing the schema; it is tried again";
        OtherTableId { table: String, found: String, expected: String } => "table {table} has the ID {found} in this ring and {expected} in the backup, so no commit log of the backup can be replayed into it; delete the ring, and begin again with a new one";
        Differs { table: String, why: String } => "files of the backup cannot be loaded into table {table}: {why}; restore to another table, or drop this one";
        IndexThere { table: String, index: String } => "table {table} has the storage-attached index {index}, beside which rows cannot be loaded; drop it, and begin another restore";
        NotRestored { table: String } => "table {table} is to be truncated, and is none of those that are restored; restart the operator with the version of the agents, and begin another restore";
        NewerLine { found: String, own: String } => "the backup was taken with Cassandra {found}, and this ring runs {own}, which cannot read its files; restore it into a ring of that version";
        SharedToken { token: String, first: String, second: String } => "the backup cannot become a ring: its members {first} and {second} both have token {token}; restore tables of it into a ring that exists (`mode: Tables`)";
        NoTokens { member: String } => "the backup cannot become a ring: the manifest of its member {member} names no tokens; restore tables of it into a ring that exists (`mode: Tables`)";
        HasStarted => "a server has been started on this volume, which keeps the tokens that it has; nothing is noted";
        OtherTokens { own: String, source: String } => "the tokens of this member (hash {own}) are not those of the member of the backup whose files it is to take (hash {source}), so nothing is placed; begin another restore into a ring that does not exist yet";
        Misplaced { table: String, sstable: String } => "the server has left out {sstable} of table {table}, which was placed in its data directory; its log says why; it is placed again";
        NoFolder { table: String, folder: String } => "the server has no data directory {folder} for table {table}; the load tries again";
        AppearedMeanwhile { about: String } => "{about} was not there when the restore began, and somebody else has created it since; begin another restore";
        NotAgreed => "not all members know the tables that were created yet; the restore goes on when they agree on the schema";
        NoSnapshotBefore { tag: String, why: String } => "cannot take snapshot {tag} of the tables that are to be truncated: {why}; nothing is truncated, and it is tried again";
        CommitLog { path: String, why: String } => "cannot read the commit log in {path}: {why}; the archive goes on when it can";
        Unreached { member: String, why: String } => "the commit log of member {member} of the backup cannot be replayed: {why}";
        NotLooked => "the server of this member runs, but does not answer as a full member of the ring; the archive goes on when it does";
        TruncatedIn { segment: i64 } => "segment {segment} of the commit log may hold rows from before a table was truncated, so the archive begins after it, when the segment is full; a restart of the member closes it sooner";
        TruncationUnread { table: String } => "the server says in an unknown form where in the commit log table {table} was truncated; update the operator to a version that knows this version of Cassandra";
        NoSegment { file: String } => "the archive names {file}, which cannot be a segment of a commit log; restore to the time of the backup, without `pointInTime`";
        Undrained => "the server of this member could not be drained before the start in which it replays; it is stopped once more";
        NotRewound => "the server of this member has ended in its start for the replay, and has started without it; it is started once more, and its log says why";
        StartEnds { tries: u32 } => "the server of this member was stopped {tries} times to be started for the replay, and did not come to it; its log says why; restore without `pointInTime`, or from another backup";
        NotReplayed { file: String, why: String } => "the server could not replay {file}: {why}; it is tried again";
        ReplayEnds { file: String, tries: u32 } => "the server of this member has ended {tries} times while it replayed {file}, and its log says why; restore to an earlier time, or without `pointInTime`";
        LoadJournal { path: String, why: String } => "cannot note in {path} what is loaded: {why}; the load tries again";
    }

    /// How a member keeps rows from being loaded.
    pub enum Unsettled {
        Down { member: String } => "member {member} is down";
        Joins { member: String } => "member {member} joins";
        Leaves { member: String } => "member {member} leaves";
        Moves { member: String } => "member {member} moves";
        Unknown { member: String } => "the state of member {member} is not known";
    }

    /// Why a batch cannot be loaded.
    pub enum Unfetched {
        Folders { found: u64, sstables: u64 } => "{found} folders are there, and {sstables} SSTables were fetched; they are fetched again";
    }

    /// Why an SSTable cannot be placed.
    pub enum Unplaced {
        NoData => "a file with rows is missing among what was fetched";
        Numbers => "no number is left under which SSTables could be placed in its data directory; restart the server of this member";
    }

    /// Why a file of a batch is not there.
    pub enum Unwritten {
        Create { path: String, why: String } => "cannot create {path}: {why}";
        Write { path: String, why: String } => "cannot write {path}: {why}";
    }

    /// Why a file cannot be sent.
    pub enum Unsent {
        Gone => "it is gone: somebody has cleared the snapshot, or its time to live has passed; take the backup again";
        Changed => "it is no longer the file that was listed; take the backup again";
        Failed { why: String } => "{why}";
    }
}

/// By what the operator sorts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    /// The store does not answer, or refuses: it is tried again.
    StoreUnreachable,
    /// It overwrites what it should only create.
    StoreUnsuited,
    /// Another ring's.
    RepositoryForeign,
    /// An object is not what was written.
    RepositoryDamaged,
    /// A key, or a credential, is not there.
    EncryptionKeyMissing,
    /// The volume is too full.
    NotEnoughSpace,
    /// It cannot become complete any more.
    BackupFailed,
    /// The server does not answer: it is tried again. The agent says it.
    ServerDown,
    /// The ring is not what was told. The agent says it.
    RingChanged,
    /// The server has not taken what was fetched: it is tried again. The agent says it.
    LoadFailed,
    /// A member joins, leaves or is down, so rows would miss it: it is tried again. The agent says it.
    RingUnsettled,
    /// The server refuses for good, or the backup does not have what is restored. The agent says it.
    RestoreFailed,
    /// What was told cannot be done by this version.
    Refused,
}

impl Stopped {
    /// By what the operator sorts it.
    pub fn cause(&self) -> Cause {
        match self {
            Self::Settings { .. } | Self::Tag { .. } | Self::NoChild { .. } | Self::Crashed => {
                Cause::Refused
            }
            Self::ServerDown { .. }
            | Self::NotServing
            | Self::CommitLog { .. }
            | Self::NotLooked
            | Self::TruncatedIn { .. }
            | Self::TruncationUnread { .. }
            | Self::Described { .. } => Cause::ServerDown,
            Self::RingChanged { .. } | Self::OtherTokensNow | Self::OtherSchemaNow => {
                Cause::RingChanged
            }
            Self::Opening { .. } | Self::NoCredentials { .. } | Self::OtherSecret { .. } => {
                Cause::StoreUnreachable
            }
            Self::NoKeys { .. } => Cause::EncryptionKeyMissing,
            Self::Backup { why } => of(why),
            Self::Restore { why: Trouble::Target { .. } | Trouble::NoRoom { .. } }
            | Self::Scratch { .. }
            | Self::RestoreRoom { .. }
            | Self::NoTable { .. }
            | Self::NotLoaded { .. }
            | Self::LeftOut { .. }
            | Self::Misplaced { .. }
            | Self::NoFolder { .. }
            | Self::Undrained
            | Self::NotRewound
            | Self::NotReplayed { .. }
            | Self::LoadJournal { .. } => Cause::LoadFailed,
            Self::Unsettled { .. } | Self::NotAgreed => Cause::RingUnsettled,
            Self::StatementFailed { .. } | Self::Missing { .. } | Self::NoSnapshotBefore { .. } => {
                Cause::ServerDown
            }
            Self::StatementRefused { .. }
            | Self::OtherTableId { .. }
            | Self::Differs { .. }
            | Self::IndexThere { .. }
            | Self::NotRestored { .. }
            | Self::NewerLine { .. }
            | Self::NotTaken { .. }
            | Self::RingNotTaken { .. }
            | Self::NotKnownTaken { .. }
            | Self::AppearedMeanwhile { .. }
            | Self::SharedToken { .. }
            | Self::NoTokens { .. }
            | Self::HasStarted
            | Self::Unreached { .. }
            | Self::NoSegment { .. }
            | Self::ReplayEnds { .. }
            | Self::StartEnds { .. }
            | Self::OtherTokens { .. }
            | Self::RingSchemaUnread { .. } => Cause::RestoreFailed,
            Self::Restore { why } => match of(why) {
                Cause::BackupFailed => Cause::RestoreFailed,
                other => other,
            },
            Self::SchemaUnread { .. }
            | Self::NotChosen { .. }
            | Self::TooManyTables { .. }
            | Self::RingOfTooManyTables { .. } => Cause::RestoreFailed,
            Self::NoSnapshot { .. }
            | Self::NotWhole { .. }
            | Self::NotWholeTable { .. }
            | Self::Unnoted { .. }
            | Self::Snapshotted { .. }
            | Self::Snapshot { .. }
            | Self::SnapshotLost { .. }
            | Self::Stranger { .. }
            | Self::NotInManifest { .. }
            | Self::NotThere { .. }
            | Self::File { .. }
            | Self::Reading { .. }
            | Self::Digest { .. }
            | Self::Listing { .. }
            | Self::Volume { .. }
            | Self::Journal { .. }
            | Self::JournalDamaged { .. }
            | Self::OtherJournal { .. } => Cause::BackupFailed,
        }
    }
}

fn of(trouble: &Trouble) -> Cause {
    match trouble {
        Trouble::Store { .. } | Trouble::Undeletable { .. } | Trouble::NoRepository => {
            Cause::StoreUnreachable
        }
        Trouble::Unsuited => Cause::StoreUnsuited,
        Trouble::Foreign { .. } => Cause::RepositoryForeign,
        Trouble::KeysMissing
        | Trouble::KeyOfBackup { .. }
        | Trouble::Object { wrong: Wrong::Sealed { why: Unsealed::KeyMissing { .. } }, .. }
        | Trouble::Damaged { wrong: Wrong::Sealed { why: Unsealed::KeyMissing { .. } }, .. }
        | Trouble::DamageUnread {
            wrong: Wrong::Sealed { why: Unsealed::KeyMissing { .. } }, ..
        }
        | Trouble::EntryUnread {
            wrong: Wrong::Sealed { why: Unsealed::KeyMissing { .. } }, ..
        } => Cause::EncryptionKeyMissing,
        Trouble::Object { .. }
        | Trouble::EntryUnread { .. }
        | Trouble::DamageUnread { .. }
        | Trouble::Damaged { .. } => Cause::RepositoryDamaged,
        Trouble::NoSpace { .. } => Cause::NotEnoughSpace,
        Trouble::NotSealed | Trouble::OtherFormat { .. } => Cause::Refused,
        Trouble::Taken { .. }
        | Trouble::NoBackup { .. }
        | Trouble::NotComplete { .. }
        | Trouble::Condemned { .. }
        | Trouble::HasFailed { .. }
        | Trouble::OtherOutcome { .. }
        | Trouble::UnderWay { .. }
        | Trouble::Pinned { .. }
        | Trouble::KeepsTooFew { .. }
        | Trouble::KeepsTooFewOf { .. }
        | Trouble::KeepsTooFewOfAll { .. }
        | Trouble::KeepsTooFewWhole { .. }
        | Trouble::KeepsTooFewSound { .. }
        | Trouble::AlreadyCondemned { .. }
        | Trouble::Raced { .. }
        | Trouble::Uncovered { .. }
        | Trouble::NotOfMember { .. }
        | Trouble::Source { .. }
        | Trouble::Unnoted { .. }
        | Trouble::Rotten { .. }
        | Trouble::Document { .. }
        | Trouble::OtherManifest { .. }
        | Trouble::NoMember { .. }
        | Trouble::Unloadable { .. }
        | Trouble::NoRoom { .. }
        | Trouble::Target { .. } => Cause::BackupFailed,
    }
}

impl From<Trouble> for Stopped {
    fn from(why: Trouble) -> Self {
        Self::Backup { why }
    }
}
