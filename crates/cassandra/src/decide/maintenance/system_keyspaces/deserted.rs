//! Another datacenter that has left the ring, or was removed from it: the system keyspaces name it
//! still, so that no later change of them is taken by the servers, and copies are counted from
//! members alone. So it is on record where they have copies, and what has no member any more in
//! any own view is dropped. A server takes no such statement while the datacenter has members.

use super::had::{Had, had};
use super::{Job, Part, is_altered, record, waits};
use crate::decide::draft::Draft;
use crate::facts::{Facts, MemberFact};
use crate::validate::Valid;
use crate::words::maintenance::{Added, Doing, Happened};
use palladion_api::cluster::SystemReplicationChange;
use palladion_plan::{Event, Flow};
use serde_json::{Value, json};

/// Most that are on record: what the schema takes.
const MOST: usize = 64;

/// Put on record where the system keyspaces have copies, and begin to drop the first datacenter that
/// has no member any more.
pub(super) fn drop_one(facts: &Facts<'_>, draft: &mut Draft) -> Flow {
    let known = &facts.status.system_replication_elsewhere;
    let others = facts.members_elsewhere();
    let has_some = |name: &&&str| match had(facts, name) {
        Some(Had::All | Had::Some { .. }) => true,
        Some(Had::Nothing) | None => false,
    };
    let is_new = |name: &&&str| !known.iter().any(|known| known == **name);
    if let Some(name) = others.keys().filter(is_new).find(has_some)
        && known.len() < MOST
    {
        let mut all = known.clone();
        all.push((*name).to_string());
        let doing = Doing::NoteElsewhere { datacenter: (*name).to_string() };
        draft.steps.push(record(facts, json!({ "systemReplicationElsewhere": all }), doing));
    }
    let Some(name) = known.iter().find(|name| is_deserted(facts, name)) else {
        return Flow::Free;
    };
    if waits(facts, draft) {
        return Flow::Busy;
    }
    let (datacenter, nonce) = (name.clone(), facts.snapshot.nonce.clone());
    let doing = Doing::Drop { datacenter: datacenter.clone() };
    let change = SystemReplicationChange { factor: 0, datacenter: Some(datacenter), nonce };
    draft.steps.push(record(facts, json!({ "systemReplicationChange": change }), doing));
    Flow::Busy
}

/// Do all members here report the ring, and none of them anybody of this datacenter? Who is down
/// there is somebody.
fn is_deserted(facts: &Facts<'_>, datacenter: &str) -> bool {
    let sees_nobody = |member: &MemberFact| {
        let ring = member.status.ring.as_ref().filter(|_| member.is_normal());
        ring.is_some_and(|ring| {
            let own = &facts.spec.datacenter.name;
            let is_placed = ring.datacenters.iter().any(|d| d.name == *own && d.members > 0);
            let is_there = |name: &str, members: u32| name == datacenter && members > 0;
            is_placed && !ring.datacenters.iter().any(|d| is_there(&d.name, d.members))
        })
    };
    facts.joined().next().is_some() && facts.joined().all(sees_nobody)
}

/// Have the datacenter dropped, and take it off the record.
pub(super) fn go_on(
    facts: &Facts<'_>,
    valid: &Valid,
    change: &SystemReplicationChange,
    draft: &mut Draft,
) {
    let datacenter = change.datacenter.clone().unwrap_or_default();
    let joined: Vec<&MemberFact> = facts.joined().collect();
    let is_back = facts.members_elsewhere().contains_key(datacenter.as_str());
    let is_dropped = is_altered(&joined, change);
    if is_dropped || is_back {
        let mut known = facts.status.system_replication_elsewhere.clone();
        known.retain(|name| is_back || *name != datacenter);
        let status = json!({
            "systemReplicationChange": Value::Null,
            "systemReplicationElsewhere": known,
        });
        let event = Event::normal(Happened::Dropped { datacenter: datacenter.clone() });
        let step = record(facts, status, Doing::Dropped { datacenter });
        draft.steps.push(step.announced((!is_back).then_some(event)));
        return;
    }
    if waits(facts, draft) {
        return;
    }
    // Agents of before leave what another datacenter has as it is, and report that as done.
    if let Some(old) = joined.iter().find(|m| m.knows_no_departures()) {
        let agent = old.status.agent.as_ref().map(|a| a.version.clone()).unwrap_or_default();
        let (member, subject) = (old.name.clone(), old.subject());
        draft.wait_for(Added::KeepsDeserted { member, agent, datacenter }).about(subject);
        return;
    }
    Job { facts, valid, change, part: Part::Alter }.alter(&joined, draft);
    draft.wait_for(Added::Dropping { datacenter });
}
