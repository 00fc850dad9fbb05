//! The ledger: what every member of a service notes ([`palladion_agent_core::service::ledger`]),
//! and what a node of RabbitMQ has besides.

use crate::volume::data::Kind;
use palladion_agent_core::service::ledger::{self, Own};
pub use palladion_agent_core::service::ledger::{Ban, End, Membership, Start};
use palladion_api::rabbitmq::NodeName;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The ledger of a node of RabbitMQ.
pub type Ledger = ledger::Ledger<Broker>;

/// What only a node of RabbitMQ notes.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Broker {
    /// Name of the node, for the life of the volume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_name: Option<NodeName>,
    /// How far the node of this volume has come that started by permit.
    #[serde(default, skip_serializing_if = "Entered::is_not")]
    pub entered: Entered,
    /// Was its application stopped, with its virtual machine alive?
    #[serde(default, skip_serializing_if = "App::runs")]
    pub app: App,
    /// Parts of its data that were there when it served last: none of them may be gone.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub parts: BTreeSet<Kind>,
}

/// Whether the node of a volume is in its cluster.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub enum Entered {
    /// It starts closed for clients; nothing on it counts.
    #[default]
    No,
    /// The same, but it has asked to be taken in, so that the others may name it, and may need
    /// what it has: noted before it asks.
    Asked,
    /// It has joined, or was set up as the first: from here on it votes, and starts open.
    Yes,
}

impl Entered {
    fn is_not(&self) -> bool {
        *self == Entered::No
    }
}

/// Whether the application of a node was stopped by intent.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub enum App {
    /// It runs with its virtual machine.
    #[default]
    Runs,
    /// Noted before it is stopped, and until it was started again.
    Stopped,
}

impl App {
    fn runs(&self) -> bool {
        *self == App::Runs
    }
}

impl Own for Broker {
    type Id = NodeName;

    fn name(&mut self, id: NodeName) {
        // A later permit begins again, with nothing of what was before.
        *self = Self { node_name: Some(id), ..Self::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_noted_of_a_node_is_read_again() {
        let mut ledger = Ledger::new("v1".into(), None);
        let blank = json!(ledger);
        assert!(blank.get("app").is_none() && blank.get("entered").is_none(), "{blank}");
        ledger.own.name(NodeName::new("rabbit@a"));
        (ledger.entered, ledger.app) = (Entered::Yes, App::Stopped);
        ledger.parts = [Kind::Quorum].into();
        let text = json!(ledger);
        assert_eq!((&text["app"], &text["parts"]), (&json!("stopped"), &json!(["quorum"])));
        assert_eq!(serde_json::from_value::<Ledger>(text).unwrap(), ledger);
    }
}
