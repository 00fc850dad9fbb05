//! What must be so before a member is given its part of a task.

use super::batches;
use super::doubts;
use super::once_more;
use super::queue::Job;
use super::remove_datacenter;
use super::units;
use super::yields::Way;
use crate::decide::evidence::left_running as left;
use crate::decide::evidence::{self, Proof, marks};
use crate::decide::maintenance::lacking;
use crate::decide::restart::{standstill, versions};
use crate::decide::turn::{region, stopping};
use crate::facts::{Facts, KNOWS_DATACENTERS, KNOWS_DEPARTURES, MemberFact, Watched};
use crate::validate::Valid;
use crate::words::jobs::{Member, Waiting};
use palladion_api::task::{Body, Means, TaskKind, TaskMember, WhenDown};
use palladion_plan::LockFence;

/// Agents of before this protocol do not know `spec.job`.
pub(super) const KNOWS_JOBS: u32 = 3;
/// Those of before this one do not know `spec.drain`.
const KNOWS_DRAIN: u32 = 5;
/// Those of before this one would repair everything where what is due is asked for.
pub const KNOWS_DUE: u32 = 4;
/// Those of before this one repair all that is due, whatever other members repair.
const KNOWS_GRANTS: u32 = 5;

/// Does its agent repair only what it is granted?
pub(super) fn knows_grants(member: &MemberFact) -> bool {
    member.status.agent.as_ref().is_some_and(|agent| agent.protocol >= KNOWS_GRANTS)
}

/// May a member be given its part?
pub enum Gate<'a> {
    /// It may.
    Open(&'a MemberFact, Option<Proof>),
    /// Not yet.
    Wait(Waiting),
    /// It is left out.
    Skip(Member),
}

/// May this member of the task be given its part?
pub fn gate<'a>(
    facts: &'a Facts<'_>,
    valid: &Valid,
    job: &Job<'_>,
    entry: &TaskMember,
) -> Gate<'a> {
    let Some(member) = units::member(facts, &entry.name) else {
        return Gate::Skip(Member::NoMember);
    };
    // A member that has just come up, or whose agent has, is neither left out nor begun.
    let is_new = member.watched() == Watched::NotYet;
    if is_new && member.lives_by_its_own_word(&facts.nodes) && marks::of(member).is_none() {
        return Gate::Wait(Waiting::NotWatched { member: member.name.clone() });
    }
    // Down because it is drained: that is what a restart ends.
    if job.kind == TaskKind::Restart && member.is_drained() && marks::of(member).is_none() {
        return Gate::Open(member, evidence::is_drained(facts, member));
    }
    // Nobody knows when a person wants it to run again: it is not waited for, also not where the
    // stop has interrupted it.
    if member.is_stopped() || member.is_gone() {
        return Gate::Skip(Member::NotWanted);
    }
    if member.awaits_rebuild() && marks::of(member).is_none() {
        return Gate::Wait(Waiting::NotRebuilt { member: member.name.clone() });
    }
    if !member.is_live(&facts.nodes) || marks::of(member).is_some() {
        // Whoever went down in the middle of it is waited for: the rest is still to be done.
        return match job.task.spec.when_down {
            // Beside a repair by grants it has the time that this takes to come up.
            WhenDown::Skip if entry.started_at.is_none() && !batches::is_by_grants(job) => {
                Gate::Skip(Member::Down)
            }
            WhenDown::Skip | WhenDown::Wait => {
                Gate::Wait(Waiting::MemberDown { member: member.name.clone() })
            }
        };
    }
    // The others have it down, or it does not answer, whatever it said last.
    let is_away = member.down_note().is_some() || doubts::is_unheard(member);
    if batches::is_by_grants(job) && is_away {
        return Gate::Wait(Waiting::MemberDown { member: member.name.clone() });
    }
    if let Some(why) = knows_not_due(job, member) {
        return Gate::Skip(why);
    }
    // Both end with a rollout; it may need a person first.
    if let Some(why) = too_old(job, member).or_else(|| lines(facts, valid, job.kind)) {
        return Gate::Wait(standstill::between_turns(facts, valid).unwrap_or(why));
    }
    // Of such a repair a member that is down keeps only that from it of which it has copies.
    if batches::is_by_grants(job) && knows_grants(member) {
        return match evidence::nobody_moves(facts) {
            Ok(()) => Gate::Open(member, None),
            Err(why) => Gate::Wait(Waiting::Ring { why }),
        };
    }
    if let Some(why) = region_first(facts, job.kind) {
        return Gate::Wait(why);
    }
    if let Some(why) = behind_repairs(facts, job, (member, entry)) {
        return Gate::Wait(why);
    }
    // Also between two tries of that repair, and where its member cannot begin it.
    if let Some(lacking) = lacking::member(facts).filter(|_| job.kind == TaskKind::Cleanup) {
        return Gate::Wait(Waiting::BehindRepair { lacking: lacking.name.clone() });
    }
    if let Some(body) = &job.task.spec.work.remove_datacenter {
        return remove_datacenter::gate(facts, member, body);
    }
    let needs_quiet = needs(job.kind).contains(&Need::Quiet);
    match needs_quiet.then(|| evidence::is_quiet_for(facts, member)) {
        Some(Err(why)) => Gate::Wait(Waiting::Ring { why }),
        Some(Ok(proof)) => Gate::Open(member, Some(proof)),
        None => Gate::Open(member, None),
    }
}

