//! What a look at the node shows of its health; how looks add up is every agent's
//! ([`palladion_agent_core::service::health`]).

use crate::read::Reading;
use crate::read::reading::Access;
use crate::words::agent::Health as OfRabbitmq;
use palladion_agent_core::service::health::{self, Look};
use palladion_agent_core::words::health::Health;
use palladion_api::service_member::MemberHealth;
use palladion_api::words::Message;

/// The history of a node's health.
pub type Watch = health::Watch<Seen>;

/// What one look showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// It serves as a member.
    Healthy,
    /// It does not run in its cluster.
    NotMember,
    /// It takes no clients.
    Closed,
    /// It does not know the agent's user.
    Denied,
    /// It does not answer.
    Silent,
}

impl Seen {
    /// What a look showed.
    pub fn of(reading: &Reading) -> Self {
        let Some(broker) = reading.broker() else {
            return match reading.access {
                Access::Denied => Seen::Denied,
                Access::Granted => Seen::Silent,
            };
        };
        match (reading.serves(), broker.serves()) {
            (true, _) => Seen::Healthy,
            (false, true) => Seen::Closed,
            (false, false) => Seen::NotMember,
        }
    }
}

impl Look for Seen {
    fn result(self) -> MemberHealth {
        match self {
            Seen::Healthy => MemberHealth::Healthy,
            Seen::NotMember | Seen::Closed | Seen::Denied => MemberHealth::Unhealthy,
            Seen::Silent => MemberHealth::NoAnswer,
        }
    }

    fn why(self) -> Option<Message> {
        match self {
            Seen::Healthy => None,
            Seen::NotMember => Some(OfRabbitmq::NotMember.into()),
            Seen::Closed => Some(OfRabbitmq::Closed.into()),
            Seen::Denied => Some(OfRabbitmq::Denied.into()),
            Seen::Silent => Some(Health::Silent.into()),
        }
    }
}
