//! Change data capture: what a person should look at.

use super::leave::Bytes;
use jiff::Timestamp;
use palladion_api::ids::MemberName;
use palladion_plan::words::Count;

palladion_plan::sentences! {
    /// What a person should look at.
    pub enum Trouble {
        Lagging { member: MemberName, segments: Count, bytes: Bytes, total: Bytes } => CdcLagging,
            "readers of changes lag behind on member {member}: {segments} unread, and about {bytes} of {total} are used; look at the log of the sidecar that reads them";
        LaggingSince { member: MemberName, segments: Count, bytes: Bytes, total: Bytes, since: Timestamp } => CdcLagging,
            "readers of changes lag behind on member {member}: {segments} unread, the oldest since {since}, and about {bytes} of {total} are used; look at the log of the sidecar that reads them";
        Unread { member: MemberName } => CdcLagging,
            "the agent of member {member} cannot read which changes wait for readers; look at its log";
        Blocks { member: MemberName, segments: Count, total: Bytes } => CdcFull,
            "member {member} refuses writes to tables with `cdc = true`: {segments} unread, and `cdc.totalSpace` of {total} is used up; start its reader";
        Drops { member: MemberName, segments: Count, total: Bytes } => CdcFull,
            "the server of member {member} deletes changes that nobody has read: {segments} unread, and `cdc.totalSpace` of {total} is used up; start its reader";
    }
}
