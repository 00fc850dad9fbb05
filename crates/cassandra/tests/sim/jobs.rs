//! What the spec asks of an agent while its server runs: seeds, runtime
//! settings, operations, questions.

use super::agent::{Agent, Copies, Reach};
use super::far::HERE;
use super::ring::Disks;
use jiff::{SignedDuration, Timestamp};
use palladion_agent::admin::Reading;
use palladion_agent::decide::elsewhere;
use palladion_agent::decide::operation::{self, Next, Server, Worker};
use palladion_agent::decide::{Process, Source};
use palladion_agent::report::ring;
use palladion_agent::volume::heartbeat::Known;
use palladion_agent::volume::ledger::Membership;
use palladion_agent::volume::record;
use palladion_api::member::{AccessProblem, AccessProblemKind, OperationKind};
use palladion_plan::sim::Activity;
use serde_json::Value;

/// How long an operation takes.
const OPERATION: SignedDuration = SignedDuration::from_secs(2);
/// A server that does not answer a question in this time could not be asked.
const QUESTION_TIME: SignedDuration = SignedDuration::from_secs(8);

impl Agent {
    /// Seeds and runtime settings need no restart.
    pub(super) fn follow_spec(&mut self, reach: &mut Reach<'_>) {
        let (Some(saved), Some(reading)) = (&self.saved, self.reading()) else {
            return;
        };
        let serves = self.is_at_work();
        let joined = self.ledger().is_some_and(|l| l.membership == Membership::Joined);
        let view = reading.members.clone().unwrap_or_default();
        let servers = &reach.ring.servers;
        let listed = servers.get(self.pod.uid.as_str()).map(|s| s.seeds.clone());
        let seeds =
            elsewhere::listed(&saved.spec, &self.elsewhere, &view, &listed.unwrap_or_default());
        self.runtime = saved.spec.runtime_settings.clone();
        if serves
            && joined
            && self.source == Source::Live
            && !saved.spec.seeds.is_empty()
            && let Some(server) = reach.ring.servers.get_mut(self.pod.uid.as_str())
        {
            server.seeds = seeds;
        }
    }

    /// Counted again when schema or ring has changed.
    pub(super) fn count_copies(&mut self, reach: &mut Reach<'_>) {
        let is_at_work = self.is_at_work();
        let reading = self.reading().filter(|r| is_at_work && r.schema_agreed == Some(true));
        let Some((reading, members)) = reading.and_then(|r| Some((r, r.members.as_ref()?.len())))
        else {
            return;
        };
        if self.copies.of == reading.schema_version && self.copies.members == members {
            return;
        }
        let of = reading.schema_version.clone();
        let counts = reach.ring.copies_of_keyspaces(members);
        let by_datacenter = self.counted_by_datacenter(reach.ring);
        let uneven = self.counted_uneven(reach.ring);
        self.copies = Copies { of, members, counts, by_datacenter, uneven };
        self.forget_rebuilt(reach);
    }

    /// A server that serves lets its agent in or not.
    pub(super) fn try_to_log_in(&mut self, reach: &mut Reach<'_>) {
        self.make_roles(reach);
        if self.reading().is_some_and(Reading::serves) || self.is_let_in_behind_its_seal() {
            self.access = reach.ring.login.problem(&self.configuration);
            if self.access.is_none() && self.is_sealed_among_others() {
                let kind = match reach.ring.reads_roles() {
                    true => AccessProblemKind::Sealed,
                    false => AccessProblemKind::Unanswered,
                };
                self.access = Some(AccessProblem { kind, message: None });
            }
        } else if self.has_lost_its_keys_among_others() {
            self.access = Some(AccessProblem { kind: AccessProblemKind::Sealed, message: None });
        } else if self.awaits_rebuild {
            self.access = None;
        } else if self.configuration.asks() && self.process == Process::Running {
            self.access = Some(AccessProblem { kind: AccessProblemKind::Pending, message: None });
        }
    }

    /// Begin the operation that the spec names, or note what became of one.
    pub(super) fn operate(&mut self, reach: &mut Reach<'_>) -> Activity {
        let now = reach.now;
        if let Some((operation, end)) = self.job.clone() {
            if end > now && reach.ring.servers.contains_key(self.pod.uid.as_str()) {
                return Activity::default().at(end);
            }
            let outcome = reach.ring.carry_out(self.pod.uid.as_str(), &operation, reach.disks);
            let Some(outcome) = outcome else {
                return Activity::default();
            };
            self.job = None;
            if outcome.is_ok() && operation.kind == OperationKind::Rebuild {
                let here = |name: &String| (name.clone(), reach.ring.copies_in(name, HERE));
                let done: Vec<(String, u32)> = operation.keyspaces.iter().map(here).collect();
                self.change_rebuilt(reach, |noted| {
                    done.iter().for_each(|(name, copies)| noted.note(name, *copies));
                });
            }
            let at = self.clock_at(now);
            self.change_ledger(reach, |ledger| ledger.end_operation(&operation.id, outcome, at));
            return Activity::ACTED;
        }
        if self.settles {
            return self.settle_operation(reach);
        }
        let (Some(saved), Some(ledger), Source::Live) = (&self.saved, self.ledger(), self.source)
        else {
            return Activity::default();
        };
        let serves = self.is_at_work();
        let server = match &self.process {
            Process::Running if serves => Server::Serves,
            Process::Running => Server::Runs,
            Process::Absent => Server::Absent,
            Process::Unknown(_) => Server::Unknown,
        };
        let at = self.clock_at(now);
        let worker = if self.work.is_some() { Worker::Busy } else { Worker::Idle };
        match operation::next(&saved.spec, ledger, worker, server) {
            Next::Nothing => Activity::default(),
            Next::Settle(_) => {
                self.settles = true;
                Activity::ACTED
            }
            Next::NoteInterrupted => {
                self.change_ledger(reach, |ledger| ledger.interrupt_operations(at));
                Activity::ACTED
            }
            Next::NoteRefused(why) => {
                let id = saved.spec.operation.as_ref().map(|o| o.id.clone()).unwrap_or_default();
                self.change_ledger(reach, |ledger| {
                    ledger.end_operation(&id, Err(why.to_string()), at);
                });
                Activity::ACTED
            }
            Next::Begin => {
                let Some(operation) = saved.spec.operation.clone() else {
                    return Activity::default();
                };
                self.change_ledger(reach, |ledger| ledger.begin_operation(&operation.id, at));
                reach.ring.begun.push((self.pod.key.name.clone(), operation.id.clone()));
                let end = now + OPERATION;
                reach.ring.begin_operation(self.pod.uid.as_str(), &operation, end);
                self.job = Some((operation, end));
                Activity::ACTED.at(end)
            }
        }
    }

