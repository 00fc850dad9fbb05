//! A task that sets copies by datacenter: one member writes them for the ring, and more copies in
//! this datacenter are repaired.

use super::follow;
use super::queue::Job;
use super::read::{Task, is_over};
use super::units;
use crate::decide::draft::Draft;
use crate::decide::evidence::given;
use crate::decide::maintenance::{debts, system_keyspaces};
use crate::facts::{Facts, MemberFact};
use crate::resources as kinds;
use crate::validate::Valid;
use crate::words::jobs::Refused;
use crate::words::maintenance::Cause;
use palladion_api::ids::{MemberName, RackName};
use palladion_api::reasons::Reason;
use palladion_api::task::{
    MemberTaskState as State, ReplicationTask, SimpleReplication, TaskKind, TaskMember,
};
use palladion_plan::words::{Count, Names};
use serde_json::json;
use std::collections::BTreeSet;

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
    // Until members here are rebuilt the copies there may be all that there are.
    let lacking = facts.not_rebuilt();
    if body.factor == 0 && datacenter != own && !lacking.is_empty() {
        let (datacenter, own) = (datacenter.clone(), own.clone());
        return Some(Refused::NotRebuilt { datacenter, own, members: Names::of(lacking) });
    }
    let members = facts.joined().count();
    // Also those that are not wanted any more: a copy is placed wherever a member is.
    let wanted = valid.racks.iter().filter(|rack| rack.members > 0).map(|rack| &rack.name);
    let racks: BTreeSet<&RackName> =
        facts.joined().map(|member| &member.rack).chain(wanted).collect();
    let racks = racks.len();
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
pub fn owe_repair(facts: &Facts<'_>, job: &Job<'_>, draft: &mut Draft) {
    let Some(body) = body(&job.task).filter(|_| job.kind == TaskKind::Replication) else {
        return;
    };
    let members = &job.status.members;
    // Of a member that did not answer, or was silent to the end of its last try, nobody knows what
    // it came to. An answer names each keyspace for which a statement was made.
    let unheard = [Reason::MemberLost, Reason::Interrupted].map(|reason| reason.to_string());
    let is_open = |entry: &TaskMember| {
        let is_named = |name: &String| entry.keyspaces.iter().any(|k| k.name == *name);
        let is_unheard = entry.reason.as_ref().is_some_and(|reason| unheard.contains(reason));
        is_unheard && follow::is_final(entry.state) && !body.keyspaces.iter().all(is_named)
    };
    let results = members.iter().flat_map(|entry| &entry.keyspaces);
    let mut raised = results.filter(|k| is_raised(body, k.copies_before));
    if raised.next().is_some() || (is_raised(body, None) && members.iter().any(is_open)) {
        owe(facts, body, Cause::Raised { task: job.task.name().to_string() }, draft);
    }
}

/// Parts of the task that were interrupted, and are not on record as such yet: what has come of
/// them stands in a report that that of the next part replaces, and other tasks come between.
pub fn owe_repair_of_interrupted(facts: &Facts<'_>, job: &Job<'_>, draft: &mut Draft) {
    let Some(body) = body(&job.task).filter(|_| job.kind == TaskKind::Replication) else {
        return;
    };
    let is_interrupted = |entry: &&TaskMember| entry.state == State::Interrupted;
    let on_record = job.task.status.members.iter().filter(is_interrupted);
    let known: Vec<&MemberName> = on_record.map(|entry| &entry.name).collect();
    let new = job.status.members.iter().filter(is_interrupted);
    let may_have_raised = |entry: &TaskMember| {
        let member = units::member(facts, &entry.name);
        member.and_then(|member| has_raised(body, member)).unwrap_or_else(|| {
            // An agent that answers, and has not said so, has not begun.
            member.is_none_or(|m| !m.agent_answers(&facts.nodes)) && is_raised(body, None)
        })
    };
    for entry in new.filter(|entry| !known.contains(&&entry.name) && may_have_raised(entry)) {
        // The same in the next decision, if this one is not carried out.
        let at = entry.started_at.as_ref().map_or(facts.now(), |at| at.0);
        let task = job.task.name().to_string();
        owe(facts, body, Cause::RaisedSoFar { task, at }, draft);
    }
}

/// The part that a member was given of a task is taken away, and the task is gone, by whose end it
/// would have been recorded: the statement may have been carried out.
pub fn owe_repair_of_deleted(facts: &Facts<'_>, member: &MemberFact, draft: &mut Draft) {
    let Some(part) = given::asked(member) else { return };
    let Some(body) = &part.work.replication else { return };
    let task = facts.objects(kinds::TASK).iter().find(|object| object.meta.uid == part.task);
    // One that has ended was recorded with its end.
    if task.is_some_and(|object| is_over(object)) {
        return;
    }
    if has_raised(body, member).unwrap_or_else(|| is_raised(body, None)) {
        owe(facts, body, Cause::RaisedByDeleted { at: facts.now() }, draft);
    }
}

/// Has the part that the member was given raised a keyspace, or may it have, by the report of its
/// end? Nothing where it has reported none.
fn has_raised(body: &ReplicationTask, member: &MemberFact) -> Option<bool> {
    let answer = given::answer(member).filter(|answer| answer.state.is_final())?;
    Some(answer.results.iter().any(|k| is_raised(body, k.copies_before)))
}

/// Has a keyspace more copies now than it had, or may it?
fn is_raised(body: &ReplicationTask, had: Option<u32>) -> bool {
    body.factor > 0 && had.is_none_or(|had| had < body.factor)
}

fn owe(facts: &Facts<'_>, body: &ReplicationTask, cause: Cause, draft: &mut Draft) {
    let is_shared = facts.joined().count() > 1 || facts.may_have_others();
    if body.datacenter != facts.spec.datacenter.name || !is_shared {
        return;
    }
    let repair = debts::repair_of_itself(cause);
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
