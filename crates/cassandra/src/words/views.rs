//! Members that do not see the ring alike, and addresses that differ.

use palladion_api::ids::{MemberName, StaticAddress};
use palladion_plan::words::Names;

palladion_plan::sentences! {
    /// What members report of each other does not fit together.
    pub enum Disagreement {
        CutOff { member: MemberName, by: Names, others: usize } => MembersDisagree,
            "member {member} is cut off: it serves, but is seen down by {by}, and sees none of the {others} other members up";
        SeenDown { member: MemberName, by: Names } => MembersDisagree,
            "member {member} serves, but is seen down by {by}";
        SeesAnother { member: MemberName, sees: u32, known: usize } => MembersDisagree,
            "member {member} sees {sees} members in the ring, and {known} are recorded";
        Announces { member: MemberName, announced: StaticAddress, recorded: StaticAddress } =>
            AddressChanged,
            "member {member} announces the address {announced}, and {recorded} is recorded";
        ServiceHas { member: MemberName, address: StaticAddress, recorded: StaticAddress } =>
            AddressChanged,
            "the Service of member {member} has the address {address}, and {recorded} is recorded";
    }

    /// The same right after a start, when news is still on its way.
    pub enum Settling {
        SeenDown { member: MemberName, by: Names } => MembersDown,
            "member {member} serves; waiting for {by} to see it up";
        SeesAnother { member: MemberName, sees: u32, known: usize } => MembersDown,
            "member {member} sees {sees} members in the ring, and {known} are recorded; waiting for its view to settle";
    }
}
