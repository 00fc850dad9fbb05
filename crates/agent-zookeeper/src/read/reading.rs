//! A look at a server that runs.

use super::dynamic::Config;
use super::srvr::{Serving, Srvr};
use palladion_api::service_member::{EnsembleView, ServerMode, ServerRole};
use palladion_api::zookeeper::{ServerId, Zxid};

/// What a look at the server has shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Has it answered `ruok` with `imok`? So does one without a quorum.
    pub is_ok: bool,
    /// What `srvr` said.
    pub srvr: Option<Srvr>,
    /// The newest configuration that is known: of its file on the volume, or read in a
    /// session.
    pub config: Option<Config>,
    /// The newest version that was read in a session of this start. A session is a
    /// write that a quorum has taken and that this server has logged.
    pub proven: Option<Zxid>,
}

impl Reading {
    /// Does it serve clients, and how?
    pub fn serving(&self) -> Option<&Serving> {
        match self.srvr.as_ref()? {
            Srvr::Serving(serving) => Some(serving),
            Srvr::NotServing => None,
        }
    }

    /// Its mode, where it has a quorum.
    pub fn mode(&self) -> Option<ServerMode> {
        self.serving().map(|serving| serving.mode)
    }

    /// Has it a quorum? A server that runs standalone is no ensemble, and a mode that is
    /// not known is no proof.
    pub fn has_quorum(&self) -> bool {
        self.mode().is_some_and(|mode| match mode {
            ServerMode::Leader | ServerMode::Follower | ServerMode::Observer => true,
            ServerMode::Standalone | ServerMode::Unknown => false,
        })
    }

    /// Its role in the configuration; `None` where it is not in it, or none is known.
    pub fn role(&self, id: ServerId) -> Option<ServerRole> {
        self.config.as_ref()?.role(id)
    }

    /// Does it serve as a member: answering, with a quorum, and in the configuration? A
    /// server that is in no list says "follower", too.
    pub fn serves(&self, id: ServerId) -> bool {
        self.is_ok && self.has_quorum() && self.role(id).is_some()
    }

    /// Is it proven to vote: by a session, and by a configuration that was read in it?
    pub fn is_proven_member(&self, id: ServerId) -> bool {
        let proven = self.config.as_ref().is_some_and(|config| self.proven == Some(config.version));
        proven && self.serves(id) && self.role(id) == Some(ServerRole::Participant)
    }

    /// The ensemble as this server sees it; `None` while no configuration is known.
    pub fn ensemble(&self, id: ServerId, zxid: Option<Zxid>) -> Option<EnsembleView> {
        let config = self.config.as_ref()?;
        Some(EnsembleView {
            server_id: id,
            mode: self.mode(),
            zxid,
            config_version: config.version,
            servers: config.ensemble(),
        })
    }
}
