//! Members of other datacenters of the ring, which other CassandraClusters describe or
//! nobody does. They are known by the datacenter that they gossip, in views of our own
//! members. Whose datacenter a view does not say is taken for one of ours.

use super::{Facts, KNOWS_DATACENTERS, MemberFact, lines};
use palladion_api::conditions::ALL_REGIONS_NORMAL;
use palladion_api::ids::MemberName;
use palladion_api::labels;
use palladion_api::member::{DatacenterSummary, RingMember, RingSummary};
use std::collections::BTreeSet;

impl Facts<'_> {
    /// Is this a member of another datacenter? One of ours is ours whatever gossip calls its
    /// datacenter, and so is whoever has an address of ours.
    pub fn is_elsewhere(&self, seen: &RingMember) -> bool {
        let says_so = seen.datacenter.as_ref().is_some_and(|d| *d != self.spec.datacenter.name);
        let is_ours = |m: &MemberFact| {
            let service = m.service.as_ref().and_then(|s| s.address.as_ref());
            let spec = m.spec.as_ref().and_then(|s| s.address.as_ref());
            let has_address = [m.recorded_address(), spec, service].contains(&Some(&seen.address));
            has_address || m.recorded_host_id() == Some(&seen.host_id)
        };
        says_so && !self.members.values().any(is_ours)
    }

    /// The other datacenters, as this view has them. None where it does not say which
    /// datacenter is ours: then all that it has is taken for ours.
    pub fn other_datacenters<'r>(&self, view: &'r RingSummary) -> Vec<&'r DatacenterSummary> {
        let own = &self.spec.datacenter.name;
        let (ours, others): (Vec<_>, Vec<_>) =
            view.datacenters.iter().partition(|d| d.name == *own);
        let names_ours = ours.iter().any(|d| d.members > 0);
        // One of ours that is said to be elsewhere: names of datacenters tell nothing here.
        let is_off = view
            .exceptions
            .iter()
            .any(|e| e.datacenter.as_ref().is_some_and(|d| d != own) && !self.is_elsewhere(e));
        if names_ours && !is_off { others } else { Vec::new() }
    }

    /// How many members of ours this view has: all that it does not have elsewhere.
    pub fn own_members(&self, view: &RingSummary) -> usize {
        let others: u32 = self.other_datacenters(view).iter().map(|d| d.members).sum();
        usize::try_from(view.members.saturating_sub(others)).unwrap_or(usize::MAX)
    }

    /// Does this member of ours not say in which datacenter anybody is, since its agent is of
    /// before that? All that it sees may be ours.
    pub fn is_blind(&self, member: &MemberFact) -> bool {
        let is_old = member.status.agent.as_ref().is_some_and(|a| a.protocol < KNOWS_DATACENTERS);
        is_old && member.status.ring.as_ref().is_some_and(|ring| ring.datacenters.is_empty())
    }

    /// Does a member that is up report that the ring has other datacenters?
    pub fn has_other_datacenters(&self) -> bool {
        self.current_views().any(|view| !self.other_datacenters(view).is_empty())
    }

    /// The datacenter without which members here restart and are replaced, as a user has said for
    /// the absence that is on record.
    pub fn goes_without(&self) -> Option<&str> {
        let down = self.status.region_down.as_ref()?;
        let annotations = &self.snapshot.owner.meta.annotations;
        let (name, nonce) = annotations.get(labels::WITHOUT_DATACENTER)?.rsplit_once('@')?;
        let is_it = name == down.datacenter && nonce == down.nonce.as_str();
        is_it.then_some(down.datacenter.as_str())
    }

    /// May members elsewhere have run, and have taken writes and deletions, while none of ours did?
    /// Nobody's view says so then. That there were others once is on record all the same: the
    /// condition of the other regions stays where it was set.
    pub fn others_may_have_run(&self) -> bool {
        let mut conditions = self.status.conditions.iter();
        let is_on_record = conditions.any(|c| c.type_ == ALL_REGIONS_NORMAL);
        is_on_record || self.may_have_others()
    }

    /// Members of a datacenter that was added to a ring which lack data that they should have, or
    /// of which that is not known. What one of them gives to the others when it goes is not whole.
    pub fn not_rebuilt(&self) -> Vec<&MemberName> {
        let own = &self.spec.datacenter.name;
        let lacks = |m: &&MemberFact| m.lacks(own).is_none_or(|lacks| !lacks.is_empty());
        let all = self.joined().filter(|_| self.is_added()).filter(|m| m.is_normal());
        all.filter(lacks).map(|m| &m.name).collect()
    }

    /// Release lines that run in other datacenters, as far as they are known: which, and of whom.
    pub fn versions_elsewhere(&self) -> impl Iterator<Item = (&DatacenterSummary, &str)> {
        let others = self.current_views().flat_map(|view| self.other_datacenters(view));
        others.flat_map(|d| d.versions.iter().map(move |version| (d, version.as_str())))
    }

    /// The same, as lines.
    pub fn lines_elsewhere(&self) -> BTreeSet<(u32, u32)> {
        self.versions_elsewhere().filter_map(|(_, version)| lines::line(version)).collect()
    }

    /// What members report of the ring that are up and normal.
    pub(super) fn current_views(&self) -> impl Iterator<Item = &RingSummary> {
        self.joined().filter(|m| m.is_normal()).filter_map(|m| m.status.ring.as_ref())
    }
}
