//! What is noted of jobs, on the volume beside the ledger: which were begun, at
//! which table one is, and how it ended. It is written before each call, so that
//! nothing runs twice whatever ends meanwhile. A file of its own: an older agent
//! refuses a ledger with fields that it does not know.
//!
//! How notes change is pure, as with the ledger: an agent on a disk and a
//! simulator in memory write the same history.

mod finished;
mod levels;
mod numbered;
#[cfg(test)]
mod tests;

pub use finished::Finished;
pub use levels::Levels;
pub use numbered::Numbered;

use super::{Volume, durable, seconds};
use anyhow::Result;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_api::ids::PodUid;
use palladion_api::member::{Job, JobCause, JobState, JobStatus};
use palladion_api::task::{KeyspaceResult, KeyspaceState};
use serde::{Deserialize, Serialize};

/// Jobs are remembered by ID so that none runs twice; the operator gives one at
/// a time, so that this many reach far back.
const PAST: usize = 50;
/// As many as the schema of the status takes.
const RESULTS: usize = 2000;
/// Characters of a message: the schema takes no more of a keyspace's, and what a
/// server says may be a page long.
const CHARACTERS: usize = 1000;

/// All notes.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Notes {
    /// Highest epoch of a leader that gave a job.
    #[serde(default)]
    pub epoch: i64,
    /// The job that was given last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Note>,
    /// How those before it ended, newest first, without their keyspaces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub past: Vec<JobStatus>,
    /// What the tries of the last task have finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished: Option<Finished>,
    /// The same of tasks that another one came between, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub between: Vec<Finished>,
    /// Loggers that get their level back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<Levels>,
    /// How far the server has counted its repairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numbered: Option<Numbered>,
    /// When an agent at a repair by grants and the operator have heard each other last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heard_at: Option<Time>,
}

/// A job.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Note {
    /// As it was given.
    pub job: Job,
    /// Tag of the launch of the server that it was begun on; none if it was not begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// The pod in which it was noted.
    #[serde(rename = "podUID")]
    pub pod: PodUid,
    /// What is reported of it.
    pub status: JobStatus,
    /// What the call under way is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<Item>,
    /// The number that the server has given the repair under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair: Option<i64>,
}

/// What one call is about: a table, or a whole keyspace.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    /// The keyspace.
    pub keyspace: String,
    /// The table; none for all of the keyspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The state.
    pub state: JobState,
    /// Why, where it did not succeed.
    pub cause: Option<JobCause>,
    /// In words.
    pub message: Option<String>,
}

impl Ended {
    /// In this state, for this cause.
    pub fn by(state: JobState, cause: JobCause, message: impl ToString) -> Self {
        Self { state, cause: Some(cause), message: Some(message.to_string()) }
    }

    /// In this state, with no cause to name.
    pub fn as_asked(state: JobState, message: impl ToString) -> Self {
        Self { state, cause: None, message: Some(message.to_string()) }
    }
}

impl Notes {
    /// The job that is noted as under way.
    pub fn open(&self) -> Option<&Note> {
        self.last.as_ref().filter(|note| !note.status.state.is_final())
    }

    pub(crate) fn open_mut(&mut self) -> Option<&mut Note> {
        self.last.as_mut().filter(|note| !note.status.state.is_final())
    }

    /// Was a job with this ID ever noted?
    pub fn knows(&self, id: &str) -> bool {
        self.status(Some(id)).is_some()
    }

    /// What is reported: of the job that the spec names, else of the last one.
    pub fn status(&self, id: Option<&str>) -> Option<&JobStatus> {
        let last = self.last.as_ref().map(|note| &note.status);
        match id {
            Some(id) => last.into_iter().chain(&self.past).find(|s| s.id == id),
            None => last,
        }
    }

    fn put(&mut self, job: &Job, pod: &PodUid, tag: Option<&str>, status: JobStatus) {
        if let Some(before) = self.last.take() {
            self.past.insert(0, JobStatus { results: Vec::new(), ..before.status });
            self.past.truncate(PAST);
        }
        self.epoch = self.epoch.max(job.epoch);
        self.last = Some(Note {
            job: job.clone(),
            tag: tag.map(Into::into),
            pod: pod.clone(),
            status,
            item: None,
            repair: None,
        });
    }

