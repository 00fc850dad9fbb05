//! What is worth knowing beside the answer.

use super::trouble::Wrong;
use palladion_api::words::Names;

palladion_api::sentences! {
    /// Something that was left out, and why.
    pub enum Notice {
        OutcomeUnread { id: String, wrong: Wrong } => "it is not known how backup {id} ended ({wrong}); nothing that its manifests name is deleted";
        EntryUnread { name: String, wrong: Wrong } => "cannot read {name}, so it is not known what it condemns ({wrong}); a backup shown as complete may be condemned by it";
        Damaged { name: String, objects: u64, object: String } => "{name} names damaged objects (number: {objects}), first {object}: backups that name one cannot be restored whole; the next backup sends their files again, so take one, then expire those";
        DamageUnread { name: String, wrong: Wrong } => "cannot read {name}, so it is not known which objects it names as damaged ({wrong}); a backup shown as complete may have some of them";
        LeftOut { id: String, hosts: Names } => "backup {id} was taken without {hosts} of its ring: what only they had is not in it; other members have a majority of the replicas of each range, so load what all of them have, and repair";
        Stranger { name: String } => "{name} is not an object of a repository; it is left alone";
        HostKept { host: String, id: String, wrong: Wrong } => "no object of member {host} is deleted: a manifest of backup {id} cannot be read ({wrong}); expire that backup, or bring the manifest back";
        TooYoung { entry: u64, hours: i64 } => "entry {entry} can be swept in {hours} h";
        NamedAgain { entry: u64, name: String, id: String } => "nothing of entry {entry} is deleted: backup {id} names {name}; expire that backup, or wait until it has failed";
        PinnedStill { entry: u64, id: String, holder: String } => "nothing of entry {entry} is deleted: backup {id} is read by {holder}; sweep again when that has ended";
        ListUnread { entry: u64, name: String, wrong: Wrong } => "nothing of entry {entry} is deleted: {name} cannot be read ({wrong}), so it is not known what it condemns; bring the object back from another version or copy of the store, or give its key";
        KeptUnread { entry: u64, id: String, wrong: Wrong } => "nothing of entry {entry} is deleted: a manifest of backup {id} cannot be read ({wrong}), so it is not known what it names; expire that backup, or bring the manifest back";
    }

    /// How a backup stands.
    pub enum Stands {
        Complete => "complete";
        /// Not all that it names is there.
        Damaged { objects: u64 } => "complete when it was taken, damaged now (objects: {objects})";
        Failed { why: String } => "failed: {why}";
        UnderWay => "under way";
        Condemned { entry: u64 } => "condemned by entry {entry}";
        Unknown { wrong: Wrong } => "unknown: {wrong}";
    }
}
