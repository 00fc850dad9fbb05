//! What became of the units of a task, as the agents of its members report it:
//! each member's entry in the status of the task.

use super::read::Task;
use super::units;
use super::{by_turn, once_more, silent};
use crate::decide::evidence::given::{answer, asked};
use crate::decide::evidence::marks;
use crate::facts::{Facts, MemberFact};
use crate::words::jobs::Member as Said;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::member::{Job, JobCause, JobState, JobStatus, JobUnit, JobWanted};
use palladion_api::task::{
    CassandraTaskStatus, KeyspaceState, Means, MemberTaskState as State, TaskCurrent, TaskKind,
    TaskMember,
};
use palladion_plan::words::Reasoned;

/// A member whose server, agent or pod ends is tried so often.
pub const TRIES: u32 = 2;

/// An agent ends what it does at the deadline by its own clock. One that has told no end so
/// long after it does not reach the API server.
pub const UNHEARD: SignedDuration = SignedDuration::from_mins(30);

/// Characters of a member's message at the most.
const LONGEST: usize = 1024;

/// The status of a task with what its members have come to.
pub fn follow(
    facts: &Facts<'_>,
    task: &Task<'_>,
    kind: TaskKind,
    mut status: CassandraTaskStatus,
) -> CassandraTaskStatus {
    let mut members = std::mem::take(&mut status.members);
    for entry in members.iter_mut().filter(|m| !is_final(m.state)) {
        let Some(member) = units::member(facts, &entry.name) else {
            if entry.state != State::Waiting {
                end(facts, entry, State::Failed, &Said::Lost { member: entry.name.clone() });
            }
            continue;
        };
        match kind.means() {
            // Replacements and rotations do not come here.
            Means::Turn if kind == TaskKind::Drain => by_turn::drained(facts, task, member, entry),
            Means::Turn => by_turn::restarted(facts, task, member, entry),
            Means::Authority => {}
            Means::Job => unit(facts, task, member, entry),
        }
        lost(facts, task, kind, member, entry);
        silent::note(facts, task, entry);
        silent::give_up(facts, task, entry);
    }
    status.current = members.iter().find(|m| m.state == State::Running).map(|m| current(facts, m));
    status.progress = progress(facts, &members);
    status.members = members;
    status
}

/// Has this member ended, for this task?
pub fn is_final(state: State) -> bool {
    match state {
        State::Waiting | State::Running | State::Interrupted => false,
        State::Succeeded | State::Failed | State::Skipped | State::Aborted => true,
    }
}

/// How long one member may take.
pub fn deadline(task: &Task<'_>, kind: TaskKind) -> u32 {
    task.spec.member_deadline_seconds.or(kind.member_deadline()).unwrap_or(u32::MAX)
}

/// A member ends, or is interrupted, as the sentence says.
pub fn end(facts: &Facts<'_>, entry: &mut TaskMember, state: State, said: &Said) {
    end_at(facts.now(), entry, state, said);
}

/// The same, by the clock alone.
pub fn end_at(now: Timestamp, entry: &mut TaskMember, state: State, said: &Said) {
    entry.state = state;
    entry.reason = Some(said.reason().to_string());
    entry.message = Some(cut(&said.to_string()));
    if is_final(state) {
        entry.ended_at = Some(Time(now));
    }
}

/// A unit of this task that the member was given.
fn given<'a>(task: &Task<'_>, member: &'a MemberFact) -> Option<&'a Job> {
    asked(member).filter(|job| job.task == *task.uid())
}

fn unit(facts: &Facts<'_>, task: &Task<'_>, member: &MemberFact, entry: &mut TaskMember) {
    let Some(job) = given(task, member) else {
        // Somebody has taken it away; it is given again.
        if entry.state == State::Running {
            entry.state = State::Waiting;
        }
        return;
    };
    let answer = answer(member);
    let state = answer.map_or(JobState::Running, |a| a.state);
    match (state, answer) {
        (JobState::Running | JobState::Stopping | JobState::Unknown, _) | (_, None) => {
            begun(facts, job, entry);
            waits(answer, entry);
        }
        (_, Some(answer)) => ended(facts, (task, job, answer), entry),
    }
}

