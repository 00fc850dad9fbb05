//! Change data capture: what a person should look at.

use super::leave::{Bytes, GiveUpChanges};
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
        Stranded { member: MemberName, segments: Count, bytes: Bytes, command: GiveUpChanges } => CdcLagging,
            "`cdc.mode` is Off, and readers have not read {segments} of member {member} (about {bytes}); add a sidecar with `cdc: ReadWrite` that reads and deletes them, or let them stay unread: {command}";
        Crowded { member: MemberName, bytes: Bytes, total: Bytes } => CdcFull,
            "`cdc.totalSpace` of {total} is used up on member {member} (about {bytes}), and its reader keeps up: the server holds segments of its commit log until it has flushed all tables; run `nodetool flush` there, or set a larger `cdc.totalSpace`";
        Unread { member: MemberName } => CdcLagging,
            "the agent of member {member} cannot read which changes wait for readers; look at its log";
        Blocks { member: MemberName, segments: Count, total: Bytes } => CdcFull,
            "member {member} refuses writes to tables with `cdc = true`, or is about to: {segments} unread, and `cdc.totalSpace` of {total} is used up; start its reader";
        Drops { member: MemberName, segments: Count, total: Bytes } => CdcFull,
            "the server of member {member} deletes changes that nobody has read: {segments} unread, and `cdc.totalSpace` of {total} is used up; start its reader";
    }
}
