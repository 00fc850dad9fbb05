//! Jobs of tasks: begun, stopped, settled and noted, as [`crate::decide::job`] says.

use super::state::{Agent, Done, Task};
use crate::decide::job::{self, Here, Next, Server, Stop, Worker};
use crate::decide::silence::{self, Silence};
use crate::decide::{Process, Source};
use crate::jobs::{self, Bench, Book, Pace, Waited};
use crate::volume::jobs::{Ended, Levels, Notes};
use crate::volume::seconds;
use crate::words::work::Trouble;
use anyhow::Result;
use jiff::Timestamp;
use palladion_api::member::{Grant, Job, JobState};
use palladion_api::runtime::RuntimeSettings;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// After a connection that broke, before the server is asked again.
pub(super) const BREATH: Duration = Duration::from_secs(1);

impl Agent {
    /// Take up, follow and end the job that the spec names.
    pub(super) async fn work(&mut self) {
        let wanted = self.wanted_job();
        if let Err(error) = self.open_book() {
            return self.cannot_note(wanted.as_ref(), JobState::Failed, &error);
        }
        let Some(book) = self.book.clone() else {
            return;
        };
        let (Some(saved), Some(ledger)) = (&self.saved, self.ledger()) else {
            return;
        };
        self.pass_grant(&book, wanted.as_ref());
        let worker = match (&self.task, &self.job) {
            (Some(task), _) if task.stop.borrow().is_some() => Worker::Stopping,
            (Some(task), _) => Worker::Job(task.elapsed()),
            (None, Some(_)) => Worker::Operation,
            (None, None) => Worker::Idle,
        };
        let silence = self.silence(&book);
        let here = Here { pod: &self.settings.pod.uid, worker, server: self.server(), silence };
        let next = book.read(|notes| job::next(&saved.spec, ledger, notes, here));
        let open = book.read(|notes| notes.open().map(|note| note.status.id.clone()));
        let id = wanted.as_ref().map(|job| job.id.as_str());
        let next = match worker {
            Worker::Idle => self.unwritten.instead(next, open.as_deref(), id),
            Worker::Operation | Worker::Job(_) | Worker::Stopping => next,
        };
        let done = match (next, self.source()) {
            (Next::Nothing, _) => Ok(()),
            // A spec of earlier may lack the job that runs, and tells of none that is new.
            (Next::Begin | Next::TurnDown(_) | Next::Stop(Stop::Asked), Source::Saved) => Ok(()),
            (Next::Begin, Source::Live) => {
                wanted.clone().map_or(Ok(()), |job| self.begin(&book, job))
            }
            (Next::TurnDown(ended), Source::Live) => {
                wanted.as_ref().map_or(Ok(()), |job| self.turn_down(&book, job, ended))
            }
            (Next::Stop(why), _) => self.stop_task(&book, why),
            (Next::Settle, _) => {
                self.settle(&book, silence);
                Ok(())
            }
            (Next::NoteEnd(ended), _) => self.note_end(&book, ended),
        };
        let knows = |id: &str| book.read(|notes| notes.knows(id));
        match done {
            Ok(()) => self.unwritten.keep(|told| {
                let is_open = book.read(|notes| notes.open().is_some_and(|n| n.status.id == told));
                is_open || Some(told) == id && !knows(told)
            }),
            Err(error) => {
                let unanswered = wanted.as_ref().filter(|job| !knows(&job.id));
                self.cannot_note(unanswered, JobState::Refused, &error);
            }
        }
        self.give_levels_back(&book).await;
    }

    /// The job in the spec, as read live: a spec of earlier tells of none that is new.
    fn wanted_job(&self) -> Option<Job> {
        let live = self.saved.as_ref().filter(|_| self.source() == Source::Live);
        live.and_then(|saved| saved.spec.job.clone())
    }

    /// Nothing is called without its note: whoever waits for the job is told so.
    fn cannot_note(&mut self, job: Option<&Job>, state: JobState, error: &anyhow::Error) {
        let why = Trouble::Notes { why: format!("{error:#}") };
        if let Some(job) = job.filter(|job| self.unwritten.of(&job.id).is_none()) {
            tracing::error!(id = job.id, error = format!("{error:#}"), "job not begun");
            self.unwritten.not_begun(job, state, &why);
        }
        self.trouble = Some(why.into());
    }