    /// Wait for the end of what an earlier agent has called for.
    fn settle_operation(&mut self, reach: &mut Reach<'_>) -> Activity {
        let (now, pod) = (reach.now, self.pod.uid.to_string());
        if let Some(left) = reach.ring.ordered.get(&pod).cloned() {
            if left.until > now {
                return Activity::default().at(left.until);
            }
            if reach.ring.carry_out(&pod, &left.operation, reach.disks).is_none() {
                return Activity::default();
            }
        }
        self.settles = false;
        let at = self.clock_at(now);
        self.change_ledger(reach, |ledger| ledger.interrupt_operations(at));
        Activity::ACTED
    }

    /// Note on the volume that the server runs.
    pub(super) fn beat(&mut self, now: Timestamp, grace: Option<u32>, disks: &mut Disks) {
        let now = self.clock_at(now);
        let live = self.saved.as_ref().filter(|_| self.source == Source::Live).map(|s| &s.spec);
        let next = self.found.as_ref().zip(self.ledger());
        let Some(mut next) =
            next.and_then(|(found, ledger)| found.heartbeat.next(ledger, live, now))
        else {
            return;
        };
        next.smallest_gc_grace_seconds = grace.or(next.smallest_gc_grace_seconds);
        let heartbeat = Known::At(next);
        if let Some(disk) = disks.get_mut(&self.pod.disk) {
            disk.content.heartbeat = heartbeat.clone();
        }
        if let Some(found) = &mut self.found {
            found.heartbeat = heartbeat;
        }
    }

    /// Note on the volume that the status shows more than it.
    pub(super) fn note_set_back(&mut self, status: &Value, disks: &mut Disks) {
        let status = serde_json::from_value(status.clone()).ok();
        let found = self.found.as_mut().filter(|found| found.marker.is_some());
        let (Some(status), Some(found)) = (status, found) else {
            return;
        };
        let ran_until = found.ledger.as_ref().and_then(|l| record::ran_until(l, &status));
        let Some(heartbeat) = ran_until.and_then(|at| found.heartbeat.set_back(at)) else {
            return;
        };
        found.heartbeat = Known::At(heartbeat);
        if let Some(disk) = disks.get_mut(&self.pod.disk) {
            disk.content.heartbeat = found.heartbeat.clone();
        }
    }

    /// Notice a question, so that the look which answers it is taken after it.
    pub(super) fn notice_question(&mut self, now: Timestamp) {
        let asked = self.saved.as_ref().and_then(|s| s.spec.evidence.as_ref());
        let Some(nonce) = asked.map(|e| e.nonce.clone()).filter(|_| self.source == Source::Live)
        else {
            self.question = None;
            return;
        };
        let answered = self.evidence.as_ref().is_some_and(|e| e.nonce == nonce);
        let known = self.question.as_ref().is_some_and(|(known, _)| *known == nonce);
        match (answered, known) {
            (true, _) => self.question = None,
            (false, true) => {}
            (false, false) => self.question = Some((nonce, now)),
        }
    }

    /// Answer a question from a look that was begun after it was seen.
    pub(super) fn answer_question(&mut self, reach: &Reach<'_>) -> Activity {
        let Some((nonce, seen)) = self.question.clone() else {
            return Activity::default();
        };
        let fresh = self.look.as_ref().filter(|l| l.begun >= seen).map(|l| &l.reading);
        let reading = match (&self.process, fresh) {
            (Process::Running, Some(reading)) => Some(reading),
            (Process::Running, None) if reach.now < seen + QUESTION_TIME => {
                return Activity::default().at(seen + QUESTION_TIME);
            }
            (Process::Running | Process::Absent | Process::Unknown(_), _) => None,
        };
        let free = reach.ring.disk_of(&self.pod.key.name).free_bytes;
        let at = self.clock_at(reach.now);
        self.evidence = Some(ring::evidence(&nonce, reading, Some(free), at));
        self.question = None;
        Activity::ACTED
    }
}
