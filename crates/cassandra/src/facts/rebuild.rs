//! A datacenter that was added to a ring, and what its members have of the ring's data.

use super::{Facts, MemberFact};
use palladion_api::cluster::RingOrigin;
use palladion_api::member::{DebtKind, MOST_REBUILT, lacking};
use std::collections::BTreeMap;

/// Agents of before this protocol report no datacenters, drop the copies of others when they alter
/// a replication, and know no rebuilds.
pub const KNOWS_DATACENTERS: u32 = 13;

/// Copies of keyspaces by datacenter.
type ByDatacenter = BTreeMap<String, BTreeMap<String, u32>>;

impl Facts<'_> {
    /// Was the datacenter added to a ring that had others? Its members are closed at first.
    pub fn is_added(&self) -> bool {
        self.spec.ring.is_some_and(|ring| ring.origin == RingOrigin::Existing)
    }

    /// Do members of it take clients, or were they ordered to?
    pub fn takes_clients(&self) -> bool {
        match self.is_added() {
            true => self.joined().any(MemberFact::is_opened),
            // A datacenter that was to leave is closed until it is opened again.
            false => !self.joined().any(|m| m.is_noted_closed() && !m.is_opened()),
        }
    }

    /// Has the ring other datacenters, or may it have? Where an agent is of before it could say,
    /// seeds elsewhere say so.
    pub fn may_have_others(&self) -> bool {
        self.is_added() || !self.spec.external_seeds.is_empty() || self.has_other_datacenters()
    }

    /// The other datacenters that members see, each with the smallest number of members.
    pub fn members_elsewhere(&self) -> BTreeMap<&str, u32> {
        let mut all: BTreeMap<&str, u32> = BTreeMap::new();
        for seen in self.current_views().flat_map(|view| self.other_datacenters(view)) {
            let known = all.entry(&seen.name).or_insert(seen.members);
            *known = seen.members.min(*known);
        }
        all
    }

    /// The keyspaces that every member of the ring here has, this one left out, each with the
    /// smallest number of copies that one of them has counted: what it streams of
    /// them, when it enters the ring, is complete. None where its datacenter takes no clients, and
    /// where somebody lacks something or has not said.
    pub fn rebuilt_without(&self, newcomer: &MemberFact) -> Option<BTreeMap<String, u32>> {
        let own = &self.spec.datacenter.name;
        let mut named: BTreeMap<String, u32> = BTreeMap::new();
        let mut others = self.joined().filter(|m| m.name != newcomer.name).peekable();
        others.peek().filter(|_| self.is_added())?;
        for member in others {
            let mut pending = member.spec.iter().flat_map(|spec| &spec.pending_maintenance);
            // What it has of it may be one copy's, until it is repaired.
            let is_whole = !pending.any(|debt| debt.kind == DebtKind::Repair);
            let copies = member.counted().filter(|_| member.is_opened() && is_whole)?;
            if !member.lacks(own)?.is_empty() {
                return None;
            }
            let uneven = &member.status.not_by_datacenter;
            for keyspace in lacking(own, copies, uneven, &BTreeMap::new()) {
                let here = copies.get(keyspace).and_then(|of| of.get(own)).copied()?;
                let known = named.entry(keyspace.clone()).or_insert(here);
                *known = here.min(*known);
            }
        }
        (named.len() <= MOST_REBUILT).then_some(named)
    }
}

impl MemberFact {
    /// Was it ordered to take clients, with the volume that it is on?
    pub fn is_opened(&self) -> bool {
        let spec = self.spec.as_ref();
        let named = spec.and_then(|s| s.opening.as_ref()).map(|opening| &opening.volume_id);
        let volume_id = spec.and_then(|s| s.volume_id.as_ref());
        // A cluster that was made again finds members open.
        let is_open = || {
            let volume = self.volume().map(|volume| &volume.volume_id);
            let is_open = self.status.rebuild.as_ref().is_some_and(|rebuild| rebuild.open);
            is_open && volume.is_some() && volume == volume_id
        };
        (named.is_some() && named == volume_id) || is_open()
    }

    /// Does its server take no clients, since it is not rebuilt?
    pub fn awaits_rebuild(&self) -> bool {
        self.status.server.as_ref().is_some_and(|server| server.awaits_rebuild)
    }

    /// Copies by datacenter, where its agent counts them.
    pub fn counted(&self) -> Option<&ByDatacenter> {
        let counted = &self.status.copies_by_datacenter;
        Some(counted).filter(|counted| self.is_normal() && !counted.is_empty())
    }

    /// Keyspaces that it lacks; none where that is not known.
    pub fn lacks(&self, datacenter: &str) -> Option<Vec<&String>> {
        let rebuilt = self.status.rebuild.as_ref()?;
        let uneven = &self.status.not_by_datacenter;
        Some(lacking(datacenter, self.counted()?, uneven, &rebuilt.keyspaces))
    }

    /// Keyspaces with copies in its datacenter that do not count them by it.
    pub fn uneven(&self) -> impl Iterator<Item = &String> {
        let here = self.copies_here();
        let is_here = move |name: &&String| here.get(*name).is_some_and(|copies| *copies > 0);
        self.status.not_by_datacenter.iter().filter(is_here)
    }

    /// Copies of each keyspace in its own datacenter.
    pub fn copies_here(&self) -> BTreeMap<&String, u32> {
        let own = self.spec.as_ref().map(|spec| spec.datacenter.as_str()).unwrap_or_default();
        let status = &self.status;
        if status.copies_by_datacenter.is_empty() {
            return status.copies.iter().map(|(name, copies)| (name, *copies)).collect();
        }
        let all = status.copies_by_datacenter.iter();
        all.map(|(name, of)| (name, of.get(own).copied().unwrap_or_default())).collect()
    }
}
