//! A server, a volume and its notes, for tests of jobs.

use super::bench::Bench;
use super::book::Book;
use super::pace::Pace;
use super::testing::{Fake, State};
use crate::admin::NORMAL;
use crate::decide::job::Stop;
use crate::metrics::Metrics;
use crate::repair::Repairs;
use crate::repair::pressure::Load;
use crate::volume::Volume;
use palladion_api::ids::HostId;
use palladion_api::member::{Grant, Job, JobWanted, MemberState};
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
    pub grants: watch::Sender<Grant>,
    pub load: watch::Sender<Load>,
    pub metrics: Arc<Metrics>,
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
        let grants = watch::channel(Grant::default()).0;
        let (load, metrics) = (watch::channel(Load::Usual).0, Arc::new(Metrics::new()));
        Self { fake, book, repairs, cover, stop, grants, load, metrics, directory }
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.fake.state.lock().unwrap()
    }

    pub fn calls(&self) -> Vec<String> {
        std::mem::take(&mut self.state().calls)
    }

    /// A job that is noted as begun.
    pub fn begun(&self, id: &str, task: &'static str, work: Work) -> Bench {
        self.begin(Self::job(id, task, work))
    }

    /// The same, of a job that repairs only what it is granted.
    pub fn by_grants(&self, id: &str, task: &'static str, work: Work) -> Bench {
        self.begin(Job { grant: Some(Grant::default()), ..Self::job(id, task, work) })
    }

    /// What these have copies of is granted under this number.
    pub fn grant(&self, number: u32, hosts: &[&str]) {
        let host_ids = hosts.iter().map(|host| HostId::new(*host)).collect();
        self.grants.send_replace(Grant { number, host_ids });
    }

    fn job(id: &str, task: &'static str, work: Work) -> Job {
        Job {
            id: id.into(),
            task: task.into(),
            epoch: 1,
            host_id: "h".into(),
            volume_id: "v".into(),
            deadline_seconds: 600,
            wanted: JobWanted::Run,
            pace_seconds: None,
            grant: None,
            work,
        }
    }

    fn begin(&self, job: Job) -> Bench {
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

    /// Of a test.
    pub fn pace() -> Pace {
        let short = Duration::from_millis(2);
        Pace {
            look: short,
            stop: short,
            again: short,
            busy: short * 10,
            repair: short,
            early: short * 10,
            ends: short * 100,
            segment: Duration::from_secs(1800),
            retry: short,
            unclear: short * 20,
            grant: short,
            alone: short * 20,
            orphan: short,
            quiet: short * 10,
            agreement: Duration::from_secs(2),
        }
    }

    fn bench(&self, job: Job) -> Bench {
        let pace = Self::pace();
        let (stop, grants) = (self.stop.subscribe(), self.grants.subscribe());
        Bench {
            admin: self.fake.clone(),
            book: self.book.clone(),
            repairs: self.repairs.clone(),
            schemas: self.fake.clone(),
            keyspaces: self.fake.clone(),
            datacenter: "dc1".into(),
            cover: self.cover.clone(),
            job,
            stop,
            grants,
            load: self.load.subscribe(),
            metrics: self.metrics.clone(),
            pace,
        }
    }
}
