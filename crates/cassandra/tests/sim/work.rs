//! The part of a task that an agent is given: the real agent decides, the server
//! carries out one call after the other, and goes on with a call when the agent
//! that has made it is gone.

use super::agent::{Agent, Reach};
use super::ring::Ring;
use super::rows::RANGES;
use jiff::{SignedDuration, Timestamp};
use palladion_agent::admin::Reading;
use palladion_agent::decide::job::{self, Here, Next, Server, Stop, Worker};
use palladion_agent::decide::silence::{self, Last, UNHEARD};
use palladion_agent::decide::{Process, Source};
use palladion_agent::volume::jobs::{Ended, Item, Notes};
use palladion_api::member::{Job, JobCause, JobState, Operation, OperationKind};
use palladion_api::task::{Body, KeyspaceResult, KeyspaceState, TaskKind};
use palladion_plan::sim::Activity;
use std::collections::BTreeSet;
use std::time::Duration;

/// How long a call for one table takes.
pub const CALL: SignedDuration = SignedDuration::from_secs(20);
/// A server stops what can be stopped within this time.
const STOP: SignedDuration = SignedDuration::from_millis(300);
/// What it does not end is not waited for any longer than this.
const ENDS: SignedDuration = SignedDuration::from_mins(5);
/// So long an agent waits where a member is down in all that is left.
pub const ALONE: SignedDuration = SignedDuration::from_mins(10);
/// A segment of a repair that has not ended by then is ended. Here one range is one
/// segment, and is tried again as a whole.
const TOO_LONG: SignedDuration = SignedDuration::from_mins(30);
/// The tables of the users' keyspace.
pub const TABLES: [&str; 3] = ["carts", "customers", "orders"];
pub const KEYSPACE: &str = "shop";

/// A call that a server carries out.
#[derive(Clone, Debug)]
pub struct Call {
    /// What it does.
    pub kind: TaskKind,
    /// Of which ranges, if it is a repair of some.
    pub ranges: Option<BTreeSet<u32>>,
    begun: Timestamp,
    /// When it ends; none: never by itself.
    until: Option<Timestamp>,
    end: How,
    /// Since when it was asked to end, and does not.
    left_since: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Done,
    Stopped,
}

/// What an agent is at.
#[derive(Clone, Debug)]
pub struct Work {
    begun: Timestamp,
    pub(super) stopping: Option<Stop>,
    /// It waits for the end of a call that an earlier agent has made.
    settles: bool,
    /// It calls for nothing, and waits for a grant.
    pub(super) waits: bool,
    /// Since when there is nothing that could be granted.
    pub(super) alone: Option<Timestamp>,
    /// Why a segment was given up that failed over and over.
    pub(super) failed: Option<String>,
}

impl Work {
    fn begun(begun: Timestamp, settles: bool) -> Self {
        Self { begun, stopping: None, settles, waits: false, alone: None, failed: None }
    }
}

impl Call {
    /// When a segment has taken too long.
    fn too_long_at(&self) -> Option<Timestamp> {
        self.ranges.as_ref().map(|_| self.begun + TOO_LONG)
    }

    /// Can the server end it before its time?
    pub fn is_stoppable(&self) -> bool {
        let rewrites = [
            TaskKind::Repair,
            TaskKind::Cleanup,
            TaskKind::Compact,
            TaskKind::GarbageCollect,
            TaskKind::Scrub,
            TaskKind::UpgradeSstables,
        ];
        rewrites.contains(&self.kind)
    }
}

