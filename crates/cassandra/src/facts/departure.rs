//! A datacenter that leaves its ring, and how far its members are closed to clients.

use super::{ClaimFact, Facts, MemberFact};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::labels;
use palladion_api::member::{Debt, DebtKind};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Copies of keyspaces by datacenter.
type ByDatacenter = BTreeMap<String, BTreeMap<String, u32>>;

/// Agents of before this protocol close no server, and look at no keyspace before they leave.
pub const KNOWS_DEPARTURES: u32 = 15;

impl Facts<'_> {
    /// Is the datacenter to leave its ring?
    pub fn leaves(&self) -> bool {
        self.spec.datacenter.leave
    }

    /// Has it had members, by what is on record? Without that nobody has left.
    pub fn had_members(&self) -> bool {
        let is_of_former =
            |claim: &ClaimFact| claim.object.meta.annotations.contains_key(labels::GONE);
        let has_left = |m: &MemberFact| m.is_gone() || m.claim.as_ref().is_some_and(is_of_former);
        self.ring_exists() || self.is_created() || self.members.values().any(has_left)
    }

    /// The keyspaces with copies here, each with the most copies by datacenter that a member has
    /// counted.
    pub fn copies_to_repair(&self) -> ByDatacenter {
        let own = &self.spec.datacenter.name;
        let mut all = ByDatacenter::new();
        for (keyspace, of) in self.joined().filter_map(MemberFact::counted).flatten() {
            if of.get(own).is_none_or(|here| *here == 0) {
                continue;
            }
            let known = all.entry(keyspace.clone()).or_default();
            for (datacenter, copies) in of {
                let most = known.entry(datacenter.clone()).or_default();
                *most = (*most).max(*copies);
            }
        }
        all
    }

    /// Has a keyspace come since the repair of a member was recorded, or got more copies? What was
    /// written to it before is in no repair.
    pub fn has_more_to_repair(&self) -> bool {
        let now = self.copies_to_repair();
        let recorded = self.joined().filter(|m| m.is_repair_recorded());
        let mut recorded = recorded.filter_map(|m| m.spec.as_ref()?.closing.as_ref());
        recorded.any(|closing| {
            let had = |keyspace: &String, datacenter: &String| {
                let of = closing.repaired.get(keyspace);
                of.and_then(|of| of.get(datacenter)).copied().unwrap_or_default()
            };
            now.iter().any(|(keyspace, of)| {
                of.iter().any(|(datacenter, copies)| *copies > had(keyspace, datacenter))
            })
        })
    }
}

/// The patch of an order to close by which no repair is on record any more: a merge patch keeps what
/// it does not name.
pub fn no_repair_recorded() -> Value {
    json!({ "repairRecorded": null, "closedAt": null, "repaired": null })
}

impl MemberFact {
    /// Is its agent of before departures?
    pub fn knows_no_departures(&self) -> bool {
        self.status.agent.as_ref().is_some_and(|agent| agent.protocol < KNOWS_DEPARTURES)
    }

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

    /// Does it take no clients now, nor by any later start? Its agent has looked at the port: that
    /// it was called to close it is not enough.
    pub fn takes_no_clients(&self) -> bool {
        let is_shut = self.native_transport() == Some(false);
        let is_noted = self.is_to_close() && self.is_noted_closed();
        is_noted && is_shut && self.is_normal() && self.awaits_rebuild()
    }

    fn native_transport(&self) -> Option<bool> {
        self.status.server.as_ref().and_then(|server| server.native_transport)
    }

    /// When its server was last closed, by its note.
    pub fn closed_at(&self) -> Option<&Time> {
        self.status.rebuild.as_ref().and_then(|rebuild| rebuild.closed_at.as_ref())
    }

    /// Has it taken clients since its repair was recorded, or does it now?
    pub fn has_opened_since(&self) -> bool {
        let closing = self.spec.as_ref().and_then(|s| s.closing.as_ref());
        let is_later = closing.is_some_and(|closing| {
            closing.repair_recorded && closing.closed_at.as_ref() != self.closed_at()
        });
        is_later || self.native_transport() == Some(true)
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
