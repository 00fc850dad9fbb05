//! What is done about the job in the spec. Each ID is begun at most once,
//! whatever ends meanwhile: it is noted on the volume before the work begins,
//! and what an earlier agent left open is never begun again.

use super::silence::{UNHEARD, is_by_grants};
use crate::volume::jobs::{Ended, Note, Notes};
use crate::volume::ledger::{End, Ledger};
use crate::words::work::{Aborted, Interrupted, Refused};
use palladion_api::ids::PodUid;
use palladion_api::member::{CassandraMemberSpec, Job, JobCause, JobState, JobWanted};
use std::time::Duration;

/// What is to be done about `spec.job`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing.
    Nothing,
    /// Note that it runs ([`Notes::begin`]), and begin.
    Begin,
    /// Note that it is being stopped ([`Notes::stop`]), and stop it.
    Stop(Stop),
    /// An earlier agent left a call to the server that still runs: wait for its
    /// end, and begin nothing beside it.
    Settle,
    /// The job that is noted as under way is over ([`Notes::end`]).
    NoteEnd(Ended),
    /// It is not begun, and never will be ([`Notes::turn_down`]).
    TurnDown(Ended),
}

/// Why a job is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The spec says so, or names another job or none.
    Asked,
    /// Its time is over.
    Deadline,
    /// The API server was not heard for so long that others may be given what it was granted.
    Unheard,
}

/// What the agent is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worker {
    /// Nothing.
    Idle,
    /// An operation.
    Operation,
    /// The job that is noted as under way, for so long; also one that it waits for.
    Job(Duration),
    /// The same, and it is being stopped.
    Stopping,
}

/// How the server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server<'a> {
    /// A full member that answers CQL, of this launch.
    Serves(&'a str),
    /// It runs, of this launch, and takes no jobs now.
    Runs(&'a str),
    /// It does not run.
    Absent,
    /// Not known.
    Unknown,
}

/// What there is here.
#[derive(Clone, Copy, Debug)]
pub struct Here<'a> {
    /// The agent's pod.
    pub pod: &'a PodUid,
    /// What the agent is at.
    pub worker: Worker,
    /// Its server.
    pub server: Server<'a>,
    /// For how long the operator and the agent have not heard each other.
    pub silence: Duration,
}

impl Here<'_> {
    /// Does nobody hear it for so long that it must not repair what it was granted?
    fn is_unheard(&self, job: &Job) -> bool {
        self.silence >= UNHEARD && is_by_grants(job)
    }
}

/// Decide about the job in the spec (as read live).
pub fn next(spec: &CassandraMemberSpec, ledger: &Ledger, notes: &Notes, here: Here<'_>) -> Next {
    match (here.worker, notes.open()) {
        (Worker::Job(elapsed), Some(note)) => follow(spec.job.as_ref(), note, elapsed, here),
        (Worker::Idle, Some(note)) => left_over(note, ledger, here),
        (Worker::Idle, None) => spec.job.as_ref().map_or(Next::Nothing, |job| {
            if notes.knows(&job.id) { Next::Nothing } else { take_up(job, ledger, notes, here) }
        }),
        (Worker::Operation | Worker::Stopping, _) | (Worker::Job(_), None) => Next::Nothing,
    }
}

/// One runs.
fn follow(wanted: Option<&Job>, note: &Note, elapsed: Duration, here: Here<'_>) -> Next {
    // First: what a spec of before asks for is not carried out.
    if here.is_unheard(&note.job) {
        return Next::Stop(Stop::Unheard);
    }
    let runs = wanted.filter(|job| job.id == note.job.id).is_some_and(|job| match job.wanted {
        JobWanted::Run => true,
        // What a newer operator wants of a job that runs can be nothing but an end of it.
        JobWanted::Stop | JobWanted::Unknown(_) => false,
    });
    if !runs {
        return Next::Stop(Stop::Asked);
    }
    if elapsed >= deadline(note) {
        return Next::Stop(Stop::Deadline);
    }
    Next::Nothing
}

