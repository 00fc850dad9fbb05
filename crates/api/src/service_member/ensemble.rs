//! An ensemble of ZooKeeper as one of its servers sees it.

use crate::ids::StaticAddress;
use crate::zookeeper::{ServerId, Zxid};
use serde::{Deserialize, Serialize};

/// Servers of a view at the most.
const MOST_SERVERS: usize = 64;

/// The ensemble as one server sees it.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct EnsembleView {
    /// Own server ID.
    #[serde(rename = "serverID")]
    pub server_id: ServerId,
    /// Mode that `srvr` shows. A server without a quorum shows none. `Follower` alone does not mean that it votes: a server that is in no configuration shows it, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<ServerMode>,
    /// Last transaction, as `srvr` shows it. In an answer to `spec.evidence` only: it changes with every write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zxid: Option<Zxid>,
    /// Version of the active configuration.
    pub config_version: Zxid,
    /// Servers of the active configuration, by ID.
    #[schemars(length(max = MOST_SERVERS))]
    pub servers: Vec<EnsembleServer>,
}

/// A server in a configuration.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct EnsembleServer {
    /// Its server ID.
    #[serde(rename = "serverID")]
    pub server_id: ServerId,
    /// Its address.
    pub address: StaticAddress,
    /// Whether it votes.
    pub role: ServerRole,
}

/// Whether a server votes.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerRole {
    /// It votes.
    Participant,
    /// It does not vote.
    Observer,
    /// What a newer agent reports and this build does not know. Never a value of the schema.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// What `srvr` calls the mode of a server.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerMode {
    /// It leads.
    Leader,
    /// It follows.
    Follower,
    /// It observes.
    Observer,
    /// It runs by itself and takes no reconfiguration.
    Standalone,
    /// What a newer agent reports and this build does not know. Never a value of the schema.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

impl EnsembleView {
    /// The server of this ID in the configuration.
    pub fn server(&self, id: ServerId) -> Option<&EnsembleServer> {
        self.servers.iter().find(|server| server.server_id == id)
    }

    /// The server whose view it is, in the configuration.
    pub fn own(&self) -> Option<&EnsembleServer> {
        self.server(self.server_id)
    }

    /// IDs of those that vote.
    pub fn participants(&self) -> impl Iterator<Item = ServerId> {
        let votes = |s: &&EnsembleServer| s.role == ServerRole::Participant;
        self.servers.iter().filter(votes).map(|s| s.server_id)
    }

    /// Does it serve as a member: with a quorum, and in the configuration?
    pub fn serves(&self) -> bool {
        let has_quorum = match self.mode {
            Some(ServerMode::Leader | ServerMode::Follower | ServerMode::Observer) => true,
            // A server by itself is no ensemble; what is not known is no proof.
            Some(ServerMode::Standalone | ServerMode::Unknown) | None => false,
        };
        has_quorum && self.own().is_some()
    }

    /// Does it serve and vote?
    pub fn votes(&self) -> bool {
        self.serves() && self.own().is_some_and(|own| own.role == ServerRole::Participant)
    }
}