    /// For how long the operator and this agent have not heard each other, as far as that
    /// matters to what runs: only then it is noted, and asked about.
    fn silence(&self, book: &Book) -> Duration {
        let is_open =
            book.read(|notes| notes.open().is_some_and(|n| silence::is_by_grants(&n.job)));
        self.api.asks.send_if_modified(|asks| std::mem::replace(asks, is_open) != is_open);
        let last = self.api.contact.last();
        let noted = book.read(|notes| notes.heard_at.as_ref().map(|at| at.0)).filter(|_| is_open);
        let Silence { lasts, note } =
            silence::silence(last, noted, self.started.elapsed(), Timestamp::now());
        if let Some(at) = note.filter(|_| is_open)
            && let Err(error) = book.change(|notes| notes.hear(at))
        {
            // What stands there is older: an agent that comes after ends the repair sooner.
            let error = format!("{error:#}");
            tracing::warn!(error, "when the API server was heard last cannot be noted");
        }
        lasts
    }

    /// What the job that runs may repair now.
    fn pass_grant(&self, book: &Book, wanted: Option<&Job>) {
        let runs = |id: &str| book.read(|notes| notes.open().is_some_and(|n| n.status.id == id));
        let grant = wanted.filter(|job| runs(&job.id)).and_then(|job| job.grant.as_ref());
        if let (Some(task), Some(grant)) = (&self.task, grant) {
            task.grants.send_if_modified(|known| {
                let differs = known != grant;
                known.clone_from(grant);
                differs
            });
        }
    }

