//! What every job works with, and what can come between.

use super::book::{Book, Live};
use super::pace::Pace;
use crate::admin::jobs::Jobs;
use crate::admin::{Error, ServerAdmin};
use crate::decide::job::Stop;
use crate::decide::silence::UNHEARD;
use crate::metrics::Metrics;
use crate::repair::Repairs;
use crate::repair::pressure::Load;
use crate::repair::schema::Schemas;
use crate::replication::Keyspaces;
use crate::volume::jobs::{Ended, Notes};
use crate::words::calls::Doing;
use crate::words::work::{Aborted, Done, Failed, Interrupted, Refused};
use palladion_api::member::{Grant, Job, JobCause, JobState, JobUnit};
use palladion_api::repair::Coverage;
use palladion_api::task::{KeyspaceResult, KeyspaceState};
use palladion_api::words::Names;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// Why a job does not go on.
#[derive(Debug)]
pub enum Halt {
    /// The connection broke, or the server goes down: what became of the call is
    /// not known here.
    Lost,
    /// It was asked to stop.
    Stopped,
    /// It was asked to stop, or a segment took too long, and its repairs did not end in time.
    LeftRunning {
        /// The keyspace.
        keyspace: String,
        /// Their numbers.
        numbers: Names,
    },
    /// It was asked to stop, and the server shows nothing of what it was called for: that
    /// waits for a thread, and cannot be stopped.
    LeftWaiting {
        /// The keyspace.
        keyspace: String,
        /// The table.
        table: String,
    },
    /// It was asked to stop, and the server has not answered what it was called for.
    LeftUnanswered {
        /// What that is.
        doing: Doing,
    },
    /// It failed.
    Failed(JobCause, String),
    /// This server cannot do it; nothing was done.
    Refused(String),
}

/// What a part of a job leads to.
pub type Step<T> = Result<T, Halt>;

/// What a job works with.
pub struct Bench {
    /// The server.
    pub admin: Arc<dyn ServerAdmin>,
    /// The notes.
    pub book: Arc<Book>,
    /// What was repaired.
    pub repairs: Arc<Repairs>,
    /// Where the schema is read.
    pub schemas: Arc<dyn Schemas>,
    /// Where keyspaces are replicated.
    pub keyspaces: Arc<dyn Keyspaces>,
    /// The datacenter of this member.
    pub datacenter: String,
    /// What the schedule covers that covers the ring.
    pub cover: Coverage,
    /// The job.
    pub job: Job,
    /// Whether it should stop, and why.
    pub stop: watch::Receiver<Option<Stop>>,
    /// What it may repair now.
    pub grants: watch::Receiver<Grant>,
    /// How much the server has to do.
    pub load: watch::Receiver<Load>,
    /// Where it is counted.
    pub metrics: Arc<Metrics>,
    /// How often and how long.
    pub pace: Pace,
}

impl Bench {
    /// What the server does for jobs.
    pub fn jobs(&self) -> Step<&dyn Jobs> {
        self.admin.jobs().ok_or_else(|| Halt::Refused(Refused::body().to_string()))
    }

    /// Should it stop?
    pub fn asked(&self) -> Option<Stop> {
        *self.stop.borrow()
    }

    /// A place at which it can stop.
    pub fn may_stop(&self) -> Step<()> {
        self.asked().map_or(Ok(()), |_| Err(Halt::Stopped))
    }

