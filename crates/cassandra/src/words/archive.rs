//! The archive of the commit logs: what a person should look at, and what is done.

use jiff::Timestamp;
use palladion_api::ids::MemberName;

palladion_plan::sentences! {
    /// What a person should look at.
    pub enum Trouble {
        Behind { member: MemberName, until: Timestamp } => ArchiveBehind,
            "the commit log of member {member} is archived until {until} only, which is more than twice `spec.backup.archive.maxLossSeconds` ago; look at the log of its agent";
        BehindWhy { member: MemberName, until: Timestamp, why: String } => ArchiveBehind,
            "the commit log of member {member} is archived until {until} only, which is more than twice `spec.backup.archive.maxLossSeconds` ago: {why}";
        NotBegun { member: MemberName, why: String } => ArchiveBehind,
            "nothing of the commit log of member {member} is archived: {why}";
        Gap { member: MemberName, at: Timestamp, why: String } => ArchiveGap,
            "the archive of member {member} was not continued after {at}: {why}; it has begun again, so take a backup to restore to a point in time from then on";
        GapStays { member: MemberName, at: Timestamp, why: String, waits: String } => ArchiveGap,
            "the archive of member {member} was not continued after {at}: {why}; it has not begun again: {waits}";
        NoBase => ArchiveGap,
            "no complete backup of all keyspaces is of the members and the schema that the ring has now and was begun a minute or more after the archives of all members; take a backup to restore to a point in time from then on";
    }

    /// Steps.
    pub enum Doing {
        Set { member: MemberName } => "set the archive of the commit log of member {member}";
        Withdraw { member: MemberName } => "end the archive of the commit log of member {member}";
    }
}
