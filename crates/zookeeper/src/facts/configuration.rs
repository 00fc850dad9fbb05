//! The configuration of an ensemble: which servers there are, and who votes.

use super::{Facts, Voter};
use palladion_api::service_member::{EnsembleServer, EnsembleView, ServerRole};
use palladion_api::zookeeper::{ServerId, Zxid};

/// A configuration, as a server has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// Its version.
    pub version: Zxid,
    /// Its servers, by ID.
    pub servers: Vec<EnsembleServer>,
}

impl Configuration {
    /// Of a server's view.
    pub fn of(view: &EnsembleView) -> Self {
        let mut servers = view.servers.clone();
        servers.sort_by_key(|s| s.server_id);
        Self { version: view.config_version, servers }
    }

    /// The server of this ID.
    pub fn server(&self, id: ServerId) -> Option<&EnsembleServer> {
        self.servers.iter().find(|s| s.server_id == id)
    }

    /// Those that vote.
    pub fn participants(&self) -> impl Iterator<Item = &EnsembleServer> {
        self.servers.iter().filter(|s| s.role == ServerRole::Participant)
    }

    /// Does this server vote?
    pub fn has_participant(&self, id: ServerId) -> bool {
        self.participants().any(|s| s.server_id == id)
    }

    /// Are so many of those that vote a majority of them?
    pub fn is_majority(&self, count: usize) -> bool {
        count * 2 > self.participants().count()
    }
}

impl Facts<'_> {
    /// The newest configuration that a server of a member has reported, whatever has
    /// become of that server since. `None` where nobody has reported one.
    ///
    /// Not to decide on what could hurt: that asks anew.
    pub fn configuration(&self) -> Option<Configuration> {
        let views = self.members.values().flat_map(|m| {
            let answered = m.status.evidence.as_ref().and_then(|e| e.ensemble.as_ref());
            [m.status.ensemble.as_ref(), answered].into_iter().flatten()
        });
        views.max_by_key(|view| view.config_version).map(Configuration::of)
    }

    /// Server IDs of volumes that are lost: they have nothing to say.
    pub fn lost_servers(&self) -> Vec<ServerId> {
        let marked = self.members.values().filter_map(|m| m.loss()?.lost.server_id);
        let reported = self.enrolled().filter(|m| m.is_lost() && m.loss().is_none());
        let turn = self.turn().and_then(|t| t.replaces.as_ref()?.server_id);
        marked.chain(reported.filter_map(Voter::server_id)).chain(turn).collect()
    }

    /// Servers of that configuration that no member accounts for, nor a volume that is lost.
    pub fn strangers(&self) -> Vec<ServerId> {
        let of_turn = self.turn().and_then(|t| t.replaces.as_ref()?.server_id);
        let is_lost = |id: ServerId| {
            let mut marked = self.members.values().filter_map(|m| m.loss()?.lost.server_id);
            of_turn == Some(id) || marked.any(|lost| lost == id)
        };
        let ids = self.configuration().into_iter().flat_map(|c| c.servers).map(|s| s.server_id);
        ids.filter(|id| self.member_of(*id).is_none() && !is_lost(*id)).collect()
    }
}
