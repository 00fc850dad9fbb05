//! What members work at: a unit of a task each, as their specs ask for it and as
//! their agents report it.

use super::doubts;
use super::follow::UNHEARD;
use super::pass::PATIENCE;
use super::preconditions::{KNOWS_JOBS, is_under_lock};
use crate::decide::draft::Draft;
use crate::decide::evidence::given::{GRANT, answer, asked};
use crate::decide::evidence::{self, marks};
use crate::facts::{Facts, MemberFact};
use crate::words::jobs::Work;
use jiff::{SignedDuration, Timestamp};
use palladion_api::ids::{MemberName, Uid};
use palladion_api::member::{Job, JobStatus};
use palladion_api::task::TaskKind;
use palladion_plan::words::Names;

/// Can the server stop it within seconds, and does a later try go on where it was?
pub fn is_stoppable(kind: TaskKind) -> bool {
    match kind {
        TaskKind::Repair
        | TaskKind::Cleanup
        | TaskKind::Compact
        | TaskKind::GarbageCollect
        | TaskKind::Scrub
        | TaskKind::UpgradeSstables => true,
        TaskKind::Flush
        | TaskKind::Snapshot
        | TaskKind::ClearSnapshot
        | TaskKind::SetLogLevel
        | TaskKind::Replication
        | TaskKind::RemoveDatacenter
        | TaskKind::Restart
        | TaskKind::Drain
        | TaskKind::Replace
        | TaskKind::RotateAuthority => false,
    }
}

/// A member that is, or was, in the ring. Of one that has left, the claim may be kept.
pub fn member<'a>(facts: &'a Facts<'_>, name: &MemberName) -> Option<&'a MemberFact> {
    let is_there = |m: &&MemberFact| m.object.is_some() || m.recorded_host_id().is_some();
    facts.members.get(name).filter(|m| !m.is_gone()).filter(is_there)
}

/// What the agent says of work that has not ended, if that still counts.
pub fn unended<'a>(facts: &Facts<'_>, member: &'a MemberFact) -> Option<&'a JobStatus> {
    let told = member.status.job.as_ref().filter(|told| !told.state.is_final())?;
    (!is_stale(facts, member, told)).then_some(told)
}

/// From when on the word of an agent that does not reach the API server is not believed: it is
/// not asked for this work any more, and has not read that. Then the work began longer ago
/// than any takes that does not say otherwise; or the member has been away for long and no
/// other one sees it up, so that its server works for nobody but itself; or it was to repair
/// what it was granted, and has not answered for longer than that takes.
fn stale_at(facts: &Facts<'_>, member: &MemberFact, told: &JobStatus) -> Option<Timestamp> {
    let is_asked = asked(member).is_some_and(|job| job.id == told.id);
    let generation = member.object.as_ref().map_or(0, |object| object.meta.generation);
    let has_read = member.status.observed_generation.is_none_or(|seen| seen >= generation);
    if is_asked || has_read {
        return None;
    }
    let longest = TaskKind::ALL.iter().filter_map(|kind| kind.member_deadline()).max();
    let longest = SignedDuration::from_secs(longest.unwrap_or(u32::MAX).into());
    let began = told.started_at.as_ref().map(|at| at.0);
    // A Node that is not ready says nothing of the server on it.
    let away = member.down_note().filter(|_| !doubts::runs_unheard(facts, member));
    let away = away.and_then(|since| since.parse::<Timestamp>().ok());
    let unheard = doubts::unanswered_since(member, &told.id);
    let times = [(began, longest + UNHEARD), (away, PATIENCE), (unheard, GRANT)];
    times.into_iter().filter_map(|(from, time)| from?.checked_add(time).ok()).min()
}

fn is_stale(facts: &Facts<'_>, member: &MemberFact, told: &JobStatus) -> bool {
    stale_at(facts, member, told).is_some_and(|at| facts.now() >= at)
}

/// Look again when what a member said last is not believed any more.
pub fn wake(facts: &Facts<'_>, draft: &mut Draft) {
    let times = facts.members.values().filter_map(|member| {
        let told = member.status.job.as_ref().filter(|told| !told.state.is_final())?;
        stale_at(facts, member, told)
    });
    times.filter(|at| *at > facts.now()).for_each(|at| draft.wake_at(at));
}