impl Agent {
    /// Decide about the job in the spec, and carry on with the one under way.
    pub(super) fn work(&mut self, reach: &mut Reach<'_>) -> Activity {
        let notes = reach.disks.get(&self.pod.disk).map(|d| d.content.jobs.clone());
        self.notes = notes.unwrap_or_default();
        let before = self.notes.clone();
        let was = self.work.is_some();
        let mut all = self.carry_on(reach);
        let silence = self.silence(reach.now);
        let next = match (&self.saved, self.ledger()) {
            (Some(saved), Some(ledger)) => {
                let (worker, server) = (self.worker(reach.now), self.server());
                let here = Here { pod: &self.uid, worker, server, silence };
                job::next(&saved.spec, ledger, &self.notes, here)
            }
            _ => Next::Nothing,
        };
        let next = match (next, self.source) {
            (Next::Begin | Next::TurnDown(_) | Next::Stop(Stop::Asked), Source::Saved) => {
                Next::Nothing
            }
            (next, Source::Live | Source::Saved) => next,
        };
        self.follow_next(next, reach);
        if self.notes != before
            && let Some(disk) = reach.disks.get_mut(&self.pod.disk)
        {
            disk.content.jobs = self.notes.clone();
            all = all.and(Activity::ACTED);
        }
        if was != self.work.is_some() {
            all = all.and(Activity::ACTED);
        }
        if let Some(work) = &self.work {
            let until = reach.ring.calls.get(self.pod.uid.as_str()).and_then(|c| c.until);
            let deadline = self.notes.open().map(|note| {
                work.begun + SignedDuration::from_secs(note.job.deadline_seconds.into())
            });
            let alone = work.alone.map(|since| since + ALONE);
            let call = reach.ring.calls.get(self.pod.uid.as_str());
            let too_long = call.and_then(Call::too_long_at);
            let unheard = self.notes.open().filter(|note| silence::is_by_grants(&note.job));
            let left = unheard.and_then(|_| UNHEARD.checked_sub(silence));
            let unheard = left.and_then(|left| reach.now.checked_add(left).ok());
            for at in until
                .into_iter()
                .chain(deadline)
                .chain(alone)
                .chain(too_long)
                .chain(unheard)
                .filter(|at| *at > reach.now)
            {
                all = all.at(at);
            }
        }
        all
    }

    /// Does it work for a task and at an operation at once?
    pub fn does_two_things(&self) -> bool {
        self.work.is_some() && (self.job.is_some() || self.settles)
    }

    /// For how long it and the operator have not heard each other, which it notes.
    fn silence(&mut self, now: Timestamp) -> Duration {
        let open = self.notes.open();
        let is_open = open.is_some_and(|note| silence::is_by_grants(&note.job));
        let last = self
            .in_contact_at
            .map(|at| Last { at: self.clock_at(at), ago: now.duration_since(at).unsigned_abs() });
        let noted = self.notes.heard_at.as_ref().map(|at| at.0).filter(|_| is_open);
        let running = now.duration_since(self.begun).unsigned_abs();
        let silence = silence::silence(last, noted, running, self.clock_at(now));
        if let Some(at) = silence.note.filter(|_| is_open) {
            self.notes.hear(at);
        }
        silence.lasts
    }

    fn worker(&self, now: Timestamp) -> Worker {
        match &self.work {
            _ if self.job.is_some() || self.settles => Worker::Operation,
            None => Worker::Idle,
            Some(work) if work.stopping.is_some() => Worker::Stopping,
            Some(work) => Worker::Job(now.duration_since(work.begun).unsigned_abs()),
        }
    }

