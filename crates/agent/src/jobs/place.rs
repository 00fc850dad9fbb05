//! A server, a volume and its notes, for tests of jobs.

use super::bench::Bench;
use super::book::Book;
use super::pace::Pace;
use super::testing::{Fake, State};
use crate::admin::NORMAL;
use crate::decide::job::Stop;
use crate::repair::Repairs;
use crate::volume::Volume;
use palladion_api::member::{Job, JobWanted, MemberState};
use palladion_api::repair::Coverage;
use palladion_api::task::Work;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::watch;

/// A server and a volume.
pub struct Place {
    pub fake: Arc<Fake>,
    pub book: Arc<Book>,
    pub repairs: Arc<Repairs>,
    pub cover: Coverage,
    pub stop: watch::Sender<Option<Stop>>,
    pub directory: tempfile::TempDir,
}

/// A ring of two, of which nobody moves.
pub fn calm() -> Vec<(&'static str, MemberState)> {
    vec![("1", MemberState::Normal), ("2", MemberState::Normal)]
}

impl Place {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(directory.path().join(".palladion")).unwrap();
        let volume =
            Volume::new(directory.path().to_path_buf(), palladion_api::cluster::Mode::Cassandra);
        let book = Arc::new(Book::open(&volume).unwrap());
        let repairs = Arc::new(Repairs::open(&volume));
        let state = Mutex::new(State { mode: Some(NORMAL), members: calm(), ..State::default() });
        let fake = Arc::new(Fake { state, volume });
        let (stop, cover) = (watch::channel(None).0, Coverage::default());
        Self { fake, book, repairs, cover, stop, directory }
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.fake.state.lock().unwrap()
    }

    pub fn calls(&self) -> Vec<String> {
        std::mem::take(&mut self.state().calls)
    }

    /// A job that is noted as begun.
    pub fn begun(&self, id: &str, task: &'static str, work: Work) -> Bench {
        let job = Job {
            id: id.into(),
            task: task.into(),
            epoch: 1,
            host_id: "h".into(),
            volume_id: "v".into(),
            deadline_seconds: 600,
            wanted: JobWanted::Run,
            work,
        };
        let now = jiff::Timestamp::UNIX_EPOCH;
        self.book.change(|notes| notes.begin(&job, &"pod-1".into(), "t1", now)).unwrap();
        self.bench(job)
    }

    /// As another agent finds it: what was not on the disk is gone.
    pub fn after_a_restart(&mut self) -> Bench {
        self.book = Arc::new(Book::open(&self.fake.volume).unwrap());
        self.repairs = Arc::new(Repairs::open(&self.fake.volume));
        self.bench(self.book.read(|notes| notes.open().unwrap().job.clone()))
    }

    fn bench(&self, job: Job) -> Bench {
        let short = Duration::from_millis(2);
        let pace = Pace {
            look: short,
            stop: short,
            again: short,
            busy: short * 10,
            repair: short,
            early: short * 10,
            ends: short * 100,
            orphan: short,
            quiet: short * 10,
        };
        let stop = self.stop.subscribe();
        Bench {
            admin: self.fake.clone(),
            book: self.book.clone(),
            repairs: self.repairs.clone(),
            schemas: self.fake.clone(),
            cover: self.cover.clone(),
            job,
            stop,
            pace,
        }
    }
}
