//! A datacenter that leaves its ring, and how far its members are closed to clients.

use super::{Facts, MemberFact};
use palladion_api::member::{Debt, DebtKind};

/// Agents of before this protocol close no server, and look at no keyspace before they leave.
pub const KNOWS_DEPARTURES: u32 = 15;

impl Facts<'_> {
    /// Is the datacenter to leave its ring?
    pub fn leaves(&self) -> bool {
        self.spec.datacenter.leave
    }
}

impl MemberFact {
    /// Is it ordered to take no clients any more, on the volume that it is on?
    pub fn is_to_close(&self) -> bool {
        let spec = self.spec.as_ref();
        let named = spec.and_then(|s| s.closing.as_ref()).map(|closing| &closing.volume_id);
        named.is_some() && named == spec.and_then(|s| s.volume_id.as_ref())
    }

    /// Does its volume say that no start of it takes clients?
    pub fn is_noted_closed(&self) -> bool {
        let recorded = self.spec.as_ref().and_then(|s| s.volume_id.as_ref());
        let reported = self.status.volume.as_ref().map(|volume| &volume.volume_id);
        let is_closed = self.status.rebuild.as_ref().is_some_and(|rebuild| !rebuild.open);
        is_closed && recorded.is_some() && recorded == reported
    }

    /// Does it take no clients now, nor by any later start?
    pub fn takes_no_clients(&self) -> bool {
        self.is_to_close() && self.is_noted_closed() && self.is_normal() && self.awaits_rebuild()
    }

    /// Was its repair recorded after all members were closed?
    pub fn is_repair_recorded(&self) -> bool {
        let closing = self.spec.as_ref().and_then(|s| s.closing.as_ref());
        self.is_to_close() && closing.is_some_and(|closing| closing.repair_recorded)
    }

    /// Is a repair of it pending? What only a newer operator knows may be one.
    pub fn awaits_repair(&self) -> bool {
        let mut pending = self.spec.iter().flat_map(|spec| &spec.pending_maintenance);
        pending.any(|debt: &Debt| match debt.kind {
            DebtKind::Repair | DebtKind::Unknown(_) => true,
            DebtKind::Cleanup | DebtKind::UpgradeSstables | DebtKind::Rebuild => false,
        })
    }
}
