//! A datacenter that was added to a ring (safety rule 7.18): its members are rebuilt once keyspaces
//! name it, repaired, and then opened to clients, all together. What names it later is rebuilt as
//! well; until then a condition says what not to read here.

use super::{debts, system_keyspaces};
use crate::decide::draft::Draft;
use crate::decide::evidence::marks;
use crate::facts::{self, Facts, MemberFact};
use crate::resources as kinds;
use crate::words::maintenance::{Added, Cause, Doing, Happened};
use palladion_api::cluster::AuthMode;
use palladion_api::ids::MemberName;
use palladion_api::labels;
use palladion_api::member::{DebtKind, Opening};
use palladion_plan::words::{Count, Names};
use palladion_plan::{Event, Step};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Record what members lack, open those that lack nothing, and say what is waited for.
pub fn decide(facts: &Facts<'_>, draft: &mut Draft) {
    // One that was to leave opens as one that was added, unless it takes clients already.
    let is_closed = facts.is_added() || !facts.takes_clients();
    if facts.leaves() || !is_closed || !facts.ring_exists() {
        return;
    }
    for member in facts.joined().filter(|m| marks::of(m).is_none()) {
        draft.steps.extend(owe(facts, member));
    }
    match facts.takes_clients() {
        false => first(facts, draft),
        true => later(facts, draft),
    }
}

/// What a member lacks goes on record.
fn owe(facts: &Facts<'_>, member: &MemberFact) -> Option<Step> {
    let lacks = member.lacks(&facts.spec.datacenter.name)?;
    let pending = &member.spec.as_ref()?.pending_maintenance;
    if lacks.is_empty() || pending.iter().any(|debt| debt.kind == DebtKind::Rebuild) {
        return None;
    }
    let cause = Cause::NotRebuilt { member: member.name.clone(), at: facts.now() };
    let spec = debts::spec_with(member, &debts::rebuild_of(cause))?;
    let meta = &member.object.as_ref()?.meta;
    let doing = debts::recorded(member);
    Some(Step::patch_as_seen(kinds::MEMBER, meta, json!({ "spec": spec }), doing))
}

/// Nobody takes clients yet.
fn first(facts: &Facts<'_>, draft: &mut Draft) {
    if let Some(why) = closed(facts) {
        draft.wait_for(why);
        return;
    }
    let members: Vec<&MemberFact> = facts.joined().collect();
    let count = Count::of(members.len(), "member");
    let datacenter = facts.spec.datacenter.name.clone();
    let mut event = Some(Event::normal(Happened::Opened { datacenter, members: count }));
    for member in members {
        draft.steps.extend(open(member).map(|step| step.announced(event.take())));
    }
}

/// Why no member may take clients.
fn closed(facts: &Facts<'_>) -> Option<Added> {
    let own = &facts.spec.datacenter.name;
    let all: Vec<&MemberFact> = facts.joined().collect();
    let members = || Count::of(all.len(), "member");
    let unknown: Vec<&MemberName> =
        all.iter().filter(|m| m.lacks(own).is_none()).map(|m| &m.name).collect();
    let lacks = |m: &&&MemberFact| m.lacks(own).is_none_or(|lacks| !lacks.is_empty());
    let done = all.len() - all.iter().filter(lacks).count();
    if !unknown.is_empty() {
        return Some(Added::NotCounted { done, members: members(), unknown: Names::of(unknown) });
    }
    if let Some(why) = uneven(facts) {
        return Some(why);
    }
    let named = all.iter().flat_map(|m| m.copies_here()).filter(|(_, copies)| *copies > 0);
    let named: BTreeSet<&String> = named.map(|(keyspace, _)| keyspace).collect();
    let of_clients = named.iter().any(|keyspace| !system_keyspaces::is_one(keyspace));
    if !of_clients && !is_confirmed(facts) {
        return Some(Added::NotNamed { members: members(), datacenter: own.clone() });
    }
    if asks(facts) && !named.iter().any(|keyspace| *keyspace == system_keyspaces::ROLES) {
        return Some(Added::NotReplicated { members: members(), datacenter: own.clone() });
    }
    let mut lacking: Vec<&String> = all.iter().filter_map(|m| m.lacks(own)).flatten().collect();
    lacking.sort();
    lacking.dedup();
    if !lacking.is_empty() {
        let keyspaces = Names::of(lacking);
        return Some(Added::NotRebuilt { done, members: members(), keyspaces });
    }
    let pending: Vec<&MemberName> = all.iter().filter(|m| is_pending(m)).map(|m| &m.name).collect();
    if !pending.is_empty() {
        return Some(Added::NotRepaired { members: members(), pending: Names::of(pending) });
    }
    system_keyspaces::joining(facts).map(|m| Added::Joining { member: m.name.clone() })
}

