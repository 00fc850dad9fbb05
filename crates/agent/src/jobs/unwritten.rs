//! What is told of jobs whose notes cannot be written: the disk is full or
//! read-only, or the notes cannot be read. Whoever waits for such a job would wait
//! for ever otherwise. In memory alone: an agent that is restarted finds the job as
//! it is noted.

use crate::decide::job::Next;
use crate::volume::jobs::Ended;
use palladion_api::member::{Job, JobCause, JobState, JobStatus};
use std::collections::BTreeMap;
use std::fmt::Display;

/// Jobs that are over as far as anybody is told, by ID.
#[derive(Debug, Default)]
pub struct Unwritten(BTreeMap<String, JobStatus>);

impl Unwritten {
    /// How this job has ended could not be noted.
    pub fn ended(&mut self, before: JobStatus, ended: Ended) {
        let mut status = JobStatus::of(before.id, ended.state);
        (status.cause, status.message) = (ended.cause, ended.message);
        (status.results, status.started_at) = (before.results, before.started_at);
        (status.keyspace, status.table) = (before.keyspace, before.table);
        self.0.insert(status.id.clone(), status);
    }

    /// This job was not begun, since that could not be noted.
    pub fn not_begun(&mut self, job: &Job, state: JobState, why: &impl Display) {
        let ended = Ended::by(state, JobCause::VolumeError, why.to_string());
        self.ended(JobStatus::of(job.id.clone(), state), ended);
    }

    /// What is told of the job with this ID.
    pub fn of(&self, id: &str) -> Option<&JobStatus> {
        self.0.get(id)
    }

    /// What is done instead of `next`: an end that was told is noted as soon as it can
    /// be, and what was told to be over is not begun. `open` is the job that is noted as
    /// under way, `wanted` the one in the spec.
    pub fn instead(&self, next: Next, open: Option<&str>, wanted: Option<&str>) -> Next {
        let told = |id: Option<&str>| id.and_then(|id| self.of(id)).map(end);
        match (open, next) {
            (Some(_), next) => told(open).map_or(next, Next::NoteEnd),
            (None, Next::Begin) => told(wanted).map_or(Next::Begin, Next::TurnDown),
            (None, next) => next,
        }
    }

    /// It stands in the notes now, or nobody asks for it any more.
    pub fn keep(&mut self, is_needed: impl Fn(&str) -> bool) {
        self.0.retain(|id, _| is_needed(id));
    }
}

fn end(told: &JobStatus) -> Ended {
    Ended { state: told.state, cause: told.cause, message: told.message.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(id: &str, state: JobState) -> Unwritten {
        let mut unwritten = Unwritten::default();
        let ended = Ended::by(state, JobCause::VolumeError, "no space");
        unwritten.ended(JobStatus::of(id.into(), JobState::Running), ended);
        unwritten
    }

    #[test]
    fn an_end_that_was_told_is_noted_instead_of_waiting_for_the_call_again() {
        let unwritten = told("a", JobState::Failed);
        let Next::NoteEnd(ended) = unwritten.instead(Next::Settle, Some("a"), Some("b")) else {
            panic!("it is over")
        };
        assert_eq!((ended.state, ended.cause), (JobState::Failed, Some(JobCause::VolumeError)));
        assert_eq!(unwritten.instead(Next::Settle, Some("c"), Some("a")), Next::Settle);
    }

    #[test]
    fn what_was_told_to_be_refused_is_not_begun_when_there_is_room_again() {
        let unwritten = told("a", JobState::Refused);
        let next = unwritten.instead(Next::Begin, None, Some("a"));
        assert!(matches!(next, Next::TurnDown(Ended { state: JobState::Refused, .. })), "{next:?}");
        assert_eq!(unwritten.instead(Next::Begin, None, Some("b")), Next::Begin);
    }
}