    /// A job is about to begin on the server of this launch.
    pub fn begin(&mut self, job: &Job, pod: &PodUid, tag: &str, now: Timestamp) {
        let mut status = JobStatus::of(job.id.clone(), JobState::Running);
        status.started_at = Some(seconds(now));
        status.results.clone_from(&self.finished_of(&job.task).keyspaces);
        self.put(job, pod, Some(tag), status);
    }

    /// A job is not begun, and will not be.
    pub fn turn_down(&mut self, job: &Job, pod: &PodUid, ended: Ended, now: Timestamp) {
        self.put(job, pod, None, JobStatus::of(job.id.clone(), JobState::Running));
        self.end(ended, now);
    }

    /// Agent and operator have heard each other.
    pub fn hear(&mut self, at: Timestamp) {
        self.heard_at = Some(seconds(at));
    }

    /// The job is being stopped.
    pub fn stop(&mut self) {
        if let Some(note) = self.open_mut() {
            note.status.state = JobState::Stopping;
        }
    }

    /// A call is about to be made.
    pub fn call(&mut self, item: Item) {
        if let Some(note) = self.open_mut() {
            (note.status.keyspace, note.status.table) =
                (Some(item.keyspace.clone()), item.table.clone());
            (note.item, note.repair) = (Some(item), None);
        }
    }

    /// The server has begun a repair under this number.
    pub fn number(&mut self, number: i64) {
        if let Some(note) = self.open_mut() {
            note.repair = Some(number);
        }
        self.count_to(number);
    }

    /// By this grant nothing is repaired any more.
    pub fn end_grant(&mut self, number: u32) {
        if let Some(note) = self.open_mut() {
            note.status.last_grant = Some(number);
        }
    }

    /// The call under way is over; what it has done is noted elsewhere.
    pub fn leave_item(&mut self) {
        if let Some(note) = self.open_mut() {
            (note.item, note.repair) = (None, None);
        }
    }

    /// The call under way has done its work.
    pub fn finish_item(&mut self) {
        let Some(item) = self.open_mut().and_then(|note| {
            note.repair = None;
            note.item.take()
        }) else {
            return;
        };
        if let Some(finished) = &mut self.finished {
            finished.items.push(item);
        }
    }

    /// A keyspace is over.
    pub fn finish_keyspace(&mut self, mut result: KeyspaceResult) {
        result.message = result.message.map(short);
        if result.state == KeyspaceState::Succeeded
            && let Some(finished) = &mut self.finished
        {
            finished.keyspaces.push(result.clone());
        }
        if let Some(note) = self.open_mut()
            && note.status.results.len() < RESULTS
        {
            note.status.results.push(result);
        }
    }

    /// The job has ended.
    pub fn end(&mut self, ended: Ended, now: Timestamp) {
        let Some(note) = self.open_mut() else {
            return;
        };
        let ended = Ended { message: ended.message.map(short), ..ended };
        let status = &mut note.status;
        let has_room = status.results.len() < RESULTS;
        if let (JobState::Interrupted, Some(item), true) = (ended.state, &note.item, has_room) {
            status.results.push(KeyspaceResult {
                name: item.keyspace.clone(),
                state: KeyspaceState::Interrupted,
                seconds: 0,
                message: ended.message.clone(),
                copies_before: None,
            });
        }
        if ended.state == JobState::Succeeded {
            (status.keyspace, status.table) = (None, None);
        }
        (status.done, status.total, status.unit, status.progress) = (None, None, None, None);
        (status.state, status.cause, status.message) = (ended.state, ended.cause, ended.message);
        status.ended_at = Some(seconds(now));
    }
}

fn short(text: String) -> String {
    match text.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

impl Volume {
    /// The notes; none at all on a volume that has had no job.
    pub fn jobs(&self) -> Result<Notes> {
        Ok(durable::read_json(&self.own("jobs.json"))?.unwrap_or_default())
    }

    /// Write the notes; on return they survive a power cut.
    pub fn save_jobs(&self, notes: &Notes) -> Result<()> {
        durable::write_json(&self.own("jobs.json"), notes)
    }
}
