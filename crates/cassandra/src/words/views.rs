//! Members that do not see the ring alike, and addresses that differ.

use jiff::Timestamp;
use palladion_api::ids::{MemberName, StaticAddress};
use palladion_plan::words::{Count, Names};

palladion_plan::sentences! {
    /// What members report of each other does not fit together.
    pub enum Disagreement {
        CutOff { member: MemberName, by: Names } => MembersDisagree,
            "member {member} is cut off from the ring: it is serving requests, but is down according to {by} and sees every other member as down";
        SeenDown { member: MemberName, by: Names } => MembersDisagree,
            "member {member} is serving requests, but is down according to {by}";
        SeesAnother { member: MemberName, members: Count, known: usize } => MembersDisagree,
            "member {member} sees {members} in the ring, but the operator has recorded {known}";
        Schemas { few: Names, most: Names, since: Timestamp } => SchemasDisagree,
            "members have disagreed on the schema since {since}: {few} against {most}";
        SchemasSeen { by: Names, since: Timestamp } => SchemasDisagree,
            "members have disagreed on the schema since {since}, according to {by}";
        Announces { member: MemberName, announced: StaticAddress, recorded: StaticAddress } =>
            AddressChanged,
            "member {member} advertises address {announced}, but its recorded address is {recorded}";
        ServiceHas { member: MemberName, address: StaticAddress, recorded: StaticAddress } =>
            AddressChanged,
            "the Service of member {member} has ClusterIP {address}, but the recorded address of the member is {recorded}";
        LeaverHas { member: MemberName, address: StaticAddress, recorded: StaticAddress } =>
            AddressChanged,
            "the Service of member {member}, whose leave has not ended, has ClusterIP {address}, but the ring knows the member under {recorded}: it cannot go on leaving under another address. Delete the Service, so that it is recreated with {recorded}. If another Service has that address, delete that one first, or terminate the member (`kubectl palladion terminate {member}`) and replace it (`kubectl palladion replace {member}`)";
    }

    /// The same right after a start, when news is still on its way.
    pub enum Settling {
        SeenDown { member: MemberName, by: Names } => MembersDown,
            "member {member} is serving requests; waiting for {by} to see it as up";
        SeesAnother { member: MemberName, members: Count, known: usize } => MembersDown,
            "member {member} sees {members} in the ring, but the operator has recorded {known}; waiting for its view to settle";
        Schemas { by: Names } => SchemasDisagree,
            "waiting for members to agree on the schema; they disagree according to {by}";
    }
}