    /// Wait until it is asked to stop.
    pub async fn asked_to_stop(&self) {
        let mut stop = self.stop.clone();
        if stop.wait_for(Option::is_some).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Wait, but no longer than until it is asked to stop.
    pub async fn pause(&self, time: Duration) {
        tokio::select! {
            () = tokio::time::sleep(time) => {}
            () = self.asked_to_stop() => {}
        }
    }

    /// The grant after this one; none if there is none yet after some time, or where it
    /// is asked to stop.
    pub async fn grant_after(&self, number: u32) -> Option<Grant> {
        let mut grants = self.grants.clone();
        let next = grants.wait_for(|grant| grant.number > number && !grant.host_ids.is_empty());
        tokio::select! {
            next = next => next.ok().map(|grant| grant.clone()),
            () = self.pause(self.pace.grant) => None,
        }
    }

    /// How much the server has to do now.
    pub fn load(&self) -> Load {
        *self.load.borrow()
    }

    /// Write a note; without it nothing is called.
    pub fn note(&self, change: impl FnOnce(&mut Notes)) -> Step<()> {
        let failed = |error| Halt::Failed(JobCause::VolumeError, format!("{error:#}"));
        self.book.change(change).map_err(failed)
    }

    /// How far it is.
    pub fn show(&self, live: Live) {
        self.book.show(live);
    }

    /// So many parts of all are done.
    pub fn show_parts(&self, done: usize, all: usize, unit: JobUnit) {
        let (done, total) = (done as u64, all as u64);
        self.show(Live {
            progress: u8::try_from(done * 100 / total.max(1)).ok(),
            done: Some(done),
            total: Some(total),
            unit: Some(unit),
        });
    }

    /// What a failed call means.
    pub async fn failed(&self, doing: Doing, error: Error) -> Halt {
        match error {
            Error::Http { .. } => Halt::Lost,
            Error::Unsupported(_) => Halt::Refused(error.to_string()),
            Error::Status { .. } | Error::Failed { .. } => {
                let why = format!("{:#}", anyhow::Error::from(error).context(doing));
                self.failed_by_itself(JobCause::ServerError, Failed::Server { why }).await
            }
        }
    }

    /// A failure counts of a server that is a full member still: one that is being
    /// drained interrupts what it is at, and how it ends is told when it has ended.
    pub async fn failed_by_itself(&self, cause: JobCause, why: Failed) -> Halt {
        match self.admin.read().await {
            Ok(reading) if reading.is_full_member() => Halt::Failed(cause, why.to_string()),
            Ok(_) | Err(_) => Halt::Lost,
        }
    }

    /// The part of a keyspace; how it ended is noted, for people and for the next try, with what
    /// there is to say of one that ended well.
    pub async fn keyspace(
        &self,
        name: &str,
        part: impl Future<Output = Step<Option<Done>>>,
    ) -> Step<()> {
        let begun = Instant::now();
        let outcome = part.await;
        let (state, message) = match &outcome {
            Ok(said) => (KeyspaceState::Succeeded, said.as_ref().map(Done::to_string)),
            Err(Halt::Failed(_, why)) => (KeyspaceState::Failed, Some(why.clone())),
            Err(
                Halt::Stopped
                | Halt::LeftRunning { .. }
                | Halt::LeftWaiting { .. }
                | Halt::LeftUnanswered { .. },
            ) => (KeyspaceState::Aborted, None),
            // Noted with the end of the job.
            Err(Halt::Lost | Halt::Refused(_)) => return outcome.map(drop),
        };
        let seconds = begun.elapsed().as_secs();
        let result = KeyspaceResult::of(name.into(), state, seconds, message);
        self.note(|notes| notes.finish_keyspace(result))?;
        outcome.map(drop)
    }

    /// What the outcome amounts to; `None` where it is not known here.
    pub fn ended(&self, outcome: Step<Done>) -> Option<Ended> {
        Some(match outcome {
            Ok(done) => Ended::as_asked(JobState::Succeeded, done),
            Err(Halt::Lost) => return None,
            Err(Halt::Stopped) => match self.asked() {
                Some(Stop::Deadline) => {
                    let seconds = self.job.deadline_seconds;
                    let cause = JobCause::DeadlineExceeded;
                    Ended::by(JobState::Failed, cause, Failed::Deadline { seconds })
                }
                Some(Stop::Unheard) => {
                    let why = Interrupted::Unheard { minutes: UNHEARD.as_secs() / 60 };
                    Ended::by(JobState::Interrupted, JobCause::ApiServerUnreachable, why)
                }
                Some(Stop::Asked) | None => Ended::as_asked(JobState::Aborted, Aborted::Asked),
            },
            Err(Halt::LeftRunning { keyspace, numbers }) => self.left_running(keyspace, numbers),
            Err(Halt::LeftWaiting { keyspace, table }) => {
                let seconds = self.pace.ends.as_secs();
                self.left(&Aborted::LeftWaiting { keyspace, table, seconds })
            }
            Err(Halt::LeftUnanswered { doing }) => {
                let (doing, seconds) = (doing.to_string(), self.pace.ends.as_secs());
                self.left(&Aborted::LeftUnanswered { doing, seconds })
            }
            Err(Halt::Failed(cause, why)) => Ended::by(JobState::Failed, cause, why),
            Err(Halt::Refused(why)) => Ended::by(JobState::Refused, JobCause::NotSupported, why),
        })
    }

    /// The server has not ended a repair that it was asked to end.
    fn left_running(&self, keyspace: String, numbers: Names) -> Ended {
        let ends = self.pace.ends.as_secs();
        match self.asked() {
            Some(Stop::Unheard) => {
                let minutes = UNHEARD.as_secs() / 60;
                let left = Aborted::UnheardLeft { minutes, keyspace, numbers, seconds: ends };
                Ended::by(JobState::Aborted, JobCause::LeftRunning, left)
            }
            Some(Stop::Asked | Stop::Deadline) => {
                self.left(&Aborted::LeftRunning { keyspace, numbers, seconds: ends })
            }
            None => {
                let seconds = self.pace.segment.as_secs();
                let why = Failed::TooLongLeft { keyspace, numbers, seconds, ends };
                Ended::by(JobState::Failed, JobCause::LeftRunning, why)
            }
        }
    }

    /// Something was left in the server after a stop.
    fn left(&self, left: &Aborted) -> Ended {
        match self.asked() {
            Some(Stop::Deadline) => {
                let (seconds, left) = (self.job.deadline_seconds, left.to_string());
                // That something was left counts for more than why: others wait for it.
                let why = Failed::DeadlineLeft { seconds, left };
                Ended::by(JobState::Failed, JobCause::LeftRunning, why)
            }
            Some(Stop::Asked | Stop::Unheard) | None => {
                Ended::by(JobState::Aborted, JobCause::LeftRunning, left)
            }
        }
    }
}
