//! How far a datacenter is that leaves its ring: each time by what members report, so that what
//! somebody changes meanwhile holds up the next leave.

use crate::decide::evidence;
use crate::decide::maintenance::system_keyspaces;
use crate::facts::leaver::failed_halfway;
use crate::facts::{Facts, MemberFact};
use crate::words::departure::{Refused, Waiting};
use palladion_api::ids::MemberName;
use palladion_plan::words::Names;
use std::collections::{BTreeMap, BTreeSet};

/// How far it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// No member of it is in the ring.
    Left,
    /// Nothing is done before this is over.
    Waits(Waiting),
    /// A person must change something.
    Refused(Refused),
    /// Members are to be closed, all together.
    Closes,
    /// All are closed: their repairs are recorded.
    RecordsRepairs,
    /// They are repaired one after the other.
    Repairs(Waiting),
    /// They leave one after the other.
    Goes,
}

/// How far; none where it does not leave.
pub fn of(facts: &Facts<'_>) -> Option<Stage> {
    facts.leaves().then(|| stage(facts))
}

/// May its members leave now?
pub fn goes(facts: &Facts<'_>) -> bool {
    of(facts) == Some(Stage::Goes)
}

/// Does this member leave with all others now, by force if need be? Also where it has begun to,
/// and its decommission failed halfway: only members that are normal have a repair on record, so
/// it began after that, and nothing else can happen in the ring until it has left. Its agent looks
/// at the keyspaces once more.
pub fn takes_along(facts: &Facts<'_>, member: &MemberFact) -> bool {
    let has_begun = || {
        facts.leaves()
            && failed_halfway(member).is_some()
            && facts.joined().all(MemberFact::is_repair_recorded)
    };
    goes(facts) || has_begun()
}

/// Has it left? Nothing begins for it then.
pub fn is_over(facts: &Facts<'_>) -> bool {
    of(facts) == Some(Stage::Left)
}

fn stage(facts: &Facts<'_>) -> Stage {
    let all: Vec<&MemberFact> = facts.joined().collect();
    if all.is_empty() {
        return Stage::Left;
    }
    let datacenter = || facts.spec.datacenter.name.clone();
    if let Some(old) = all.iter().find(|m| m.knows_no_departures()) {
        let agent = old.status.agent.as_ref().map(|a| a.version.clone()).unwrap_or_default();
        return Stage::Waits(Waiting::AgentTooOld { member: old.name.clone(), agent });
    }
    let has_begun = all.iter().any(|m| m.is_to_close());
    if let (false, Some(turn)) = (has_begun, facts.turn()) {
        return Stage::Waits(Waiting::Turn { member: turn.member.clone() });
    }
    let is_shut = all.iter().all(|m| m.takes_no_clients());
    if let (false, Err(why)) = (is_shut, evidence::ring_is_quiet(facts)) {
        return Stage::Waits(Waiting::Quiet { why });
    }
    if facts.members_elsewhere().is_empty() {
        return Stage::Refused(Refused::NowhereElse { datacenter: datacenter() });
    }
    let uncounted = || all.iter().filter(|m| m.counted().is_none());
    if uncounted().next().is_some() {
        let members = names(uncounted());
        return Stage::Waits(Waiting::NotCounted { members });
    }
    if let Some(refused) = would_be_lost(facts, &all) {
        return Stage::Refused(refused);
    }
    // Whoever takes clients again, as one on another volume, has taken writes since.
    if !all.iter().all(|m| m.is_to_close() && m.is_noted_closed()) {
        return Stage::Closes;
    }
    // So is what a repair that is on record does not cover.
    let is_recorded = all.iter().any(|m| m.is_repair_recorded());
    if is_recorded && (all.iter().any(|m| m.has_opened_since()) || facts.has_more_to_repair()) {
        return Stage::Closes;
    }
    if !is_shut {
        let members = names(all.iter().filter(|m| !m.takes_no_clients()));
        return Stage::Waits(Waiting::Closing { members });
    }
    if !all.iter().all(|m| m.is_repair_recorded()) {
        return Stage::RecordsRepairs;
    }
    let unrepaired = || all.iter().filter(|m| m.awaits_repair());
    if unrepaired().next().is_some() {
        let members = names(unrepaired());
        return Stage::Repairs(Waiting::Repairing { members });
    }
    match named(facts, &all) {
        Some(keyspaces) => Stage::Refused(Refused::Named { keyspaces, datacenter: datacenter() }),
        None => Stage::Goes,
    }
}

fn names<'a>(members: impl Iterator<Item = &'a &'a MemberFact>) -> Names {
    Names::of(members.map(|m| &m.name).collect::<BTreeSet<&MemberName>>())
}

/// Keyspaces that would be lost, or whose copies would move to members elsewhere that do not
/// have them.
fn would_be_lost(facts: &Facts<'_>, all: &[&MemberFact]) -> Option<Refused> {
    let own = &facts.spec.datacenter.name;
    let datacenter = || own.clone();
    let uneven: BTreeSet<&String> = all.iter().flat_map(|m| m.uneven()).collect();
    if !uneven.is_empty() {
        let keyspaces = Names::of(uneven);
        return Some(Refused::Uneven { keyspaces, datacenter: datacenter() });
    }
    let counted = all.iter().filter_map(|m| m.counted()).flatten();
    let is_here_alone = |of: &BTreeMap<String, u32>| {
        of.get(own).is_some_and(|here| *here > 0)
            && of.iter().all(|(name, copies)| name == own || *copies == 0)
    };
    let alone = counted.filter(|(_, of)| is_here_alone(of)).map(|(keyspace, _)| keyspace);
    let alone: BTreeSet<&String> = alone.collect();
    let is_one = !alone.is_empty();
    is_one.then(|| Refused::OnlyHere { keyspaces: Names::of(alone), datacenter: datacenter() })
}

/// Keyspaces of clients that name it, as long as one member says so.
fn named(facts: &Facts<'_>, all: &[&MemberFact]) -> Option<Names> {
    let own = &facts.spec.datacenter.name;
    let counted = all.iter().filter_map(|m| m.counted()).flatten();
    let is_here = counted.filter(|(_, of)| of.get(own).is_some_and(|copies| *copies > 0));
    let named: BTreeSet<&String> =
        is_here.map(|(keyspace, _)| keyspace).filter(|k| !system_keyspaces::is_one(k)).collect();
    (!named.is_empty()).then(|| Names::of(named))
}
