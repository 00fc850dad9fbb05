//! Whether a member is live: not only up by its own word, but found healthy by
//! an agent that has looked at its server more than once.

use super::MemberFact;
use palladion_api::member::{HealthRecord, HealthResult};
use std::collections::BTreeMap;

/// Agents of before this protocol report no `status.health`.
const REPORTS_HEALTH: u32 = 4;

/// What the agent of a member has found at its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watched<'a> {
    /// This result holds.
    Found(&'a HealthRecord),
    /// Nothing yet: the server, or the agent, has been up for seconds only.
    NotYet,
    /// The agent is of an older protocol and reports no health.
    NotReported,
    /// The agent does not report at all.
    Silent,
}

impl MemberFact {
    /// What its agent has found at its server.
    pub fn watched(&self) -> Watched<'_> {
        if !self.agent_speaks() {
            return Watched::Silent;
        }
        let newest = self.status.health.first().filter(|record| record.until.is_none());
        match (newest, &self.status.agent) {
            (Some(record), _) => Watched::Found(record),
            (None, Some(agent)) if agent.protocol < REPORTS_HEALTH => Watched::NotReported,
            (None, _) => Watched::NotYet,
        }
    }

    /// Does it serve clients, by all that is known: its pod is ready, its agent
    /// reports that the server runs, is healthy and accepts clients? Of an agent
    /// that reports no health, what it says of mode and native transport counts.
    ///
    /// Less than this is not dead: for that, see `lives_by_its_own_word`.
    pub fn is_live(&self, nodes: &BTreeMap<String, bool>) -> bool {
        let is_healthy = match self.watched() {
            Watched::Found(record) => record.result == HealthResult::Healthy,
            Watched::NotReported => true,
            Watched::NotYet | Watched::Silent => false,
        };
        is_healthy && self.takes_clients() && self.lives_by_its_own_word(nodes)
    }

    /// Has somebody closed it to clients? Its agent begins no operation then. One that is closed
    /// until it is rebuilt begins what it is asked for.
    pub fn is_shut(&self) -> bool {
        let server = self.reported_server();
        let is_off = server.is_some_and(|server| server.native_transport == Some(false));
        is_off && !self.awaits_rebuild()
    }

    /// Does it take what others write behind the seal of its server? Whoever is closed by hand has
    /// let its agent in before.
    pub fn is_sealed(&self) -> bool {
        self.is_normal() && self.is_shut() && self.status.access.is_some()
    }

    /// Does its agent report that the native transport is up?
    pub fn takes_clients(&self) -> bool {
        self.reported_server().is_some_and(|s| s.native_transport == Some(true))
    }
}
