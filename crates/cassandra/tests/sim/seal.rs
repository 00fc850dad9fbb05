//! The sealed start: who has the keys, and when a ring has roles of its own.

use super::agent::{Agent, Reach};
use super::ring::{Login, Phase, Ring, Server};
use super::world::World;
use palladion_agent::admin;
use palladion_agent::decide::seal::{self, Keys, Seal, noted_before};
use palladion_agent::decide::{Process, Start, closed, floor};
use palladion_agent::render::Door;
use palladion_agent::volume::roles::{Note, Roles};
use palladion_agent::words::start::Waiting;
use palladion_api::cluster::InternodeTlsMode;
use palladion_api::member::Guard;

impl Login {
    /// What a sealed start waits for.
    pub fn lacks_users(self) -> Option<Waiting> {
        match self {
            Login::Missing | Login::MissingWhereAsked => Some(Waiting::NoAgentsSecret),
            Login::NotAsked
            | Login::Accepted
            | Login::DefaultUserOpen
            | Login::PendingWhereAsked
            | Login::Refused
            | Login::CertificateRefused => None,
        }
    }
}

impl Ring {
    /// The launch of the server in this pod, where it was started sealed.
    pub fn sealed_launch(&self, pod: &str) -> Option<String> {
        let server = self.servers.get(pod).filter(|server| server.door == Door::Sealed)?;
        Some(server.tag.clone())
    }

    /// Are so many members up that the role of everybody can be read: most of all that there are?
    pub fn reads_roles(&self) -> bool {
        let up = self.servers.values().filter(|server| server.phase == Phase::Normal);
        2 * up.count() > self.seats.len()
    }
}

impl Agent {
    pub(super) fn seal(&self) -> Seal {
        let running = self.sealed.as_ref().map(|launch| match self.keys.as_ref() == Some(launch) {
            true => Keys::Held,
            false => Keys::Lost,
        });
        let asks = self.configuration.asks();
        let lacks = self.lacks_users.clone().filter(|_| asks);
        Seal { guards: self.guards(), running, lacks }
    }

    /// What the configuration of the pod keeps others out with.
    fn guards(&self) -> Vec<Guard> {
        let has = [
            (Guard::Password, self.configuration.asks()),
            (Guard::ClientTls, self.configuration.is_tls_alone()),
            (Guard::InternodeTls, self.internode == InternodeTlsMode::Require),
        ];
        has.into_iter().filter_map(|(guard, has)| has.then_some(guard)).collect()
    }

    /// The same of its server.
    pub(super) fn guards_of_server(&self) -> Vec<Guard> {
        match self.process == Process::Running && self.sealed.is_none() {
            true => self.guards(),
            false => Vec::new(),
        }
    }

    pub(super) fn follow_floor(&mut self, reach: &mut Reach<'_>) {
        if let Some(floor) = floor::to_note(&self.facts(reach.now)) {
            self.change_note(reach, |note| note.floor = Some(floor));
        }
    }

    /// Noted before anything else of the start.
    pub(super) fn begin_seal(&mut self, start: &Start, tag: &str, reach: &mut Reach<'_>) {
        if start.identity.door == Door::Sealed {
            self.keys = Some(tag.to_string());
        }
        let note = self.found.as_ref().map(|found| found.note.clone()).unwrap_or_default();
        let roles = noted_before(start, &self.guards(), note.roles);
        let closed = closed::noted_before(start, note.closed);
        self.change_note(reach, |note| (note.roles, note.closed) = (roles, closed));
    }

    /// Behind its seal a full member is given the roles of its ring. Others are let in by them.
    pub(super) fn make_roles(&mut self, reach: &mut Reach<'_>) {
        let Some(server) = reach.ring.servers.get(self.pod.uid.as_str()) else {
            return;
        };
        let is_in = match self.seal().running {
            Some(Keys::Held | Keys::Lost) => self.is_let_in_behind_its_seal(),
            None => server.configuration.asks() && self.reading().is_some_and(|r| r.serves()),
        };
        let (Some(lineage), None) =
            (server.lineage, reach.ring.login.problem(&server.configuration))
        else {
            return;
        };
        if is_in && reach.ring.reads_roles() {
            reach.ring.has_roles.insert(lineage, true);
            self.note_roles(Roles::Made, reach);
        }
    }

    /// Has it the keys of a sealed server that is a full member?
    pub(super) fn is_let_in_behind_its_seal(&self) -> bool {
        let is_normal = || self.reading().is_some_and(|r| r.is(admin::NORMAL));
        self.seal().running == Some(Keys::Held) && is_normal()
    }

    pub(super) fn is_sealed_among_others(&self) -> bool {
        let ledger = self.found.as_ref().and_then(|found| found.ledger.as_ref());
        let is_among = ledger.is_some_and(|ledger| seal::is_among_others(self.reading(), ledger));
        self.seal().running.is_some() && is_among
    }

    pub(super) fn has_lost_its_keys_among_others(&self) -> bool {
        self.seal().running == Some(Keys::Lost) && self.is_sealed_among_others()
    }

    fn note_roles(&mut self, roles: Roles, reach: &mut Reach<'_>) {
        self.change_note(reach, |note| note.roles = roles);
    }

    pub(super) fn change_note(&mut self, reach: &mut Reach<'_>, change: impl FnOnce(&mut Note)) {
        let Some(found) = &mut self.found else { return };
        change(&mut found.note);
        if let Some(disk) = reach.disks.get_mut(&self.pod.disk) {
            disk.content.note = found.note.clone();
        }
    }
}

impl World {
    /// No member asks for passwords before its ring has roles: until then anybody could log in by
    /// the name that everybody knows.
    pub fn nobody_is_served_without_roles(&self) -> Result<(), String> {
        let serves = |server: &&Server| {
            server.configuration.asks()
                && server.door == Door::Open
                && server.phase == Phase::Normal
        };
        for server in self.ring.servers.values().filter(serves) {
            let lineage = server.lineage.unwrap_or_default();
            if self.ring.has_roles.get(&lineage) == Some(&false) {
                return Err(format!("{} serves, and its ring has no roles", server.member));
            }
        }
        Ok(())
    }
}
