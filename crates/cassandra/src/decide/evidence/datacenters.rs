//! Members of other datacenters: what a step asks of them. They are never removed,
//! replaced or ignored, count for no majority of ours, and are no record's. Who joins or
//! leaves waits until all of them are up and normal; a restart, a replacement and the removal
//! of a lost member go on over one that is down, as the other datacenter goes on over one of
//! ours: else an upgrade here and a replacement there would wait for each other.

use super::ask::nonce_of_gone;
use crate::facts::{Facts, MemberFact};
use crate::words::evidence::Objection;
use palladion_api::ids::{HostId, MemberName, StaticAddress};
use palladion_api::member::{Evidence, Liveness, MemberState, RingMember, RingSummary};
use palladion_plan::words::{Count, Names};
use std::collections::{BTreeMap, BTreeSet};

/// What a step takes of other datacenters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elsewhere {
    /// Every member there is up and normal.
    AllNormal,
    /// One may be down. With a second one, or a whole datacenter, ranges may lose their
    /// quorum over the ring by one more that stops.
    OneDown,
}

impl Elsewhere {
    /// May this member of another datacenter be as it is seen?
    pub(super) fn takes(self, seen: &RingMember) -> bool {
        let is_down = seen.liveness == Liveness::Down && seen.state == MemberState::Normal;
        let is_well = seen.liveness == Liveness::Up && seen.state == MemberState::Normal;
        is_well || (is_down && self == Elsewhere::OneDown)
    }
}

/// What one of ours sees of other datacenters.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen<'a> {
    witness: MemberName,
    /// How many members each has, and which.
    datacenters: BTreeMap<&'a str, (u32, &'a str)>,
    /// Who of them is not up and normal.
    odd: Vec<&'a RingMember>,
}

impl<'a> Seen<'a> {
    /// By what a member reports by itself.
    pub(super) fn of_report(
        facts: &Facts<'_>,
        witness: &MemberFact,
        ring: &'a RingSummary,
    ) -> Self {
        let others = facts.other_datacenters(ring);
        let datacenters =
            others.iter().map(|d| (d.name.as_str(), (d.members, d.hash.as_str()))).collect();
        let odd = ring.exceptions.iter().filter(|e| facts.is_elsewhere(e)).collect();
        Seen { witness: witness.name.clone(), datacenters, odd }
    }

    /// Is everybody of this datacenter down?
    pub(super) fn has_all_down(&self, datacenter: &str) -> bool {
        let is_down = |m: &&&RingMember| {
            m.datacenter.as_deref() == Some(datacenter) && m.liveness == Liveness::Down
        };
        let down = self.odd.iter().filter(is_down).count();
        let members = self.datacenters.get(datacenter).map_or(0, |(members, _)| *members);
        usize::try_from(members) == Ok(down)
    }

    /// Whatever is seen of this datacenter matters no more.
    pub(super) fn leave_out(&mut self, datacenter: &str) {
        self.datacenters.remove(datacenter);
        self.odd.retain(|member| member.datacenter.as_deref() != Some(datacenter));
    }

    /// By its answer to a question; whom it has is compared with the others one by one.
    pub(super) fn of_answer(facts: &Facts<'_>, witness: &MemberFact, answer: &'a Evidence) -> Self {
        let mut seen = Seen { witness: witness.name.clone(), ..Seen::default() };
        for member in answer.members.iter().flatten().filter(|m| facts.is_elsewhere(m)) {
            let name = member.datacenter.as_deref().unwrap_or_default();
            seen.datacenters.entry(name).or_insert((0, "")).0 += 1;
            if !Elsewhere::AllNormal.takes(member) {
                seen.odd.push(member);
            }
        }
        seen
    }
}

