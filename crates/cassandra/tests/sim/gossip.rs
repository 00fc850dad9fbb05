//! How members see each other: each server's view follows the truth after a
//! delay, and a dead member is seen down only after the failure detector's time.

use super::ring::{Phase, Ring, Server};
use jiff::{SignedDuration, Timestamp};
use palladion_api::ids::{HostId, StaticAddress};
use palladion_api::member::{Liveness, MemberState, RingMember};
use palladion_plan::sim::{Activity, Random};
use std::collections::BTreeMap;

/// A member that stops is seen down by the others after this long.
const FAILURE_DETECTION: i64 = 20_000;
/// Any other news.
const NEWS: i64 = 1_000;

/// The view of every running server.
#[derive(Clone, Debug, Default)]
pub struct Views {
    seen: BTreeMap<String, BTreeMap<HostId, RingMember>>,
    due: BTreeMap<(String, HostId), Timestamp>,
}

impl Views {
    /// What a server sees now.
    pub fn of(&self, pod: &str) -> Vec<RingMember> {
        self.seen.get(pod).map(|view| view.values().cloned().collect()).unwrap_or_default()
    }

    /// What a server does to another member itself it need not hear.
    pub fn sees_leaving(&mut self, pod: &str, host: &HostId) {
        let seen = self.seen.get_mut(pod).and_then(|view| view.get_mut(host));
        if let Some(member) = seen {
            member.state = MemberState::Leaving;
        }
    }

    /// A server has ended.
    pub fn forget(&mut self, pod: &str) {
        self.seen.remove(pod);
        self.due.retain(|(observer, _), _| observer != pod);
    }
}

impl Ring {
    /// Bring views nearer to the truth.
    pub fn gossip(&mut self, now: Timestamp, random: &mut Option<Random>) -> Activity {
        let mut all = Activity::default();
        let observers: Vec<(String, usize, Server)> = self
            .servers
            .iter()
            .filter(|(_, s)| {
                matches!(
                    s.phase,
                    Phase::Waking
                        | Phase::Initializing
                        | Phase::Joining { .. }
                        | Phase::JoinFailed
                        | Phase::Normal
                        | Phase::Leaving
                        | Phase::LeaveFailed
                        | Phase::Unbootstrapped
                )
            })
            .filter_map(|(pod, s)| s.lineage.map(|l| (pod.clone(), l, s.clone())))
            .collect();
        for (pod, lineage, server) in observers {
            let own = server.host_id.clone();
            let first = !self.views.seen.contains_key(&pod);
            let mut truth = self.heard(&pod, &server.member, self.truth(lineage));
            // Of itself it knows what it announces.
            if let Some(itself) = own.as_ref().and_then(|own| truth.get_mut(own)) {
                itself.address.clone_from(&server.address);
                itself.liveness = Liveness::Up;
            }
            let view = self.views.seen.entry(pod.clone()).or_default();
            let hosts: Vec<HostId> = truth.keys().chain(view.keys()).cloned().collect();
            for host in hosts {
                let (is, seen) = (truth.get(&host), view.get(&host));
                let key = (pod.clone(), host.clone());
                if is == seen {
                    self.views.due.remove(&key);
                    continue;
                }
                let goes_down = is.is_some_and(|m| m.liveness == Liveness::Down)
                    && seen.is_some_and(|m| m.liveness == Liveness::Up);
                let silently = goes_down && !self.stopped.contains(&host);
                let delay = match (silently, own.as_ref() == Some(&host)) {
                    (_, true) => 0,
                    (true, false) => FAILURE_DETECTION,
                    // A server reads its peers from disk, and learns who is up.
                    (false, false) if first => NEWS / 2,
                    (false, false) => NEWS,
                };
                let jitter = random.as_mut().map_or(0, |r| r.within(0..=delay / 2));
                let due = *self
                    .views
                    .due
                    .entry(key.clone())
                    .or_insert(now + SignedDuration::from_millis(delay + jitter));
                if due > now {
                    all = all.at(due);
                    continue;
                }
                match is {
                    Some(member) => view.insert(host, member.clone()),
                    None => view.remove(&host),
                };
                self.views.due.remove(&key);
                all.acted = true;
            }
        }
        all
    }