/// An earlier agent left one open, or the connection to the server broke.
fn left_over(note: &Note, ledger: &Ledger, here: Here<'_>) -> Next {
    let end = |cause, why: Interrupted| {
        Next::NoteEnd(Ended::by(JobState::Interrupted, cause, why.to_string()))
    };
    if note.pod != *here.pod {
        return end(JobCause::PodEnded, Interrupted::Pod);
    }
    let tag = note.tag.as_deref().unwrap_or_default();
    match here.server {
        Server::Unknown => Next::Nothing,
        Server::Serves(runs) | Server::Runs(runs) if runs == tag => Next::Settle,
        Server::Serves(_) | Server::Runs(_) | Server::Absent => {
            let start = ledger.starts.iter().find(|start| start.tag == tag);
            match start {
                // How it ended is about to be noted.
                Some(start) if start.end == End::Open && here.server == Server::Absent => {
                    Next::Nothing
                }
                Some(start) => match start.record.exit_code {
                    Some(code) => end(JobCause::ServerEnded, Interrupted::Exit { code }),
                    None => end(JobCause::ServerEnded, Interrupted::Server),
                },
                None => end(JobCause::ServerEnded, Interrupted::Server),
            }
        }
    }
}

/// An earlier agent was about to stop what it left, for whatever reason: it is never gone on
/// with, also where the spec that says so is not read. What still counts is told.
pub fn stop_of(note: &Note, elapsed: Duration, silence: Duration) -> Option<Stop> {
    if note.status.state != JobState::Stopping {
        return None;
    }
    Some(if silence >= UNHEARD && is_by_grants(&note.job) {
        Stop::Unheard
    } else if elapsed >= deadline(note) {
        Stop::Deadline
    } else {
        Stop::Asked
    })
}

fn deadline(note: &Note) -> Duration {
    Duration::from_secs(note.job.deadline_seconds.into())
}

/// One was given that was never seen before.
fn take_up(job: &Job, ledger: &Ledger, notes: &Notes, here: Here<'_>) -> Next {
    if let Some((cause, why)) = refusal(job, ledger, notes) {
        return Next::TurnDown(Ended::by(JobState::Refused, cause, why.to_string()));
    }
    match (job.wanted, here.server) {
        (JobWanted::Stop, _) => {
            Next::TurnDown(Ended::as_asked(JobState::Aborted, Aborted::Never.to_string()))
        }
        // The spec that was read last may be an old one.
        (JobWanted::Run, _) if here.is_unheard(job) => Next::Nothing,
        (JobWanted::Run, Server::Serves(_)) if ledger.host_id.is_some() => Next::Begin,
        (JobWanted::Run | JobWanted::Unknown(_), _) => Next::Nothing,
    }
}

/// Why a job cannot be ours, or not be done by us (safety rule 1.3).
fn refusal(job: &Job, ledger: &Ledger, notes: &Notes) -> Option<(JobCause, Refused)> {
    if job.volume_id != ledger.volume_id {
        let (named, found) = (job.volume_id.clone(), ledger.volume_id.clone());
        return Some((JobCause::OtherVolume, Refused::OtherVolume { named, found }));
    }
    if let Some(found) = ledger.host_id.as_ref().filter(|found| **found != job.host_id) {
        let (named, found) = (job.host_id.clone(), found.clone());
        return Some((JobCause::OtherHostID, Refused::OtherHostId { named, found }));
    }
    if job.epoch < notes.epoch {
        let (epoch, seen) = (job.epoch, notes.epoch);
        return Some((JobCause::OldEpoch, Refused::OldEpoch { epoch, seen }));
    }
    let unknown = job.work.unknown().into_iter().map(|(_, word)| word);
    let wanted = match job.wanted {
        JobWanted::Run | JobWanted::Stop => None,
        JobWanted::Unknown(word) => Some(word),
    };
    if let Some(word) = unknown.chain(wanted).next() {
        return Some((JobCause::NotSupported, Refused::word(word)));
    }
    if job.work.body().is_none() {
        return Some((JobCause::NotSupported, Refused::body()));
    }
    None
}