/// Keyspaces whose members here change as soon as they count copies by datacenter.
fn uneven(facts: &Facts<'_>) -> Option<Added> {
    let keyspaces: BTreeSet<&String> = facts.joined().flat_map(MemberFact::uneven).collect();
    let members = Count::of(facts.joined().count(), "member");
    let is_one = !keyspaces.is_empty();
    is_one.then(|| Added::Uneven { members, keyspaces: Names::of(keyspaces) })
}

/// Do clients need roles?
fn asks(facts: &Facts<'_>) -> bool {
    facts.spec.auth.as_ref().is_some_and(|auth| auth.mode == AuthMode::Password)
}

/// Has a person said that it may be opened although no keyspace of clients names it?
fn is_confirmed(facts: &Facts<'_>) -> bool {
    let annotations = &facts.snapshot.owner.meta.annotations;
    annotations.get(labels::OPEN_DATACENTER).is_some_and(|nonce| !nonce.is_empty())
}

/// Is a rebuild pending, or a repair that it needs?
fn is_pending(member: &MemberFact) -> bool {
    let mut pending = member.spec.iter().flat_map(|s| &s.pending_maintenance);
    pending.any(debts::may_lack)
}

fn open(member: &MemberFact) -> Option<Step> {
    let object = member.object.as_ref()?;
    let volume_id = member.spec.as_ref()?.volume_id.clone()?;
    let mut spec = json!({ "opening": Opening { volume_id } });
    if member.spec.as_ref()?.closing.is_some() {
        spec["closing"] = Value::Null;
    }
    facts::clear_of_member(object, &mut spec);
    let doing = Doing::Open { member: member.name.clone() };
    Some(Step::patch_as_seen(kinds::MEMBER, &object.meta, json!({ "spec": spec }), doing))
}

/// Its datacenter takes clients: who has come since does too, when it lacks nothing.
fn later(facts: &Facts<'_>, draft: &mut Draft) {
    let own = &facts.spec.datacenter.name;
    let (mut opening, mut keyspaces, mut behind) = (Vec::new(), Vec::new(), Vec::new());
    for member in facts.joined() {
        let lacks = member.lacks(own);
        let has_all = lacks.as_ref().is_some_and(Vec::is_empty);
        let is_even = member.uneven().next().is_none();
        if !member.is_opened() && has_all && is_even && !is_pending(member) {
            draft.steps.extend(open(member));
        }
        match lacks {
            Some(lacks) if !lacks.is_empty() && !member.awaits_rebuild() => {
                keyspaces.extend(lacks);
                behind.push(&member.name);
            }
            Some(_) | None if member.awaits_rebuild() => opening.push(&member.name),
            Some(_) | None => {}
        }
    }
    keyspaces.sort();
    keyspaces.dedup();
    if !behind.is_empty() {
        let (keyspaces, members) = (Names::of(keyspaces), Names::of(behind));
        draft.wait_for(Added::Behind { keyspaces, members });
    }
    if let Some(why) = uneven(facts).filter(|_| !opening.is_empty()) {
        draft.wait_for(why);
    }
    if !opening.is_empty() {
        draft.wait_for(Added::Opening { members: Names::of(opening) });
    }
}
