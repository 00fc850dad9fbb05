//! The members that a server knows, from its lists: the union of them all, so
//! that nobody is forgotten who stands in one only.

use palladion_api::ids::{HostId, StaticAddress};
use palladion_api::member::{Liveness, MemberState, RingMember};
use std::collections::{BTreeMap, BTreeSet};

/// A server's lists of addresses.
pub(super) struct Lists {
    pub live: BTreeSet<StaticAddress>,
    pub down: BTreeSet<StaticAddress>,
    pub joining: BTreeSet<StaticAddress>,
    pub leaving: BTreeSet<StaticAddress>,
    pub moving: BTreeSet<StaticAddress>,
    /// What gossip still says of somebody: all but those that left or were removed.
    pub gossiped: BTreeSet<StaticAddress>,
    pub host_ids: BTreeMap<StaticAddress, HostId>,
    /// Where each member is and what it runs, as gossip has it.
    pub places: BTreeMap<StaticAddress, Place>,
}

/// Where a member is and what it runs, by its own word. Of one that has been down
/// since this server was started, and that nobody has told of since, gossip has neither.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub datacenter: Option<String>,
    pub version: Option<String>,
}

impl Lists {
    /// Every member, by address.
    pub fn members(&self) -> Vec<RingMember> {
        let all: BTreeSet<&StaticAddress> =
            self.live.iter().chain(&self.down).chain(self.host_ids.keys()).collect();
        all.into_iter()
            .filter(|address| !self.has_left(address))
            .map(|address| self.member(address))
            .collect()
    }

    /// Gossip may keep the address of a member that has left among those that
    /// cannot be reached, for days: it is convicted after it was taken out. It
    /// holds no range then, has no host ID and is about to get none.
    fn has_left(&self, address: &StaticAddress) -> bool {
        let listed = [&self.live, &self.joining, &self.leaving, &self.moving];
        !self.host_ids.contains_key(address)
            && !self.gossiped.contains(address)
            && listed.iter().all(|list| !list.contains(address))
    }

    fn member(&self, address: &StaticAddress) -> RingMember {
        let host_id = self.host_ids.get(address).cloned().unwrap_or_default();
        let state = if self.leaving.contains(address) {
            MemberState::Leaving
        } else if self.moving.contains(address) {
            MemberState::Moving
        } else if self.joining.contains(address) || host_id.is_empty() {
            // An address without a host ID is not a member yet, or not any more.
            MemberState::Joining
        } else {
            MemberState::Normal
        };
        let liveness = if self.live.contains(address) { Liveness::Up } else { Liveness::Down };
        let Place { datacenter, version } = self.places.get(address).cloned().unwrap_or_default();
        RingMember { host_id, address: address.clone(), liveness, state, datacenter, version }
    }
}