    fn server(&self) -> Server<'_> {
        let tag = self.tag.as_deref().unwrap_or_default();
        match &self.process {
            Process::Running if self.reading().is_some_and(Reading::serves) => Server::Serves(tag),
            Process::Running => Server::Runs(tag),
            Process::Absent => Server::Absent,
            Process::Unknown(_) => Server::Unknown,
        }
    }

    fn follow_next(&mut self, next: Next, reach: &mut Reach<'_>) {
        let now = self.clock_at(reach.now);
        let wanted = self.saved.as_ref().and_then(|s| s.spec.job.clone());
        match (next, wanted) {
            (Next::Nothing, _) | (Next::Begin | Next::TurnDown(_), None) => {}
            (Next::Begin, Some(job)) => {
                let tag = self.tag.clone().unwrap_or_default();
                self.notes.begin(&job, &self.uid, &tag, now);
                reach.ring.begin_unit(&self.pod.key.name, &job.id);
                self.work = Some(Work::begun(reach.now, false));
                self.call_next(&job, reach);
            }
            (Next::Stop(why), _) => {
                self.notes.stop();
                if let Some(work) = &mut self.work {
                    work.stopping = Some(why);
                }
                reach.ring.stop_call(self.pod.uid.as_str(), reach.now);
            }
            (Next::Settle, _) => {
                self.work = Some(Work::begun(reach.now, true));
            }
            (Next::NoteEnd(ended), _) => self.notes.end(ended, now),
            (Next::TurnDown(ended), Some(job)) => {
                self.notes.turn_down(&job, &self.uid, ended, now);
            }
        }
    }

    /// Nothing is left to do.
    pub(super) fn succeed(&mut self, now: Timestamp) {
        let succeeded = KeyspaceState::Succeeded;
        let mut result = KeyspaceResult::of(KEYSPACE.into(), succeeded, 1, None);
        result.copies_before = self.copies_before.take();
        self.notes.finish_keyspace(result);
        self.notes.end(Ended { state: JobState::Succeeded, cause: None, message: None }, now);
        self.work = None;
    }

    /// The next table that is not done yet; none is left: it has succeeded.
    pub(super) fn call_next(&mut self, job: &Job, reach: &mut Reach<'_>) {
        let now = self.clock_at(reach.now);
        let Some(kind) = job.work.body().map(|body| body.kind()) else { return };
        if job.work.body().is_some_and(Body::is_repair_of_due) {
            return self.call_segment(job, reach);
        }
        let items = items(kind);
        let Some(item) = items.into_iter().find(|i| !self.notes.has_finished(&job.task, i)) else {
            self.succeed(now);
            return;
        };
        self.notes.call(item);
        if let Some(Body::Replication(body)) = job.work.body() {
            let had = reach.ring.copies_in(&body.keyspaces[0], &body.datacenter);
            self.copies_before = (had != body.factor).then_some(had);
            reach.ring.note_asked(self.pod.uid.as_str(), body);
        }
        if let Some(Body::RemoveDatacenter(body)) = job.work.body() {
            reach.ring.far.removing.insert(self.pod.uid.to_string(), body.clone());
        }
        reach.ring.call(self.pod.uid.as_str(), kind, None, reach.now);
    }

    /// The call under way, as far as it has come.
    fn carry_on(&mut self, reach: &mut Reach<'_>) -> Activity {
        let (Some(work), Some(note)) = (self.work.clone(), self.notes.open().cloned()) else {
            self.work = None;
            return Activity::default();
        };
        let pod = self.pod.uid.to_string();
        if self.process == Process::Absent || self.tag != note.tag {
            // What is open is noted as interrupted.
            self.work = None;
            return Activity::ACTED;
        }
        let is_of_due = note.job.work.body().is_some_and(Body::is_repair_of_due);
        if work.waits || (work.settles && note.item.is_none() && is_of_due) {
            return self.wait_for_a_grant(&note.job, reach);
        }
        let Some(call) = reach.ring.calls.get(&pod).cloned() else {
            self.work = None;
            let ended = Ended::by(JobState::Interrupted, JobCause::AgentEnded, "the agent ended");
            self.notes.end(ended, self.clock_at(reach.now));
            return Activity::ACTED;
        };
        let too_long = call.too_long_at().is_some_and(|at| at <= reach.now);
        if let Some(asked) = call.left_since {
            if asked + ENDS > reach.now {
                return Activity::default().at(asked + ENDS);
            }
            // The server goes on with it.
            self.work = None;
            let state = match work.stopping {
                Some(Stop::Asked | Stop::Unheard) => JobState::Aborted,
                Some(Stop::Deadline) | None => JobState::Failed,
            };
            let ended = Ended::by(state, JobCause::LeftRunning, "the server has not ended it");
            self.notes.end(ended, self.clock_at(reach.now));
            return Activity::ACTED;
        }
        if call.until.is_none_or(|until| until > reach.now) {
            if too_long && call.end == How::Done {
                reach.ring.stop_call(&pod, reach.now);
                return Activity::ACTED;
            }
            return Activity::default();
        }
        reach.ring.calls.remove(&pod);
        let now = self.clock_at(reach.now);
        // A repair is found again by its number.
        let settles = work.settles && call.ranges.is_none();
        let end = match (call.end, work.stopping, settles) {
            (How::Done, None, false) => None,
            // What cannot be stopped is one call here: with it all is done.
            (How::Done, Some(Stop::Asked), false) if !call.is_stoppable() => None,
            (_, Some(Stop::Deadline), _) => {
                Some(Ended::by(JobState::Failed, JobCause::DeadlineExceeded, "it took too long"))
            }
            (_, Some(Stop::Unheard), _) => Some(super::repair::unheard()),
            (_, Some(Stop::Asked), _) => Some(Ended::as_asked(JobState::Aborted, "stopped")),
            (_, None, true) => {
                Some(Ended::by(JobState::Interrupted, JobCause::AgentEnded, "the agent ended"))
            }
            (How::Stopped, None, false) if too_long => None,
            (How::Stopped, None, false) => {
                Some(Ended::by(JobState::Failed, JobCause::StoppedByOther, "somebody stopped it"))
            }
        };
        let outcome = match end.is_none() && call.end == How::Stopped {
            true => Err("it took too long".to_string()),
            false => reach.ring.do_unit(&pod, &call, reach.disks),
        };
        match (end, outcome) {
            (Some(ended), _) => {
                self.work = None;
                self.notes.end(ended, now);
            }
            (None, Err(why)) if call.ranges.is_some() => {
                self.notes.leave_item();
                self.fail_segment(&why, reach);
                if let Some(work) = &mut self.work {
                    work.settles = false;
                }
                let job = note.job.clone();
                self.call_next(&job, reach);
            }
            (None, Err(why)) => {
                self.work = None;
                let cause = match why.contains(super::far::SIMPLE) {
                    true => JobCause::SimpleStrategyInTheWay,
                    false => JobCause::ServerError,
                };
                self.notes.end(Ended::by(JobState::Failed, cause, why), now);
            }
            (None, Ok(())) => {
                match &call.ranges {
                    Some(ranges) => self.finish_segment(ranges, reach),
                    None => self.notes.finish_item(),
                }
                if let Some(work) = &mut self.work {
                    work.settles = false;
                }
                let job = note.job.clone();
                self.call_next(&job, reach);
            }
        }
        Activity::ACTED
    }
}