    /// The part of the truth that reaches an observer: whoever is across a cut
    /// in the network is as it was seen last, and down.
    fn heard(
        &self,
        pod: &str,
        observer: &str,
        truth: BTreeMap<HostId, RingMember>,
    ) -> BTreeMap<HostId, RingMember> {
        let mut heard = truth;
        let seen = self.views.seen.get(pod).cloned().unwrap_or_default();
        if self.deaf.contains(observer) {
            heard.retain(|host, _| seen.contains_key(host));
        }
        if self.cut.is_empty() && self.astray.is_empty() {
            return heard;
        }
        for host in heard.keys().chain(seen.keys()).cloned().collect::<Vec<_>>() {
            let member = self
                .servers
                .values()
                .find(|s| s.host_id.as_ref() == Some(&host))
                .map(|s| s.member.as_str());
            if !self.is_across(observer, member) {
                continue;
            }
            // Whose address has changed is across no cut: its peers have it on their disks.
            let is_cut = |name: &str| self.cut.contains(name);
            let by_cut = is_cut(observer) || member.is_some_and(is_cut);
            let known = heard.get(&host).filter(|m| !by_cut && m.state == MemberState::Normal);
            match seen.get(&host).or(known).cloned() {
                Some(last) => heard.insert(host, RingMember { liveness: Liveness::Down, ..last }),
                None => heard.remove(&host),
            };
        }
        heard
    }

    /// Is a member (or one that does not run) out of an observer's reach?
    pub fn is_across(&self, observer: &str, member: Option<&str>) -> bool {
        let is_cut = |name: &str| self.is_out_of_reach(name);
        match member {
            Some(member) if member == observer => false,
            Some(member) => is_cut(observer) || is_cut(member),
            None => is_cut(observer),
        }
    }

    /// Does no other member reach it?
    pub fn is_out_of_reach(&self, member: &str) -> bool {
        self.cut.contains(member) || self.astray.contains(member)
    }

    /// A ring as it truly is. A member that comes up under another address is down
    /// under the one that is known, until it is normal again.
    pub fn truth(&self, lineage: usize) -> BTreeMap<HostId, RingMember> {
        let is_up = |host: &HostId, address: &StaticAddress| {
            self.servers.values().any(|s| {
                s.host_id.as_ref() == Some(host)
                    && s.address == *address
                    && !matches!(
                        s.phase,
                        Phase::Booting | Phase::Drained | Phase::Left | Phase::Decommissioned
                    )
            })
        };
        let replacing = self.servers.values().filter_map(|s| {
            let joins = matches!(s.phase, Phase::Joining { replaces: Some(_) });
            let host = s.host_id.clone().filter(|_| joins && s.lineage == Some(lineage))?;
            let member = RingMember {
                host_id: host.clone(),
                address: s.address.clone(),
                liveness: Liveness::Up,
                state: MemberState::Joining,
                datacenter: None,
                version: None,
            };
            Some((host, member))
        });
        self.seats
            .iter()
            .filter(|(_, seat)| seat.lineage == lineage)
            .map(|(host, seat)| {
                let liveness =
                    if is_up(host, &seat.address) { Liveness::Up } else { Liveness::Down };
                let member = RingMember {
                    host_id: host.clone(),
                    address: seat.address.clone(),
                    liveness,
                    state: seat.state,
                    datacenter: None,
                    version: None,
                };
                (host.clone(), member)
            })
            .chain(replacing)
            .collect()
    }

    /// Full members of all rings.
    pub fn full_members(&self) -> usize {
        self.seats.values().filter(|s| s.state == MemberState::Normal).count()
    }
}
