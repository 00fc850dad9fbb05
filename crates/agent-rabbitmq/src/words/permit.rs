//! What became of a permit to start.

use palladion_agent_core::words::permit;
use palladion_api::rabbitmq::NodeName;

palladion_api::sentences! {
    /// Why a permit is refused. The operator quotes it after various subjects, so that no
    /// sentence says `it`.
    pub enum Refused {
        Of { why: permit::Refused } => "{why}";
        NoNodes => "the permit names no nodes to join through, so the server would start a separate cluster";
        OwnNode { node: NodeName } => "the permit names {node} as a node to join through, but that is this node";
        OtherNodeName { meant: NodeName, own: NodeName } => "the member has node name {meant}, but the ledger on this volume has {own}";
        NoRescue => "a node of RabbitMQ does not go on alone by a permit: what the lost nodes have confirmed would be gone";
    }
}

impl From<permit::Refused> for Refused {
    fn from(why: permit::Refused) -> Self {
        Self::Of { why }
    }
}
