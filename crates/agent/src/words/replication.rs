//! Why the replication of a keyspace is not changed.

use palladion_api::words::Names;

palladion_api::sentences! {
    /// A strategy that knows no datacenters.
    pub enum InTheWay {
        Simple { present: String } => SimpleStrategyInTheWay,
            "it has SimpleStrategy with {present} copies, and only NetworkTopologyStrategy has copies by datacenter; while the ring has one datacenter, a task `replication` with `simpleStrategy: Convert` changes that";
    }

    /// What stands in the way of a change.
    pub enum Refused {
        NoSuchKeyspace => "it does not exist";
        NotRead { answer: String } => "its replication cannot be read: {answer}";
        Local => "every server has it for itself";
        Class { class: String } => "its strategy is {class}, which has no copies by datacenter";
        /// Its own sentence, which has a reason.
        Simple { of: InTheWay } => "{of}";
        Others { datacenters: Names } => "it has SimpleStrategy, and the ring has other datacenters ({datacenters}), which may have copies of it; change it with ALTER KEYSPACE to NetworkTopologyStrategy with all of them";
        AnotherNumber { present: String, wanted: u32 } => "it has SimpleStrategy with {present} copies, and a change to NetworkTopologyStrategy keeps their number; {wanted} were requested";
        NotKnown => "the server does not report the datacenter of each member of the ring";
        NoMembers { datacenter: String } => "the ring has no member in datacenter {datacenter}";
        TooMany { datacenter: String, copies: u32, members: u32 } => "datacenter {datacenter} cannot have {copies} copies, since it has {members} members";
        Fewer { datacenter: String, present: u32, wanted: u32 } => "it has {present} copies in datacenter {datacenter}, and {wanted} are fewer; confirm that with `lowering: Allow`";
        Unreadable { datacenter: String, found: String } => "its copies in datacenter {datacenter} are `{found}`, which is not a number";
        NoneLeft => "no datacenter would have a copy of it";
        NotDeserted { datacenter: String } => "the server sees members in datacenter {datacenter}, or does not know the datacenter of a member, so its copies there stay";
        NotAgreed => "the servers of the ring do not agree on the schema, so what it is now is not known";
        NotSettled { wanted: String } => "{wanted} was written, and the servers of the ring do not agree on the schema since, so whether it stands is not known";
        Differs { wanted: String, found: String } => "it should be {wanted} now, but is {found}; somebody else has changed it at the same time";
        /// Of one keyspace.
        SimpleKeyspace { keyspace: String, of: InTheWay } => "the replication of keyspace {keyspace} was not changed: {of}";
        Keyspace { keyspace: String, why: String } => "the replication of keyspace {keyspace} was not changed: {why}";
    }
}

impl Refused {
    /// Of this keyspace.
    pub fn of(keyspace: &str, why: &Refused) -> Self {
        let keyspace = keyspace.to_string();
        match why {
            Self::Simple { of } => Self::SimpleKeyspace { keyspace, of: of.clone() },
            why => Self::Keyspace { keyspace, why: why.to_string() },
        }
    }
}