/// One call for each table, or one in all.
fn items(kind: TaskKind) -> Vec<Item> {
    let item =
        |table: Option<&str>| Item { keyspace: KEYSPACE.into(), table: table.map(Into::into) };
    match kind {
        TaskKind::Cleanup
        | TaskKind::Compact
        | TaskKind::GarbageCollect
        | TaskKind::Scrub
        | TaskKind::UpgradeSstables => TABLES.iter().map(|t| item(Some(t))).collect(),
        TaskKind::Repair
        | TaskKind::Flush
        | TaskKind::Snapshot
        | TaskKind::ClearSnapshot
        | TaskKind::SetLogLevel
        | TaskKind::Replication
        | TaskKind::RemoveDatacenter
        | TaskKind::Restart
        | TaskKind::Drain
        | TaskKind::Replace
        | TaskKind::RotateAuthority => vec![item(None)],
    }
}

impl Ring {
    fn begin_unit(&mut self, member: &str, id: &str) {
        let unit = (member.to_string(), id.to_string());
        if self.units.contains(&unit) {
            self.breaches.push(format!("{member} begins job {id} twice"));
        }
        self.told.push(format!("{member} begins job {id}"));
        self.units.push(unit);
    }

    pub(super) fn call(
        &mut self,
        pod: &str,
        kind: TaskKind,
        ranges: Option<BTreeSet<u32>>,
        now: Timestamp,
    ) {
        let Some(server) = self.servers.get(pod) else { return };
        let hangs = self.hanging.contains(&server.member);
        let until = (!hangs).then_some(now + CALL);
        if self.calls.contains_key(pod) {
            self.breaches.push(format!("{} is called twice at once", server.member));
        }
        if let Some(ordered) = self.ordered.get(pod) {
            let id = &ordered.operation.id;
            self.breaches.push(format!("{} is called beside {id}", server.member));
        }
        if kind == TaskKind::Cleanup {
            self.begin_cleanup(pod);
        }
        let call = Call { kind, ranges, begun: now, until, end: How::Done, left_since: None };
        self.calls.insert(pod.to_string(), call);
    }

