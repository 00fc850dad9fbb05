//! The sealed start: who has the keys, and when a ring has roles of its own.

use super::agent::{Agent, Reach};
use super::ring::{Login, Phase, Ring, Server};
use super::world::World;
use palladion_agent::admin;
use palladion_agent::decide::seal::{Keys, Seal};
use palladion_agent::render::Door;
use palladion_agent::volume::roles::Roles;
use palladion_agent::words::start::Waiting;

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
}

impl Agent {
    pub(super) fn seal(&self) -> Seal {
        let running = self.sealed.as_ref().map(|launch| match self.keys.as_ref() == Some(launch) {
            true => Keys::Held,
            false => Keys::Lost,
        });
        let asks = self.configuration.asks();
        Seal { asks, running, lacks: self.lacks_users.clone().filter(|_| asks) }
    }

    /// Noted before anything else of the start.
    pub(super) fn begin_seal(&mut self, door: Door, tag: &str, reach: &mut Reach<'_>) {
        if door == Door::Sealed {
            self.keys = Some(tag.to_string());
            self.note_roles(Roles::Sealing, reach);
        }
    }

    /// Behind its seal a full member is given the roles of its ring. Others are let in by them.
    pub(super) fn make_roles(&mut self, reach: &mut Reach<'_>) {
        let Some(server) = reach.ring.servers.get(self.pod.uid.as_str()) else {
            return;
        };
        let is_in = match self.seal().running {
            Some(Keys::Held) => self.reading().is_some_and(|r| r.is(admin::NORMAL)),
            Some(Keys::Lost) => false,
            None => server.configuration.asks() && self.reading().is_some_and(|r| r.serves()),
        };
        let (Some(lineage), None) =
            (server.lineage, reach.ring.login.problem(&server.configuration))
        else {
            return;
        };
        if is_in {
            reach.ring.has_roles.insert(lineage, true);
            self.note_roles(Roles::Made, reach);
        }
    }

    fn note_roles(&mut self, roles: Roles, reach: &mut Reach<'_>) {
        if let Some(found) = &mut self.found {
            found.roles = roles;
        }
        if let Some(disk) = reach.disks.get_mut(&self.pod.disk) {
            disk.content.roles = roles;
        }
    }
}

impl World {
    /// A ring that asks for passwords from its beginning serves nobody before it has roles: until
    /// then anybody could log in by the name that everybody knows.
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
