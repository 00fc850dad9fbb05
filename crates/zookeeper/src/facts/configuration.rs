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
    /// Whoever goes on alone after a rescue keeps the version of the configuration that
    /// names the lost ones. Of two with one version the word of a server counts whose volume
    /// is not lost, and what it reports now before what it once answered.
    ///
    /// Not to decide on what could hurt: that asks anew.
    pub fn configuration(&self) -> Option<Configuration> {
        let reports = self.members.values().flat_map(|m| {
            let answered = m.status.evidence.as_ref().and_then(|e| e.ensemble.as_ref());
            let standing = m.status.ensemble.as_ref();
            [standing.map(|view| (m, view, true)), answered.map(|view| (m, view, false))]
        });
        let newest = reports.flatten().max_by_key(|(member, view, stands)| {
            let counts = !member.is_lost() && member.server_id() == Some(view.server_id);
            (view.config_version, counts, *stands)
        });
        newest.map(|(_, view, _)| Configuration::of(view))
    }

    /// Server IDs of volumes that are lost: they have nothing to say.
    pub fn lost_servers(&self) -> Vec<ServerId> {
        let marked = self.members.values().flat_map(Voter::lost_ids);
        let reported = self.enrolled().filter(|m| m.is_lost() && !m.is_marked());
        let turn = self.turn().and_then(|t| t.replaces.as_ref()?.server_id);
        marked.chain(reported.filter_map(Voter::server_id)).chain(turn).collect()
    }

    /// Servers of that configuration that no member accounts for, nor a volume that is lost.
    pub fn strangers(&self) -> Vec<ServerId> {
        let of_turn = self.turn().and_then(|t| t.replaces.as_ref()?.server_id);
        let is_lost = |id: ServerId| {
            let mut marked = self.members.values().flat_map(Voter::lost_ids);
            of_turn == Some(id) || marked.any(|lost| lost == id)
        };
        let ids = self.configuration().into_iter().flat_map(|c| c.servers).map(|s| s.server_id);
        ids.filter(|id| self.member_of(*id).is_none() && !is_lost(*id)).collect()
    }
}
