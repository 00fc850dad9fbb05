//! What a look at the server shows of its health; how looks add up is every agent's
//! ([`palladion_agent_core::service::health`]).

use crate::read::Reading;
use crate::words::agent::Health as OfZookeeper;
use palladion_agent_core::service::health::{self, Look};
use palladion_agent_core::words::health::Health;
use palladion_api::service_member::MemberHealth;
use palladion_api::words::Message;
use palladion_api::zookeeper::ServerId;
use std::ops::{Deref, DerefMut};

/// The history of a server's health.
#[derive(Clone, Debug, Default)]
pub struct Watch(health::Watch<Seen>);

/// What one look showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// It serves as a member.
    Healthy,
    /// It answers without a quorum.
    NoQuorum,
    /// It is in no configuration.
    NotMember,
    /// It does not answer.
    Silent,
}

impl Seen {
    fn of(reading: &Reading, id: Option<ServerId>) -> Self {
        if !reading.is_ok && reading.srvr.is_none() {
            return Seen::Silent;
        }
        match (id.is_some_and(|id| reading.serves(id)), reading.has_quorum()) {
            (true, _) => Seen::Healthy,
            (false, true) => Seen::NotMember,
            (false, false) => Seen::NoQuorum,
        }
    }
}

impl Look for Seen {
    fn result(self) -> MemberHealth {
        match self {
            Seen::Healthy => MemberHealth::Healthy,
            Seen::NoQuorum | Seen::NotMember => MemberHealth::Unhealthy,
            Seen::Silent => MemberHealth::NoAnswer,
        }
    }

    fn why(self) -> Option<Message> {
        match self {
            Seen::Healthy => None,
            Seen::NoQuorum => Some(OfZookeeper::NoQuorum.into()),
            Seen::NotMember => Some(OfZookeeper::NotMember.into()),
            Seen::Silent => Some(Health::Silent.into()),
        }
    }
}

impl Watch {
    /// A look was taken.
    pub fn look(&mut self, reading: &Reading, id: Option<ServerId>) {
        self.0.saw(Seen::of(reading, id));
    }
}

impl Deref for Watch {
    type Target = health::Watch<Seen>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Watch {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}