    /// The server ends the call, if it is one that can be ended.
    fn stop_call(&mut self, pod: &str, now: Timestamp) {
        let member = self.servers.get(pod).map(|server| &server.member);
        let goes_on = member.is_some_and(|member| self.headstrong.contains(member));
        if let Some(call) = self.calls.get_mut(pod).filter(|c| c.is_stoppable()) {
            if goes_on {
                call.left_since.get_or_insert(now);
            } else {
                (call.until, call.end) = (Some(now + STOP), How::Stopped);
            }
        }
    }

    /// What a call that came to its end has done.
    fn do_unit(
        &mut self,
        pod: &str,
        call: &Call,
        disks: &mut super::ring::Disks,
    ) -> Result<(), String> {
        let member = self.servers.get(pod).map(|s| s.member.clone()).unwrap_or_default();
        if call.end == How::Stopped {
            return Ok(());
        }
        if self.failing.remove(&member) {
            return Err("java.io.IOException: disk quota exceeded".into());
        }
        match call.kind {
            TaskKind::Repair => {
                let operation = Operation::of("unit".into(), OperationKind::Repair);
                let all = || (0..RANGES).collect();
                let ranges = call.ranges.clone().unwrap_or_else(all);
                self.repair_some(pod, &operation, &ranges, disks).map(|_| ())
            }
            TaskKind::Cleanup => self.cleanup(pod, disks).map(|_| ()),
            TaskKind::UpgradeSstables => self.rewrite(pod, disks).map(|_| ()),
            TaskKind::Replication => self.replicate(pod),
            TaskKind::RemoveDatacenter => self.remove_elsewhere(pod),
            TaskKind::Compact
            | TaskKind::GarbageCollect
            | TaskKind::Scrub
            | TaskKind::Flush
            | TaskKind::Snapshot
            | TaskKind::ClearSnapshot
            | TaskKind::SetLogLevel
            | TaskKind::Restart
            | TaskKind::Drain
            | TaskKind::Replace
            | TaskKind::RotateAuthority => Ok(()),
        }
    }

    /// Members whose servers carry out a call, of these pods. One that is cut off reads
    /// nobody's data but its own.
    pub fn at_work(&self, pods: &BTreeSet<&str>) -> Vec<(&str, &Call)> {
        let calls = self.calls.iter().filter(|(pod, _)| pods.contains(pod.as_str()));
        let member = |pod: &String| {
            let member = self.servers.get(pod).map(|s| s.member.as_str());
            member.filter(|member| !self.cut.contains(*member))
        };
        calls.filter_map(|(pod, call)| Some((member(pod)?, call))).collect()
    }
}

/// Notes of jobs on a volume.
pub type Jobs = Notes;
