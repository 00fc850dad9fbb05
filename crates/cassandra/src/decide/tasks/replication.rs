//! A task that sets copies by datacenter: one member writes them for the ring, and more copies in
//! this datacenter are repaired.

use super::queue::Job;
use super::read::Task;
use crate::decide::draft::Draft;
use crate::decide::maintenance::{debts, system_keyspaces};
use crate::facts::Facts;
use crate::validate::Valid;
use crate::words::jobs::Refused;
use crate::words::maintenance::Cause;
use palladion_api::ids::MemberName;
use palladion_api::task::{ReplicationTask, SimpleReplication, TaskKind};
use palladion_plan::words::{Count, Names};
use serde_json::json;

/// What the task asks for, if it is one of these.
fn body<'a>(task: &'a Task<'_>) -> Option<&'a ReplicationTask> {
    task.spec.work.replication.as_ref()
}

/// Why it cannot be done as it stands.
pub fn refused(facts: &Facts<'_>, valid: &Valid, task: &Task<'_>) -> Option<Refused> {
    let body = body(task)?;
    let of_system: Vec<&String> =
        body.keyspaces.iter().filter(|name| system_keyspaces::is_one(name)).collect();
    let (datacenter, own) = (&body.datacenter, &valid.datacenter);
    if datacenter == own && !of_system.is_empty() {
        let (datacenter, keyspaces) = (datacenter.clone(), Names::of(of_system));
        return Some(Refused::KeptByOperator { datacenter, keyspaces });
    }
    let has_members = facts.members_elsewhere().contains_key(datacenter.as_str());
    if body.factor == 0 && has_members && !of_system.is_empty() {
        let (datacenter, keyspaces) = (datacenter.clone(), Names::of(of_system));
        return Some(Refused::HasMembers { datacenter, keyspaces });
    }
    let members = facts.joined().count();
    let racks = valid.racks.iter().filter(|rack| rack.members > 0).count();
    let all_hold = usize::try_from(body.factor).is_ok_and(|copies| copies >= members);
    if body.simple_strategy == SimpleReplication::Convert && racks > 1 && !all_hold {
        return Some(Refused::WouldMove {
            keyspaces: Names::of(&body.keyspaces),
            copies: body.factor,
            racks: Count::of(racks, "rack"),
            members: Count::of(members, "member"),
        });
    }
    None
}

/// The one member that does it: the first that serves, with an agent of this protocol: it knows
/// the work, and leaves the copies of others as they are.
pub fn writer(facts: &Facts<'_>, mut names: Vec<MemberName>, knows: u32) -> Vec<MemberName> {
    let can = |name: &MemberName| {
        let member = facts.members.get(name);
        member.is_some_and(|m| {
            let agent = m.status.agent.as_ref();
            m.is_live(&facts.nodes) && agent.is_some_and(|a| a.protocol >= knows)
        })
    };
    let first = names.iter().position(can).unwrap_or(0);
    names.drain(..first);
    names.truncate(1);
    names
}

/// Keyspaces have more copies here: whoever holds them now has them after a repair of all his
/// ranges, since those of another datacenter may be the only ones so far. Where it is not known
/// how many there were, as after a statement whose answer was lost, there may be more.
pub fn owe_repair(facts: &Facts<'_>, valid: &Valid, job: &Job<'_>, draft: &mut Draft) {
    let Some(body) = body(&job.task).filter(|_| job.kind == TaskKind::Replication) else {
        return;
    };
    let results = job.status.members.iter().flat_map(|entry| &entry.keyspaces);
    let may_be_raised =
        |had: Option<u32>| body.factor > 0 && had.is_none_or(|had| had < body.factor);
    let mut raised = results.filter(|k| may_be_raised(k.copies_before));
    let is_shared = facts.joined().count() > 1 || facts.may_have_others();
    if body.datacenter != valid.datacenter || raised.next().is_none() || !is_shared {
        return;
    }
    let task = job.task.name().to_string();
    let repair = debts::repair_of_itself(Cause::Raised { task });
    for member in facts.joined() {
        let pending = member.spec.iter().flat_map(|s| &s.pending_maintenance);
        if pending.clone().any(|debt| debt.reason == repair.reason) {
            continue;
        }
        let Some(all) = debts::with(member, &repair) else { continue };
        let spec = json!({ "pendingMaintenance": all });
        draft.steps.extend(debts::patch(member, spec, debts::recorded(member)));
    }
}
