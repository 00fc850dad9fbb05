//! Why a transfer has stopped, and the next step.

use palladion_api::words::{Names, Quoted};
use palladion_backup::Trouble;
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
        Snapshotted { tag: String } => "snapshot {tag} already exists, from an earlier try of which it is not known when it was taken; take another one";
        Snapshot { tag: String, why: String } => "the server could not take snapshot {tag}: {why}; take another one";
        SnapshotLost { tag: String, why: String } => "snapshot {tag} is taken, but the server did not say how it sees its ring after that: {why}; take another one";
        Described { why: String } => "the server could not describe its schema: {why}; the transfer is tried again";
        NoChild { why: String } => "cannot start the process that moves the bytes: {why}; it is tried again";
        Crashed => "the process that moves the bytes ended without saying how, as when it is killed for its memory; it is tried again";
        OtherJournal { path: String } => "the journal {path} is of another transfer; abort that one first";
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
            Self::ServerDown { .. } | Self::NotServing | Self::Described { .. } => {
                Cause::ServerDown
            }
            Self::RingChanged { .. } => Cause::RingChanged,
            Self::Opening { .. } | Self::NoCredentials { .. } | Self::OtherSecret { .. } => {
                Cause::StoreUnreachable
            }
            Self::NoKeys { .. } => Cause::EncryptionKeyMissing,
            Self::Backup { why } => of(why),
            Self::NoSnapshot { .. }
            | Self::NotWhole { .. }
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
        Trouble::Store { .. } | Trouble::NoRepository => Cause::StoreUnreachable,
        Trouble::Unsuited => Cause::StoreUnsuited,
        Trouble::Foreign { .. } => Cause::RepositoryForeign,
        Trouble::KeysMissing
        | Trouble::KeyOfBackup { .. }
        | Trouble::Object { wrong: Wrong::Sealed { why: Unsealed::KeyMissing { .. } }, .. }
        | Trouble::EntryUnread {
            wrong: Wrong::Sealed { why: Unsealed::KeyMissing { .. } }, ..
        } => Cause::EncryptionKeyMissing,
        Trouble::Object { .. } | Trouble::EntryUnread { .. } => Cause::RepositoryDamaged,
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
        | Trouble::AlreadyCondemned { .. }
        | Trouble::Raced { .. }
        | Trouble::Uncovered { .. }
        | Trouble::NotOfMember { .. }
        | Trouble::Source { .. }
        | Trouble::Unnoted { .. }
        | Trouble::Rotten { .. }
        | Trouble::Document { .. }
        | Trouble::Target { .. } => Cause::BackupFailed,
    }
}

impl From<Trouble> for Stopped {
    fn from(why: Trouble) -> Self {
        Self::Backup { why }
    }
}
