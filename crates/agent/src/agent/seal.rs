//! The sealed start, as the loop has it: who has the keys, and what is noted of the roles.

use super::state::Agent;
use crate::admin;
use crate::cql::{Credentials, Endpoint};
use crate::decide::Process;
use crate::decide::seal::{Keys, Seal};
use crate::launch;
use crate::volume::roles::Roles;
use crate::words::job::Trouble;
use palladion_api::cluster::{AuthMode, Mode};
use palladion_api::server_config::AGENTS_FOLDER;

impl Agent {
    /// What a sealed start is decided by.
    pub(super) fn seal(&self) -> Seal {
        let Ok(mounted) = &self.mounted else {
            return Seal { running: self.sealed_server(), ..Seal::default() };
        };
        let config = &mounted.config;
        let asks = config.mode == Mode::Cassandra && config.auth == Some(AuthMode::Password);
        let is_absent = self.process == Process::Absent;
        Seal {
            asks,
            running: self.sealed_server(),
            lacks: (asks && is_absent)
                .then(|| launch::seal_waits(&self.settings.secrets_dir))
                .flatten(),
        }
    }

    /// The server that runs, where it was started sealed.
    fn sealed_server(&self) -> Option<Keys> {
        let launch = self.launch.as_ref().filter(|launch| launch.sealed)?;
        let held = self.keys.as_ref().is_some_and(|keys| keys.tag == launch.tag);
        Some(if held { Keys::Held } else { Keys::Lost })
    }

    /// The door of a sealed server that is a full member, as far as this agent has the keys.
    pub(super) fn sealed_endpoint(&self) -> Option<Endpoint> {
        let launch = self.launch.as_ref().filter(|launch| launch.sealed)?;
        let keys = self.keys.as_ref().filter(|keys| keys.tag == launch.tag)?;
        let is_normal = self.reading().is_some_and(|reading| reading.is(admin::NORMAL));
        let ours = || Credentials::mounted(&self.settings.secrets_dir, AGENTS_FOLDER);
        is_normal.then(|| keys.endpoint(self.settings.cql_port, ours()))
    }

    /// Note what the roles are now. Before a start it is noted that they are not made.
    pub(super) fn note_roles(&mut self, roles: Option<Roles>) {
        let (Some(roles), Ok(found), Some(volume)) = (roles, &mut self.found, &self.volume) else {
            return;
        };
        if found.roles == roles {
            return;
        }
        match volume.save_roles(roles) {
            Ok(()) => found.roles = roles,
            Err(error) => self.trouble = Some(Trouble::Step { why: format!("{error:#}") }.into()),
        }
    }
}