/// It was given: from now on it counts.
fn begun(facts: &Facts<'_>, job: &Job, entry: &mut TaskMember) {
    if entry.state == State::Running {
        return;
    }
    entry.state = State::Running;
    entry.host_id = Some(job.host_id.clone());
    entry.tries = tries(job).max(entry.tries);
    entry.started_at.get_or_insert_with(|| Time(facts.now()));
    (entry.reason, entry.message, entry.ended_at) = (None, None, None);
}

/// What the work of the member waits for, in its agent's own words.
fn waits(answer: Option<&JobStatus>, entry: &mut TaskMember) {
    entry.message = answer.and_then(|answer| answer.message.as_deref()).map(cut);
}

/// The number of the try, by the ID of the job.
fn tries(job: &Job) -> u32 {
    job.id.rsplit('-').next().and_then(|n| n.parse().ok()).unwrap_or(1)
}

fn ended(
    facts: &Facts<'_>,
    (task, job, answer): (&Task<'_>, &Job, &JobStatus),
    entry: &mut TaskMember,
) {
    // What is on record of it already is not told again.
    if matches!(entry.state, State::Interrupted) {
        return;
    }
    begun(facts, job, entry);
    // The schema of a task takes no word that is not known; the member's status has it.
    let known = answer.results.iter().filter(|r| r.state != KeyspaceState::Unknown);
    entry.keyspaces = known.cloned().collect();
    let why = answer.message.clone().unwrap_or_default();
    let was_stopped = job.wanted == JobWanted::Stop;
    match answer.state {
        JobState::Succeeded => {
            entry.state = State::Succeeded;
            entry.ended_at = Some(Time(facts.now()));
        }
        JobState::Aborted => {
            stopped(facts, task, entry);
            if answer.cause == Some(JobCause::LeftRunning) {
                told(answer, entry);
            }
        }
        JobState::Interrupted if was_stopped => stopped(facts, task, entry),
        // Who repairs is not to blame for a network.
        JobState::Interrupted if answer.cause == Some(JobCause::ApiServerUnreachable) => {
            entry.tries = entry.tries.saturating_sub(1);
            end(facts, entry, State::Interrupted, &Said::Again { why });
        }
        JobState::Interrupted if entry.tries < TRIES => {
            end(facts, entry, State::Interrupted, &Said::Again { why });
        }
        JobState::Interrupted => end(facts, entry, State::Failed, &Said::Twice { why }),
        // The member has another identity by now, or the leader another epoch: asked again.
        JobState::Refused if is_outdated(answer.cause) && entry.tries < TRIES => {
            end(facts, entry, State::Interrupted, &Said::Again { why });
        }
        JobState::Failed if once_more::note(facts, (task, answer), entry) => {}
        JobState::Failed | JobState::Refused => failed(facts, answer, entry),
        JobState::Running | JobState::Stopping | JobState::Unknown => {}
    }
}

/// As much as the schema takes of what a server said.
fn cut(message: &str) -> String {
    message.chars().take(LONGEST).collect()
}

fn is_outdated(cause: Option<JobCause>) -> bool {
    let outdated = [JobCause::OldEpoch, JobCause::OtherHostID, JobCause::OtherVolume];
    cause.is_some_and(|cause| outdated.contains(&cause))
}

/// The operator wanted it to stop: with its task, or for a turn. That costs no try.
fn stopped(facts: &Facts<'_>, task: &Task<'_>, entry: &mut TaskMember) {
    if task.spec.abort {
        end(facts, entry, State::Aborted, &Said::Aborted);
    } else if is_over_time(facts, task) {
        end(facts, entry, State::Failed, &Said::TaskTooLong);
    } else {
        entry.tries = entry.tries.saturating_sub(1);
        end(facts, entry, State::Interrupted, &Said::Yields);
    }
}

fn failed(facts: &Facts<'_>, answer: &JobStatus, entry: &mut TaskMember) {
    entry.state = State::Failed;
    told(answer, entry);
    entry.ended_at = Some(Time(facts.now()));
}

/// In the agent's own words, under its own cause.
fn told(answer: &JobStatus, entry: &mut TaskMember) {
    entry.reason = answer.cause.and_then(JobCause::reason).map(|reason| reason.to_string());
    entry.message = answer.message.as_deref().map(cut);
}

/// Has the time of the whole task passed?
pub fn is_over_time(facts: &Facts<'_>, task: &Task<'_>) -> bool {
    over_time_at(task).is_some_and(|at| facts.now() >= at)
}

/// When the time of the whole task is over.
pub fn over_time_at(task: &Task<'_>) -> Option<Timestamp> {
    let seconds = task.spec.active_deadline_seconds?;
    let created = task.object.meta.creation_timestamp?;
    created.checked_add(SignedDuration::from_secs(seconds.into())).ok()
}

/// When the member's time is over, by the operator's own clock.
pub fn lost_at(task: &Task<'_>, kind: TaskKind, entry: &TaskMember) -> Option<Timestamp> {
    let begun = entry.started_at.as_ref().filter(|_| !is_final(entry.state))?;
    begun.0.checked_add(SignedDuration::from_secs(deadline(task, kind).into())).ok()
}

/// From when on a member whose time is over is not waited for, whatever it said last.
pub fn unheard_at(task: &Task<'_>, kind: TaskKind, entry: &TaskMember) -> Option<Timestamp> {
    lost_at(task, kind, entry)?.checked_add(UNHEARD).ok()
}

/// Whoever was begun and does not come back is not waited for: not for ever, and
/// not at all if it is given up or the task is to end.
fn lost(
    facts: &Facts<'_>,
    task: &Task<'_>,
    kind: TaskKind,
    member: &MemberFact,
    entry: &mut TaskMember,
) {
    if is_final(entry.state) || entry.started_at.is_none() || entry.state == State::Waiting {
        return;
    }
    let name = || member.name.clone();
    if marks::of(member).is_some() {
        return end(facts, entry, State::Failed, &Said::GivenUp { member: name() });
    }
    // Whoever was interrupted has no time that runs, and is begun again; unless it is
    // its silence that is waited for.
    let runs = entry.state == State::Running || !member.agent_answers(&facts.nodes);
    let is_late = runs && lost_at(task, kind, entry).is_some_and(|at| facts.now() >= at);
    if is_late && kind.means() == Means::Turn {
        return end(facts, entry, State::Failed, &Said::TooLong);
    }
    let is_unheard = || unheard_at(task, kind, entry).is_some_and(|at| facts.now() >= at);
    if is_late && (!member.lives_by_its_own_word(&facts.nodes) || is_unheard()) {
        return end(facts, entry, State::Failed, &Said::Lost { member: name() });
    }
    let is_over = task.spec.abort || is_over_time(facts, task);
    if is_over && !member.agent_answers(&facts.nodes) && kind.means() == Means::Job {
        let state = if task.spec.abort { State::Aborted } else { State::Failed };
        end(facts, entry, state, &Said::NotReported);
    }
}

fn current(facts: &Facts<'_>, entry: &TaskMember) -> TaskCurrent {
    let told = facts.members.get(&entry.name).and_then(answer);
    TaskCurrent {
        member: entry.name.clone(),
        keyspace: told.and_then(|a| a.keyspace.clone()),
        table: told.and_then(|a| a.table.clone()),
        done: told.and_then(|a| a.done),
        total: told.and_then(|a| a.total),
        unit: told.and_then(|a| a.unit).filter(|unit| *unit != JobUnit::Unknown),
    }
}

/// Over all members, each the same share.
fn progress(facts: &Facts<'_>, members: &[TaskMember]) -> Option<String> {
    let share = |entry: &TaskMember| match entry.state {
        State::Succeeded | State::Failed | State::Skipped | State::Aborted => 100,
        State::Running => {
            let told = facts.members.get(&entry.name).and_then(answer);
            told.and_then(|a| a.progress).map_or(0, usize::from).min(100)
        }
        State::Waiting | State::Interrupted => 0,
    };
    let all: usize = members.iter().map(share).sum();
    (!members.is_empty()).then(|| format!("{}%", all / members.len()))
}
