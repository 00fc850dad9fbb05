//! What a Cassandra process decides when it starts, as it was seen to do:
//! refusals in its own words, and the start that nothing but the agent prevents.

use super::formats;
use super::ring::{Configuration, Disks, Phase, Ring, Server};
use super::volume::{Bootstrapped, Data};
use jiff::{SignedDuration, Timestamp};
use palladion_api::member::{Liveness, MemberState, RingMember};

/// Longer than any history.
const FOR_EVER: SignedDuration = SignedDuration::from_hours(1_000_000);

impl Ring {
    /// A server process has read its disk and contacts its seeds.
    pub fn boot(&mut self, pod: &str, now: Timestamp, disks: &mut Disks) {
        let Some(server) = self.servers.get(pod).cloned() else {
            return;
        };
        match &server.configuration {
            Configuration::Runs(_) => {}
            Configuration::Refused(words) => return self.exit(pod, words),
            Configuration::Hangs => return self.set_phase(pod, Phase::Booting, now + FOR_EVER),
        }
        let data = disks.get(&server.disk).and_then(|d| d.content.data.clone());
        if self.unlucky.contains(&server.member) {
            return self.exit(pod, "an unlucky start");
        }
        if let Some(words) = data.as_ref().and_then(|d| formats::unreadable(&server.version, d)) {
            return self.exit(pod, &words);
        }
        if self.colliding.contains(&server.member) {
            let words = format!(
                "A node with address {} already exists, cancelling join. Use cassandra.replace_address if you want to replace this node.",
                server.address
            );
            return self.exit(pod, &words);
        }
        match data.as_ref().map(|d| d.bootstrapped) {
            Some(Bootstrapped::Completed) => {
                if let Some(data) = &data {
                    match self.refusal(&server, data) {
                        Some(words) => self.exit(pod, &words),
                        None => self.begin_waking(pod, data, now),
                    }
                }
            }
            Some(Bootstrapped::Decommissioned) => self.exit(
                pod,
                "This node was decommissioned and will not rejoin the ring unless cassandra.override_decommission=true has been set",
            ),
            // With `auto_bootstrap: false` it takes the tokens that it had.
            Some(Bootstrapped::NeedsBootstrap)
                if server.resumes && self.is_seated(data.as_ref()) =>
            {
                if let Some(data) = &data {
                    self.begin_waking(pod, data, now);
                }
            }
            Some(Bootstrapped::NeedsBootstrap) => {
                self.breaches.push(format!("{} was started after it had left and bootstraps itself back", server.member));
                self.bootstrap(pod, &server, data.as_ref(), now, disks);
            }
            Some(Bootstrapped::InProgress) | None => self.bootstrap(pod, &server, data.as_ref(), now, disks),
        }
    }

    /// What a server that has joined says instead of coming up: it has asked its seeds
    /// and the peers that it knows.
    fn refusal(&self, server: &Server, data: &Data) -> Option<String> {
        let is_peer = |s: &&Server| {
            s.member != server.member && !self.is_across(&server.member, Some(&s.member))
        };
        if !self.servers.values().any(|s| is_peer(&s)) && !server.seeds.contains(&server.address) {
            return Some("Unable to gossip with any peers".into());
        }
        let peers = self.servers.iter().filter(|(_, s)| is_peer(s));
        let mut seen = peers.flat_map(|(pod, _)| self.views.of(pod));
        let is_taken = seen.any(|m| m.address == server.address && m.host_id != data.host_id);
        is_taken.then(|| {
            format!("A node with address {} already exists, cancelling join. Use cassandra.replace_address if you want to replace this node.", server.address)
        })
    }

    /// Does the ring still count the member that has this data?
    fn is_seated(&self, data: Option<&Data>) -> bool {
        data.is_some_and(|d| self.seats.contains_key(&d.host_id))
    }

    fn bootstrap(
        &mut self,
        pod: &str,
        server: &Server,
        data: Option<&Data>,
        now: Timestamp,
        disks: &mut Disks,
    ) {
        let own_seed = server.seeds.contains(&server.address);
        let contact = self
            .servers
            .iter()
            .filter(|(_, s)| s.address != server.address && server.seeds.contains(&s.address))
            .find(|(_, s)| {
                matches!(s.phase, Phase::Normal | Phase::Leaving | Phase::LeaveFailed)
                    && !self.is_across(&server.member, Some(&s.member))
            })
            .map(|(pod, s)| (self.views.of(pod), s.lineage.unwrap_or_default()));
        let is_seed =
            |m: &&RingMember| m.liveness == Liveness::Up && server.seeds.contains(&m.address);
        let elsewhere = || {
            self.elsewhere.values().find(is_seed)?;
            Some((self.elsewhere.values().cloned().collect::<Vec<_>>(), 0))
        };
        let Some((view, lineage)) = contact.or_else(elsewhere) else {
            if own_seed {
                return self.begin_initialization(pod, now, disks);
            }
            return self.exit(pod, &format!("Unable to contact any seeds: {:?}", server.seeds));
        };
        if server.replace.is_some() && self.wedged.contains(&server.member) {
            return self.exit(pod, &format!("Unable to contact any seeds: {:?}", server.seeds));
        }
        if let Some(replace) = &server.replace {
            return match view.iter().find(|m| m.address == *replace) {
                None => self.exit(
                    pod,
                    &format!("Cannot replace_address {replace} because it doesn't exist in gossip"),
                ),
                Some(m) if m.liveness == Liveness::Up => {
                    self.exit(pod, &format!("Cannot replace a live node {replace}"))
                }
                Some(m) => {
                    let host = m.host_id.clone();
                    self.begin_join(pod, lineage, Some(host), now, disks);
                }
            };
        }
        let known = view
            .iter()
            .find(|m| m.address == server.address && data.is_none_or(|d| d.host_id != m.host_id));
        if known.is_some() {
            return self.exit(
                pod,
                &format!("A node with address {} already exists, cancelling join. Use cassandra.replace_address if you want to replace this node.", server.address),
            );
        }
        if own_seed {
            self.breaches
                .push(format!("{} entered the ring as a seed, without streaming", server.member));
        }
        if let Some(other) = view.iter().find(|m| m.state != MemberState::Normal) {
            return self.exit(pod, &format!("Other bootstrapping/leaving/moving nodes detected, cannot bootstrap while cassandra.consistent.rangemovement is true. Nodes detected: {}", other.address));
        }
        self.begin_join(pod, lineage, None, now, disks);
    }
}