/// What in these views of other datacenters forbids a step. One that is down as a whole matters to
/// no restart and no replacement as long as a user says so; who joins or leaves waits for it.
pub(super) fn objection(
    facts: &Facts<'_>,
    mut views: Vec<Seen<'_>>,
    takes: Elsewhere,
) -> Option<Objection> {
    if let Some(name) = facts.goes_without().filter(|_| takes == Elsewhere::OneDown) {
        views.iter_mut().filter(|view| view.has_all_down(name)).for_each(|v| v.leave_out(name));
    }
    forbids(&views, takes)
}

/// Does one of these members see somebody of this datacenter up, or does none of them see anybody
/// of it, and know of everybody where it is?
pub fn is_back_or_gone(facts: &Facts<'_>, members: &[&MemberFact], datacenter: &str) -> bool {
    let rings = || members.iter().filter_map(|m| Some((*m, m.status.ring.as_ref()?)));
    let mut views = rings().map(|(member, ring)| Seen::of_report(facts, member, ring));
    let has_members = |seen: &Seen<'_>| seen.datacenters.get(datacenter).is_some_and(|d| d.0 > 0);
    let is_up = |seen: Seen<'_>| has_members(&seen) && !seen.has_all_down(datacenter);
    if views.any(is_up) {
        return true;
    }
    rings().all(|(member, ring)| {
        let knows_all = ring.exceptions.iter().all(|m| m.datacenter.is_some());
        knows_all && !has_members(&Seen::of_report(facts, member, ring))
    })
}

fn forbids(views: &[Seen<'_>], takes: Elsewhere) -> Option<Objection> {
    if let Some((first, other)) = differ(views) {
        return Some(Objection::ElsewhereDiffers { witness: first, other });
    }
    for view in views {
        for (name, (members, _)) in &view.datacenters {
            if *members > 0 && view.has_all_down(name) {
                let (witness, datacenter) = (view.witness.clone(), (*name).to_string());
                return Some(Objection::RegionDown { witness, datacenter });
            }
        }
    }
    for view in views {
        if let Some(odd) = view.odd.iter().find(|m| !takes.takes(m)) {
            return Some(Objection::SeesElsewhere {
                witness: view.witness.clone(),
                address: odd.address.clone(),
                datacenter: odd.datacenter.clone().unwrap_or_default(),
                life: odd.liveness.into(),
                part: odd.state.into(),
            });
        }
    }
    let down: BTreeSet<&StaticAddress> =
        views.iter().flat_map(|view| view.odd.iter().map(|m| &m.address)).collect();
    (down.len() > 1).then(|| Objection::MoreDownElsewhere {
        members: Count::of(down.len(), "member"),
        addresses: Names::of(down),
    })
}

/// Two that do not see the same members of other datacenters: one has not heard yet.
fn differ(views: &[Seen<'_>]) -> Option<(MemberName, MemberName)> {
    let first = views.first()?;
    let other = views.iter().find(|view| view.datacenters != first.datacenters)?;
    Some((first.witness.clone(), other.witness.clone()))
}

/// Host IDs of other datacenters, by the answers to the questions of this turn: whom
/// every answer that knows it has elsewhere. One answer that does not say where makes
/// it one that may be ours.
pub(super) fn hosts(facts: &Facts<'_>) -> BTreeSet<HostId> {
    let Some(turn) = facts.turn() else {
        return BTreeSet::new();
    };
    let asked = [turn.nonce.clone(), nonce_of_gone(turn)];
    let answers = facts.members.values().filter_map(|m| m.status.evidence.as_ref());
    let current = answers.filter(|answer| asked.contains(&answer.nonce));
    let mut elsewhere: BTreeMap<HostId, bool> = BTreeMap::new();
    for member in current.flat_map(|answer| answer.members.iter().flatten()) {
        let is_elsewhere = facts.is_elsewhere(member);
        let all = elsewhere.entry(member.host_id.clone()).or_insert(true);
        *all &= is_elsewhere;
    }
    elsewhere.remove(&HostId::default());
    elsewhere.into_iter().filter(|(_, all)| *all).map(|(host_id, _)| host_id).collect()
}
