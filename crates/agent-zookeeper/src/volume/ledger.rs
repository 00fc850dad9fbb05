//! The ledger: what every member of a service notes ([`palladion_agent_core::service::ledger`]),
//! and what a server of ZooKeeper has besides.

use palladion_agent_core::service::ledger::{self, Own};
pub use palladion_agent_core::service::ledger::{Ban, End, Membership, Start};
use palladion_api::zookeeper::{ServerId, Zxid};
use serde::{Deserialize, Serialize};

/// The ledger of a server of ZooKeeper.
pub type Ledger = ledger::Ledger<Server>;

/// What only a server of ZooKeeper notes.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Server {
    /// Number of the server, for the life of the volume.
    #[serde(default, rename = "serverID", skip_serializing_if = "Option::is_none")]
    pub server_id: Option<ServerId>,
    /// Version of the configuration in which this server, once a member, is missing:
    /// noted before it is stopped, and none starts here again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing_in: Option<Zxid>,
}

impl Own for Server {
    type Id = ServerId;

    /// What was noted of the server before it says nothing of another one.
    fn name(&mut self, id: ServerId) {
        if self.server_id != Some(id) {
            self.missing_in = None;
        }
        self.server_id = Some(id);
    }
}

impl Server {
    /// The server is in no newer configuration than this.
    pub fn record_missing(&mut self, version: Zxid) {
        self.missing_in = Some(version);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// One that joins where it has left is no more the server that was taken out.
    #[test]
    fn that_a_server_was_taken_out_is_of_that_server_alone() {
        let mut server = Server { server_id: Some(ServerId::new(2)), ..Server::default() };
        server.record_missing(Zxid::new(7));
        server.name(ServerId::new(2));
        assert_eq!(server.missing_in, Some(Zxid::new(7)));
        server.name(ServerId::new(4));
        assert_eq!(server, Server { server_id: Some(ServerId::new(4)), missing_in: None });
    }

    /// A ledger that an agent of before has written is read, and the other way round.
    #[test]
    fn what_is_written_has_the_form_of_before() {
        let text = json!({
            "format": 1, "volumeID": "v1", "cluster": "zk", "serverID": 2, "address": "10.96.0.12",
            "membership": "joined", "ban": "none", "missingIn": "700000000", "counter": 3,
            "failedStarts": 0,
        });
        let ledger: Ledger = serde_json::from_value(text.clone()).unwrap();
        assert_eq!(ledger.server_id, Some(ServerId::new(2)));
        assert_eq!(json!(ledger), text);
    }
}
