//! What became of a permit to start, or of an intent to leave.

use palladion_agent_core::words::permit;
use palladion_api::zookeeper::{ServerId, Zxid};

palladion_api::sentences! {
    /// Why a permit or an intent is refused. The operator quotes it after various subjects,
    /// so that no sentence says `it`.
    pub enum Refused {
        Of { why: permit::Refused } => "{why}";
        NoPeers => "the permit names no members to connect to, so the server would start a separate ensemble";
        OwnPeer { id: ServerId } => "the permit names server {id} as a member to connect to, but that is the ID of this server";
        OtherServerId { meant: ServerId, own: ServerId } => "the member has server ID {meant}, but the ledger on this volume has {own}";
        Missing { id: ServerId, version: Zxid } => "the configuration with version {version} does not contain server {id}, so others are the ensemble now";
        HasVoted { epoch: i64 } => "the server on this volume has already voted (epoch {epoch}) and may have acknowledged writes, so its data is kept";
    }
}

impl From<permit::Refused> for Refused {
    fn from(why: permit::Refused) -> Self {
        Self::Of { why }
    }
}
