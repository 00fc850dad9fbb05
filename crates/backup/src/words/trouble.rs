//! Why something could not be done with a repository, and the next step.

use palladion_api::words::{Names, Quoted};

palladion_api::sentences! {
    /// Why an object cannot be opened.
    pub enum Unsealed {
        NotSealed => "it is not sealed, as all objects of this repository are";
        KeyMissing { fingerprint: String } => "it is sealed with key {fingerprint}, which is not among the keys";
        Changed => "it is not what was sealed under this name: changed, cut off, or moved";
        Cipher => "the cipher failed";
    }

    /// What is wrong with an object that exists or is listed.
    pub enum Wrong {
        /// It is listed, and a read of it answers that there is none.
        Gone => "the store lists it, but answers 404 when it is read: it is gone, or not there yet";
        Sealed { why: Unsealed } => "{why}";
        Unsealed => "it is sealed, but the repository is not";
        Torn { why: String } => "it cannot be read: {why}";
        Size { stored: u64, expected: u64 } => "it has {stored} bytes instead of {expected}";
        Hash => "its SHA-256 is not that of the manifest";
        Absent => "there is no such object";
        Condemned { entry: u64 } => "it is condemned by entry {entry}, and is deleted soon";
        /// Whoever found it damaged has noted it.
        Noted { note: String } => "it was found damaged before ({note})";
    }

    /// What was tried, and why it failed.
    pub enum Trouble {
        Store { doing: String, name: String, why: String } => "cannot {doing} object {name}: {why}";
        /// A right is missing: it does not come by itself.
        Undeletable { name: String, why: String } => "cannot delete object {name}: {why}";
        Object { name: String, wrong: Wrong } => "object {name}: {wrong}";
        /// Somebody else wrote another object under the name.
        Taken { name: String } => "object {name} exists with other content; another process has written it";
        NoRepository => "there is no repository.json here: this is not a repository of backups, or its volume is not mounted";
        OtherFormat { format: u32 } => "the repository has format {format}, which this version does not know; use a newer palladion";
        Foreign { found: String, expected: String } => "the repository is {found}, not {expected}; nothing was written";
        Unsuited => "the store overwrites objects instead of refusing to create them twice; use a store, or a version of it, that honours conditional writes";
        KeyOfBackup { id: String, fingerprint: String } => "backup {id} is sealed with key {fingerprint}, which is not among the keys; add that key again, or expire the backup";
        NoSpace { free: u64, least: u64 } => "{free} % of the volume is free, and a backup needs {least} %; grow the volume or delete snapshots, then take the backup again";
        KeysMissing => "the repository is sealed, and no key was given; give the directory of its keys (--keys)";
        NotSealed => "keys were given, but the repository is not sealed; leave the keys out if that is right";
        NoBackup { id: Quoted } => "there is no backup {id} in this repository";
        NotComplete { id: String, state: String } => "backup {id} is {state}; only a complete one can be read";
        Condemned { id: String, entry: u64 } => "backup {id} is condemned by entry {entry}: its objects are deleted, or will be; use another backup";
        HasFailed { id: String, why: String } => "backup {id} has failed: {why}; take another one";
        OtherOutcome { id: String } => "backup {id} was completed with another manifest";
        UnderWay { id: String, hours: i64 } => "backup {id} is under way: its newest manifest is {hours} h old; try again when it has ended, or 24 h after its newest manifest";
        Pinned { id: String, holder: String } => "backup {id} is read by {holder}; try again when that has ended, or 7 days after its last renewal";
        KeepsTooFew { left: u64, keep: u64 } => "{left} complete backups would be left, and {keep} must stay; name fewer, or lower --keep";
        /// Those that stay are of other keyspaces.
        KeepsTooFewOf { id: String, keyspaces: Names, left: u64, keep: u64 } => "of the complete backups that would be left, {left} have all that backup {id} has, and {keep} must; others lack {keyspaces}; take a backup of all keyspaces first, or expire another one";
        /// Those that stay have left members out.
        KeepsTooFewOfAll { id: String, left: u64, keep: u64 } => "of the complete backups that would be left, {left} have the data of all members of the ring, as backup {id} has, and {keep} must; take a backup of all members first, or expire another one";
        /// Nobody can say which keyspaces go with it.
        KeepsTooFewWhole { id: String, left: u64, keep: u64 } => "backup {id} cannot be read, so it is not known which keyspaces it has; {left} complete backups of all keyspaces would be left, and {keep} must stay; take a backup of all keyspaces first, or expire another one";
        /// Some of those that stay are damaged, and take the place of none.
        KeepsTooFewSound { id: String, left: u64, keep: u64, damaged: Names } => "without backup {id}, {left} complete backups would be left that can take its place, and {keep} must stay; {damaged} cannot, as objects of theirs are damaged; take another backup first, which sends these again";
        AlreadyCondemned { id: String, entry: u64 } => "backup {id} is condemned already, by entry {entry}";
        Raced { entry: u64 } => "another expiry has written entry {entry} meanwhile; nothing was condemned; look at the plan again";
        /// A list of what is to be deleted cannot be read, so nobody knows what it names.
        EntryUnread { name: String, wrong: Wrong } => "cannot read {name}, so it is not known what it condemns: {wrong}; bring the object back from another version or copy of the store, or give its key";
        /// A note of damage cannot be read, so nobody knows what it names.
        DamageUnread { name: String, wrong: Wrong } => "cannot read {name}, so it is not known which objects it names as damaged: {wrong}; bring the object back from another version or copy of the store, or give its key; if it is lost, delete it, and verify each backup with --read";
        Uncovered { missing: Missing } => "the manifests do not cover the ring: {missing}";
        NotOfMember { host: String, why: Unfit } => "the manifest of member {host} does not fit: {why}";
        Source { file: String, why: String } => "cannot read {file} of the snapshot: {why}";
        Unnoted { file: String, why: String } => "cannot note that a piece of {file} is sent: {why}";
        Rotten { file: String, expected: u32, found: u32 } => "{file} does not match its Digest.crc32 ({found} instead of {expected}): the file has rotted on the member's volume; scrub or replace it, then take the backup again";
        Document { name: String, why: String } => "cannot write {name} as JSON: {why}";
        Target { why: String } => "{why}";
        OtherManifest { id: String, found: String, expected: String } => "the manifest of backup {id} has the SHA-256 {found}, not {expected}: it is not the backup that the restore began with; begin another restore";
        NoMember { id: String, host: String } => "backup {id} has no member {host}; begin another restore";
        Damaged { file: String, object: String, wrong: Wrong } => "cannot restore {file}, object {object}: {wrong}; restore from another backup";
        NoRoom { file: String, bytes: u64, room: u64 } => "SSTable {file} has {bytes} bytes, and a restore may use {room} bytes of the volume now; grow the volume or delete snapshots, the load then goes on by itself";
        Unloadable { file: String, why: Unloadable } => "cannot restore SSTable {file}: {why}; restore from another backup";
    }

    /// Why a server would leave an SSTable out.
    pub enum Unloadable {
        Name => "its name is not a version, an ID and a format";
        NoIndex => "it has neither Index.db nor Partitions.db";
        NoData => "it has no Data.db";
    }

    /// Why the window of an archive ends: what comes after it does not follow what is archived.
    pub enum Ends {
        Missing { segment: i64 } => "segment {segment} of the commit log was gone before it was archived";
        Dropped { segment: i64 } => "segment {segment} of the commit log was dropped before it was archived: more was waiting than spec.backup.archive.maxLocal allows, or less than 5 % of the volume was free";
        Tokens => "the tokens of the member have changed";
        Truncated => "a table was truncated";
        Clock => "the clock of the member was set back";
        Restored => "a restore has loaded data, which the commit log does not hold";
        LostNote => "the note of how far the archive was is lost, as with another volume";
        Off => "the server ran without the archive";
        NotPlain => "the commit log is compressed or encrypted";
        Broken { why: String } => "{why}";
    }

    /// What the manifests of a backup do not cover.
    pub enum Missing {
        NoMembers => "the ring has no members";
        Members { hosts: Names } => "there is none of {hosts}";
        NoRanges => "the ring has no ranges";
        Ranges { keyspace: String, replicas: Names, without: Names } => "keyspace {keyspace} has a range on {replicas}, and without {without} no majority of these is left";
    }

    /// Why a manifest does not fit its member.
    pub enum Unfit {
        Other => "it is of another member, backup or repository";
        Tokens => "the member has other tokens in the ring";
        Schema => "other members have another schema";
    }

    /// Why a backup has failed.
    pub enum Failed {
        Abandoned => "there was no outcome 24 h after its newest manifest";
        Aborted => "it was aborted";
    }

    /// Why a small object is not what was written.
    pub enum Torn {
        NotText => "it is not text";
        NoDocument => "it is cut off, or not a document";
        Hash { found: String, expected: String } => "its SHA-256 is {found} instead of {expected}";
        Json { why: String } => "{why}";
        OtherBackup => "it is of another backup or repository";
        OtherMember => "it is of another member or repository, or has another number";
    }

    /// Why a manifest is not valid.
    pub enum Invalid {
        NotText => "it is not text";
        Head { why: String } => "its first lines are not those of a manifest: {why}";
        Line { line: u64, why: String } => "line {line}: {why}";
        NoEnd => "its last line is missing: it is cut off";
        Order { line: u64 } => "line {line} is not in order, or is there twice";
        Name { line: u64, name: Quoted } => "line {line}: {name} is not a valid name";
        Pieces { line: u64 } => "line {line}: its pieces are not the whole file";
        Elsewhere { line: u64, name: Quoted } => "line {line}: object {name} is not one of this member and SSTable";
    }
}

impl std::error::Error for Trouble {}
