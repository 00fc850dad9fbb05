//! The sealed start, as the loop has it: who has the keys, and what is noted of the roles.

use super::state::Agent;
use crate::admin;
use crate::cql::{Credentials, Endpoint};
use crate::decide::Process;
use crate::decide::floor;
use crate::decide::seal::{Keys, Seal};
use crate::launch;
use crate::volume::roles::{Note, Roles};
use crate::words::job::Trouble;
use jiff::Timestamp;
use palladion_api::cluster::{AuthMode, ClientTlsMode, InternodeTlsMode};
use palladion_api::member::Guard;
use palladion_api::server_config::AGENTS_FOLDER;

impl Agent {
    /// What a sealed start is decided by.
    pub(super) fn seal(&self) -> Seal {
        let lacks = self.lacks_users.clone();
        Seal { guards: self.guards(), running: self.sealed_server(), lacks }
    }

    /// Look for the users of a sealed start: once a turn, since that reads files.
    pub(super) fn gather_users(&mut self) {
        let seals = self.process == Process::Absent && self.guards().contains(&Guard::Password);
        self.lacks_users = seals.then(|| launch::seal_waits(&self.settings.secrets_dir)).flatten();
    }

    /// What the configuration of the pod keeps others out with.
    pub(super) fn guards(&self) -> Vec<Guard> {
        let Some(config) = self.mounted.as_ref().ok().map(|mounted| &mounted.config) else {
            return Vec::new();
        };
        let has = [
            (Guard::Password, config.auth == Some(AuthMode::Password)),
            (Guard::ClientTls, config.client_tls == Some(ClientTlsMode::Require)),
            (Guard::InternodeTls, config.internode_tls == Some(InternodeTlsMode::Require)),
        ];
        has.into_iter().filter_map(|(guard, has)| has.then_some(guard)).collect()
    }

    /// The same of the server that runs, with what its pod has mounted: that never changes.
    pub(super) fn guards_of_server(&self) -> Vec<Guard> {
        match (&self.process, &self.launch) {
            (Process::Running, Some(launch)) if !launch.sealed => self.guards(),
            (Process::Running | Process::Absent | Process::Unknown(_), _) => Vec::new(),
        }
    }

    /// Note what no server is started without, as the operator says it now.
    pub(super) fn follow_floor(&mut self) {
        if let Some(floor) = floor::to_note(&self.facts()) {
            self.change_note(|note| note.floor = Some(floor));
        }
    }

    /// The server that runs, where it was started sealed.
    pub(super) fn sealed_server(&self) -> Option<Keys> {
        let launch = self.launch.as_ref().filter(|launch| launch.sealed)?;
        let held = self.keys.as_ref().is_some_and(|keys| keys.open(&launch.tag, Timestamp::now()));
        Some(if held { Keys::Held } else { Keys::Lost })
    }

    /// The door of a sealed server that is a full member, as far as this agent has the keys.
    pub(super) fn sealed_endpoint(&self) -> Option<Endpoint> {
        let launch = self.launch.as_ref().filter(|launch| launch.sealed)?;
        let keys = self.keys.as_ref().filter(|keys| keys.open(&launch.tag, Timestamp::now()))?;
        let is_normal = self.reading().is_some_and(|reading| reading.is(admin::NORMAL));
        let ours = || Credentials::mounted(&self.settings.secrets_dir, AGENTS_FOLDER);
        is_normal.then(|| keys.endpoint(self.settings.cql_port, ours()))
    }

    /// Note what the roles are now. Before a start it is noted that they are not made.
    pub(super) fn note_roles(&mut self, roles: Option<Roles>) {
        if let Some(roles) = roles {
            self.change_note(|note| note.roles = roles);
        }
    }

    /// What cannot be written is tried again with the next reason for it.
    fn change_note(&mut self, change: impl FnOnce(&mut Note)) {
        let (Ok(found), Some(volume)) = (&mut self.found, &self.volume) else {
            return;
        };
        let mut note = found.note.clone();
        change(&mut note);
        if found.note == note {
            return;
        }
        match volume.save_note(&note) {
            Ok(()) => found.note = note,
            Err(error) => self.trouble = Some(Trouble::Step { why: format!("{error:#}") }.into()),
        }
    }
}
