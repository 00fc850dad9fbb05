//! What the spec asks of an agent while its server runs: seeds, runtime
//! settings, operations, questions.

use super::agent::{Agent, Copies, Reach};
use super::ring::{Configuration, Disks};
use jiff::{SignedDuration, Timestamp};
use palladion_agent::admin::Reading;
use palladion_agent::decide::operation::{self, Next, Server, Worker};
use palladion_agent::decide::{Process, Source};
use palladion_agent::report::ring;
use palladion_agent::volume::heartbeat::Known;
use palladion_agent::volume::ledger::Membership;
use palladion_api::member::{AccessProblem, AccessProblemKind};
use palladion_plan::sim::Activity;

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
        let serves = reading.serves();
        let joined = self.ledger().is_some_and(|l| l.membership == Membership::Joined);
        let seeds = &saved.spec.seeds;
        self.runtime = saved.spec.runtime_settings.clone();
        if serves
            && joined
            && self.source == Source::Live
            && !seeds.is_empty()
            && let Some(server) = reach.ring.servers.get_mut(self.pod.uid.as_str())
        {
            server.seeds.clone_from(seeds);
        }
    }

    /// Counted again when schema or ring has changed.
    pub(super) fn count_copies(&mut self, reach: &Reach<'_>) {
        let reading = self.reading().filter(|r| r.serves() && r.schema_agreed == Some(true));
        let Some((reading, members)) = reading.and_then(|r| Some((r, r.members.as_ref()?.len())))
        else {
            return;
        };
        if self.copies.of == reading.schema_version && self.copies.members == members {
            return;
        }
        let of = reading.schema_version.clone();
        self.copies = Copies { of, members, counts: reach.ring.copies_of_keyspaces(members) };
    }

    /// A server that serves lets its agent in or not.
    pub(super) fn try_to_log_in(&mut self, reach: &Reach<'_>) {
        if self.reading().is_some_and(Reading::serves) {
            self.access = reach.ring.login.problem(&self.configuration);
        } else if self.configuration == Configuration::Asks && self.process == Process::Running {
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
            let at = self.clock_at(now);
            self.change_ledger(reach, |ledger| ledger.end_operation(&operation.id, outcome, at));
            return Activity::ACTED;
        }
        let (Some(saved), Some(ledger), Source::Live) = (&self.saved, self.ledger(), self.source)
        else {
            return Activity::default();
        };
        let serves = self.reading().is_some_and(Reading::serves);
        let server = if serves { Server::Serves } else { Server::DoesNotServe };
        let at = self.clock_at(now);
        let worker = if self.work.is_some() { Worker::Busy } else { Worker::Idle };
        match operation::next(&saved.spec, ledger, worker, server) {
            Next::Nothing => Activity::default(),
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
                reach.ring.begin_operation(self.pod.uid.as_str(), &operation);
                let end = now + OPERATION;
                self.job = Some((operation, end));
                Activity::ACTED.at(end)
            }
        }
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