/// Does this member work, or is it about to? One whose agent is silent holds up
/// nothing.
fn works(facts: &Facts<'_>, member: &MemberFact) -> bool {
    member.agent_answers(&facts.nodes) && may_work(facts, member)
}

/// The same, whether or not anybody hears of its agent.
fn may_work(facts: &Facts<'_>, member: &MemberFact) -> bool {
    let runs = unended(facts, member).is_some();
    let is_asked = asked(member).is_some() && answer(member).is_none();
    if !(runs || is_asked) {
        return false;
    }
    // Where no server runs, the volume is marked for replacement or the agent knows no
    // jobs, nothing is worked at, whatever was reported last.
    let knows = member.status.agent.as_ref().is_some_and(|agent| agent.protocol >= KNOWS_JOBS);
    knows && marks::of(member).is_none() && evidence::runs_no_server(facts, member).is_none()
}

/// Does nobody hear from this member, while others may repair with it? It may be at what it
/// was granted, until that is over by its agent's own clock.
pub fn may_be_at_it(facts: &Facts<'_>, member: &MemberFact) -> bool {
    let is_lost = marks::of(member).is_some() || evidence::runs_no_server(facts, member).is_some();
    !is_lost && unended(facts, member).is_some() && doubts::runs_unheard(facts, member)
}

/// A member at work.
pub struct Unit<'a> {
    /// The member.
    pub member: &'a MemberFact,
    /// What it is asked to do; nothing, where it is about to end what it was asked.
    pub job: Option<&'a Job>,
}

impl Unit<'_> {
    /// What is done.
    pub fn kind(&self) -> Option<TaskKind> {
        self.job.and_then(|job| job.work.body()).map(|body| body.kind())
    }
}

/// All members at work.
pub fn under_way<'a>(facts: &'a Facts<'_>) -> Vec<Unit<'a>> {
    let at_work = facts.members.values().filter(|m| works(facts, m));
    at_work.map(|member| Unit { member, job: asked(member) }).collect()
}

/// May a member be changing the ring for all regions? One that nobody hears of begins what it was
/// asked, or goes on, until it is asked no more.
pub fn may_work_under_lock(facts: &Facts<'_>) -> bool {
    let may = facts.members.values().filter(|member| may_work(facts, member));
    may.filter_map(|member| Unit { member, job: asked(member) }.kind()).any(is_under_lock)
}

/// Members at work that are not at this task: it was deleted, or has lost its job, and what
/// cannot be stopped goes on. Whoever repairs and serves nobody is waited for by none.
pub fn of_others<'a>(facts: &'a Facts<'_>, task: &Uid) -> Option<Names> {
    let is_other = |unit: &Unit<'_>| unit.job.is_none_or(|job| job.task != *task);
    let counts = |unit: &Unit<'_>| doubts::doubt(facts, unit.member).is_none();
    let units: Vec<Unit<'a>> = under_way(facts);
    let mut others = units.iter().filter(|unit| is_other(unit) && counts(unit)).peekable();
    others.peek()?;
    Some(Names::of(others.map(|unit| &unit.member.name)))
}

/// What they do, and who.
pub fn words(units: &[Unit<'_>]) -> Option<(Work, Names)> {
    let kind = units.iter().find_map(Unit::kind)?;
    Some((kind.into(), Names::of(units.iter().map(|u| &u.member.name))))
}

/// Does an operation of the operator's own run on a member, or is one about to? One that is
/// not asked for any more goes on, too.
pub fn operation_runs(facts: &Facts<'_>) -> bool {
    let runs = |member: &&MemberFact| {
        let told = member.status.operation.as_ref();
        let asked = member.spec.as_ref().and_then(|s| s.operation.as_ref());
        told.is_some_and(|told| told.finished_at.is_none())
            || asked.is_some_and(|asked| told.is_none_or(|told| told.id != asked.id))
    };
    facts.members.values().filter(|m| m.agent_answers(&facts.nodes)).any(|m| runs(&m))
}