/// A repair that goes on, or has just failed. What a member is given takes the place of what says
/// that its server has not ended one.
fn behind_repairs(
    facts: &Facts<'_>,
    job: &Job<'_>,
    (member, entry): (&MemberFact, &TaskMember),
) -> Option<Waiting> {
    match (job.kind, job.kind.means()) {
        (TaskKind::Repair, _) => left::anywhere(facts).or_else(|| once_more::pause(facts, entry)),
        (_, Means::Job) => left::running(facts, member),
        (_, Means::Turn | Means::Authority) => None,
    }
}

/// What stands in the way of all tasks.
pub fn closed(facts: &Facts<'_>, way: &Way) -> Option<Waiting> {
    if stopping::is_wanted(facts) {
        return Some(Waiting::RingStopped);
    }
    if !facts.ring_exists() {
        return Some(Waiting::NotInitialized);
    }
    match (facts.turn(), way) {
        (Some(turn), _) => {
            let (member, since) = (turn.member.clone(), turn.since.0);
            let turns = Waiting::Turn { member, work: turn.step.into(), since };
            Some(standstill::in_turn(facts, turn).unwrap_or(turns))
        }
        (None, Way::Closed(why)) => Some(why.clone()),
        (None, Way::Free) => None,
    }
}

/// What is due at other members is not kept waiting for a rollout: it has its time.
fn knows_not_due(job: &Job<'_>, member: &MemberFact) -> Option<Member> {
    let agent = member.status.agent.as_ref().filter(|agent| agent.protocol < KNOWS_DUE)?;
    let is_of_due = job.task.spec.work.body().is_some_and(Body::is_repair_of_due);
    is_of_due.then(|| Member::AgentTooOld { agent: agent.version.clone() })
}

fn too_old(job: &Job<'_>, member: &MemberFact) -> Option<Waiting> {
    let agent = member.status.agent.as_ref()?;
    let needed = match (job.kind, job.kind.means()) {
        (TaskKind::Drain, _) => KNOWS_DRAIN,
        (TaskKind::Replication, _) => KNOWS_DATACENTERS,
        (TaskKind::RemoveDatacenter, _) => KNOWS_DEPARTURES,
        (_, Means::Job) => KNOWS_JOBS,
        (_, Means::Turn | Means::Authority) => 0,
    };
    let is_older = agent.protocol < needed;
    is_older
        .then(|| Waiting::AgentTooOld { member: member.name.clone(), agent: agent.version.clone() })
}

/// Is the lock between regions held while it works?
pub(super) fn is_under_lock(kind: TaskKind) -> bool {
    needs(kind).contains(&Need::RegionLock)
}

/// What a write for it is fenced by besides.
pub(super) fn lock_fence(facts: &Facts<'_>, kind: TaskKind) -> Option<LockFence> {
    facts.lock_fence().filter(|_| is_under_lock(kind))
}

fn region_first(facts: &Facts<'_>, kind: TaskKind) -> Option<Waiting> {
    if !is_under_lock(kind) || facts.may_begin() {
        return None;
    }
    Some(match region::missing(facts) {
        Some(why) => Waiting::NoRegionLock { why },
        None => Waiting::Region { why: region::waiting_for(facts) },
    })
}

fn lines(facts: &Facts<'_>, valid: &Valid, kind: TaskKind) -> Option<Waiting> {
    if !needs(kind).contains(&Need::OneLine) {
        return None;
    }
    let mixed = versions::mixed(facts, valid).map(|why| Waiting::Mixed { why });
    mixed.or_else(|| (!versions::are_alike(facts)).then_some(Waiting::TwoLines))
}

/// What the work of a member needs of the rest of the ring.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    /// One release line: streams between two fail, and SSTables of the newer one
    /// cannot be read by the older.
    OneLine,
    /// That nobody is down or moves: a repair fails while a replica is down; a
    /// cleanup drops what its member is about to own (safety rule 5.3); a restart
    /// or a drain takes a member away; other copies are on other members.
    Quiet,
    /// The lock between regions, since it changes the ring for all of them: two statements about
    /// one keyspace would end in either order, and a removal beside a replacement elsewhere could
    /// take the copies that this one streams from.
    RegionLock,
}

fn needs(kind: TaskKind) -> &'static [Need] {
    match kind {
        TaskKind::Repair | TaskKind::Cleanup => &[Need::OneLine, Need::Quiet],
        TaskKind::UpgradeSstables => &[Need::OneLine],
        TaskKind::Restart | TaskKind::Drain => &[Need::Quiet],
        TaskKind::Replication => &[Need::Quiet, Need::RegionLock],
        // Quiet but for those that are removed: asked for by itself.
        TaskKind::RemoveDatacenter => &[Need::RegionLock],
        TaskKind::Compact
        | TaskKind::GarbageCollect
        | TaskKind::Scrub
        | TaskKind::Flush
        | TaskKind::Snapshot
        | TaskKind::ClearSnapshot
        | TaskKind::SetLogLevel
        | TaskKind::Replace
        | TaskKind::RotateAuthority => &[],
    }
}
