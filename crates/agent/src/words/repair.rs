//! Why a member does not know what it has to repair.

use palladion_api::ids::StaticAddress;

palladion_api::sentences! {
    /// Why a member does not know what it has to repair, or what was repaired.
    pub enum Unclear {
        NoRing => "the server does not report all members of its ring";
        Moves { address: StaticAddress } => "{address} is joining, leaving or moving";
        OtherRing => "other members are in the ring than at the beginning";
        Changed => "the ring or its schema has changed since the repair began";
        Beginning => "the agent restarted in the middle of the repair, and does not know when it began";
        OtherCopies { keyspace: String } => "the replication of keyspace {keyspace} has changed since the repair began";
        Schema { why: String } => "cannot read tables and their `gc_grace_seconds` over CQL: {why}";
        Server { why: String } => "cannot read the ranges of the server: {why}";
        Token { token: String } => "`{token}` is not a token of Murmur3Partitioner, the only partitioner whose ranges are repaired by `scope: Due`";
    }
}

impl Unclear {
    /// May it be clear by itself with another look?
    pub fn passes(&self) -> bool {
        match self {
            Self::NoRing | Self::Schema { .. } | Self::Server { .. } => true,
            Self::Moves { .. }
            | Self::OtherRing
            | Self::Changed
            | Self::Beginning
            | Self::OtherCopies { .. }
            | Self::Token { .. } => false,
        }
    }
}