    fn server(&self) -> Server<'_> {
        let serves = self.reading().is_some_and(crate::admin::Reading::serves);
        match (&self.process, &self.launch) {
            (Process::Absent, _) => Server::Absent,
            (Process::Running, Some(launch)) if serves => Server::Serves(&launch.tag),
            (Process::Running, Some(launch)) => Server::Runs(&launch.tag),
            (Process::Running, None) | (Process::Unknown(_), _) => Server::Unknown,
        }
    }

    /// What cannot be read is not taken for nothing: no job is begun then.
    pub(super) fn open_book(&mut self) -> Result<()> {
        let (None, Some(volume), true) = (&self.book, &self.volume, self.ledger().is_some()) else {
            return Ok(());
        };
        self.book = Some(Arc::new(Book::open(volume)?));
        Ok(())
    }

    fn begin(&mut self, book: &Arc<Book>, job: Job) -> Result<()> {
        let (Some(_), Some(launch)) = (&self.admin, &self.launch) else {
            return Ok(());
        };
        let (pod, tag) = (&self.settings.pod.uid, &launch.tag);
        let last = self.api.contact.last();
        book.change(|notes| {
            notes.begin(&job, pod, tag, Timestamp::now());
            notes.heard_at = last.map(|last| seconds(last.at));
        })?;
        tracing::info!(id = job.id, task = job.task.as_str(), "job begun");
        let ours = |bench: Bench| async move { jobs::work(&bench).await };
        self.spawn(book, job, (Duration::ZERO, None), ours);
        Ok(())
    }

    fn turn_down(&self, book: &Book, job: &Job, ended: Ended) -> Result<()> {
        let (pod, cause) = (&self.settings.pod.uid, ended.cause);
        book.change(|notes| notes.turn_down(job, pod, ended, Timestamp::now()))?;
        tracing::warn!(id = job.id, task = job.task.as_str(), cause = ?cause, "job not begun");
        Ok(())
    }

    fn stop_task(&mut self, book: &Book, why: Stop) -> Result<()> {
        tracing::info!(why = ?why, "stopping the job");
        if let Some(task) = &self.task {
            task.stop.send_replace(Some(why));
        }
        book.change(Notes::stop)
    }

    fn settle(&mut self, book: &Arc<Book>, silence: Duration) {
        let Some((note, since)) = book.read(|notes| {
            let note = notes.open()?;
            Some((note.clone(), note.status.started_at.as_ref()?.0))
        }) else {
            return;
        };
        let waited = match self.lost.as_ref() == Some(&note.job.id) {
            true => Waited::ThisAgent,
            false => Waited::EarlierAgent,
        };
        let id = &note.job.id;
        tracing::info!(id, waited = ?waited, "waiting for the end of a call that was left");
        // A clock that was set back takes no time from it.
        let before = Duration::try_from(Timestamp::now().duration_since(since)).unwrap_or_default();
        let stop = job::stop_of(&note, before, silence);
        let left = move |bench: Bench| async move { jobs::settle(&bench, waited).await };
        self.spawn(book, note.job, (before, stop), left);
    }

    fn spawn<W>(
        &mut self,
        book: &Arc<Book>,
        job: Job,
        (before, stop): (Duration, Option<Stop>),
        work: impl FnOnce(Bench) -> W + Send + 'static,
    ) where
        W: Future<Output = Option<Ended>> + Send + 'static,
    {
        let (Some(admin), Ok(mounted)) = (self.admin.clone(), &self.mounted) else {
            return;
        };
        let schemas = Arc::new(self.endpoint(&mounted.config));
        let (keyspaces, datacenter) = (schemas.clone(), mounted.config.datacenter.clone());
        let cover = self.coverage().cloned().unwrap_or_default();
        let Some(repairs) = self.open_repairs() else {
            return;
        };
        book.show(jobs::Live::default());
        book.offer(Vec::new());
        book.say(None);
        let (stop, asked) = watch::channel(stop);
        let (grants, granted) = watch::channel(Grant::default());
        let (id, done) = (job.id.clone(), self.done.clone());
        let pace = Pace::default();
        let book = book.clone();
        let bench = Bench {
            admin,
            book,
            repairs,
            schemas,
            keyspaces,
            datacenter,
            cover,
            job,
            stop: asked,
            grants: granted,
            load: self.load.subscribe(),
            metrics: self.metrics.clone(),
            pace,
        };
        self.task = Some(Task { stop, grants, begun: Instant::now(), before });
        tokio::spawn(async move {
            let ended = work(bench).await;
            if ended.is_none() {
                tokio::time::sleep(BREATH).await;
            }
            let _ = done.send(Done::Job { id, ended }).await;
        });
    }

    /// Note how a job ended; `None` where the connection to the server broke.
    pub(super) fn end_task(&mut self, id: String, ended: Option<Ended>) {
        self.task = None;
        tracing::info!(id, ended = ?ended, "job ended");
        let (Some(ended), Some(book)) = (ended, self.book.clone()) else {
            self.lost = Some(id);
            return;
        };
        if let Err(error) = self.note_end(&book, ended) {
            tracing::error!(error = format!("{error:#}"), "the end of a job could not be noted");
        }
    }

    /// How the job that is noted as under way has ended. Where that cannot be noted it
    /// is told all the same, and noted when it can be.
    fn note_end(&mut self, book: &Book, ended: Ended) -> Result<()> {
        let noted = book.change(|notes| notes.end(ended.clone(), Timestamp::now()));
        if let (Err(_), Some(open)) = (&noted, book.read(|n| n.open().map(|n| n.status.clone()))) {
            self.unwritten.ended(open, ended);
        }
        noted
    }

    async fn give_levels_back(&mut self, book: &Book) {
        let (Some(admin), Some(launch), true) =
            (&self.admin, &self.launch, self.reading().is_some())
        else {
            return;
        };
        let given = jobs::give_back(book, admin.as_ref(), &launch.tag, &launch.runtime).await;
        if let Err(error) = given {
            self.trouble = Some(Trouble::Levels { why: format!("{error:#}") }.into());
        }
    }

    /// What the server had before it was told anything, without what a job has set for some time.
    pub(super) fn without_job(&self, mut settings: RuntimeSettings) -> RuntimeSettings {
        let levels = self.book.as_ref().and_then(|book| book.read(|notes| notes.levels.clone()));
        let tag = self.launch.as_ref().map(|launch| launch.tag.as_str());
        let ours = levels.filter(|levels: &Levels| Some(levels.tag.as_str()) == tag);
        for (logger, had) in ours.into_iter().flat_map(|levels| levels.before) {
            match had {
                Some(level) => settings.log_levels.insert(logger, level),
                None => settings.log_levels.remove(&logger),
            };
        }
        settings
    }
}
