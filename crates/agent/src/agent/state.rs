//! What the agent holds between turns. All of it can be lost: it is gathered
//! anew from init, volume, server and API.

use super::repair::{Of, Outlook};
use super::{cdc, elsewhere};
use crate::access::{Access, Answer, Subject};
use crate::admin::{self, ByDatacenter, Reading, ServerAdmin};
use crate::decide::clock::Times;
use crate::decide::elsewhere::Elsewhere;
use crate::decide::health::Watch;
use crate::decide::job::Stop;
use crate::decide::progress::Progress;
use crate::decide::{
    Asked, DrainCall, LastWords, LeaveCall, Process, Source, SpecFact, StopWhy, VolumeFact,
};
use crate::http::Health;
use crate::init::protocol::Phase;
use crate::issued::Certificates;
use crate::jobs::{self, Book, Unwritten};
use crate::kubernetes::{Contact, News};
use crate::launch::Mounted;
use crate::launch_record::LaunchRecord;
use crate::metrics::Metrics;
use crate::repair::pressure::{Load, Watched};
use crate::repair::survey::Survey;
use crate::repair::{Known, Repairs, Schema};
use crate::report::job::Told as ToldJob;
use crate::report::transfer::Told as ToldTransfer;
use crate::seal::Keys;
use crate::settings::Settings;
use crate::supervisor::Supervisor;
use crate::transfer::Transfers;
use crate::transfer::attempt::Attempt;
use crate::volume::jobs::Ended;
use crate::volume::ledger::Ledger;
use crate::volume::roles::Roles;
use crate::volume::{Found, SavedMember, Volume};
use crate::words::calls::NotKnown;
use crate::words::start::Waiting;
use crate::words::volume::Wrong;
use crate::{archive, decide, launch};
use jiff::{SignedDuration, Timestamp};
use palladion_agent_core::telling::Since;
use palladion_agent_transfer::settings::Tag;
use palladion_api::ids::{Nonce, SeedAddress};
use palladion_api::member::{CassandraMemberStatus, Evidence, Grant, ServerState};
use palladion_api::words::Message;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};

/// A look is believed for this long where a newer one fails: a collection of
/// the JVM is not a change of the ring.
pub const READING_LIFE: Duration = Duration::from_secs(15);

/// The outcome of a task.
pub enum Done {
    /// The call to leave was answered.
    Left(Result<(), String>),
    /// The server was asked to drain, and answered.
    Drained {
        /// Nonce of the order.
        nonce: Nonce,
        /// What it said.
        answer: Result<(), String>,
    },
    /// An operation ended.
    Operation {
        /// Its ID.
        id: String,
        /// How.
        outcome: jobs::Outcome,
    },
    /// A job of a task ended; `None` where the connection to the server broke.
    Job {
        /// Its ID.
        id: String,
        /// How.
        ended: Option<Ended>,
    },
    /// A try at a transfer ended; `None` where it was ended by us.
    Transfer {
        /// The transfer.
        id: String,
        /// What it has come to.
        attempt: Option<Box<Attempt>>,
    },
    /// A look at the commit log ended.
    Archived(archive::Outcome),
    /// Seeds in other datacenters were looked up.
    Elsewhere {
        /// Which.
        of: Vec<SeedAddress>,
        /// Where they are.
        found: Elsewhere,
    },
    /// The snapshots of ours that are on the disk.
    Snapshots(BTreeSet<Tag>),
    /// Those of them that nobody needs are cleared.
    Cleared,
    /// The server was asked for its schema.
    Schema {
        /// The version that it had.
        version: String,
        /// What it said.
        answer: Result<Schema, String>,
    },
    /// What there is to repair was looked at.
    Surveyed {
        /// For which schema and ring.
        of: Of,
        /// What was found.
        found: Result<Survey, String>,
    },
    /// Copies of keyspaces were counted.
    Counted {
        /// For which schema and ring.
        of: Of,
        /// How many of each.
        counts: Result<Counts, admin::Error>,
    },
    /// The agent has tried to log in to its server.
    LoggedIn {
        /// What it tried with.
        of: Subject,
        /// How that ended.
        answer: Answer,
        /// What the roles are now, where it is in and `auth` of the spec asks for passwords.
        roles: Option<Roles>,
    },
}

/// A look at the server.
pub struct Look {
    /// When it was begun.
    pub begun: Instant,
    /// What it showed.
    pub reading: Reading,
}

/// A stop under way.
pub struct Stopping {
    /// Why.
    pub why: StopWhy,
    /// Since when.
    pub since: Instant,
}

/// A job under way.
pub struct Job {
    /// How far it is.
    pub progress: watch::Receiver<u8>,
}

/// A job of a task, carried out beside the loop.
pub struct Task {
    /// Tells it to stop.
    pub stop: watch::Sender<Option<Stop>>,
    /// Tells it what it may repair.
    pub grants: watch::Sender<Grant>,
    /// Since when this agent is at it.
    pub begun: Instant,
    /// How long earlier agents were.
    pub before: Duration,
}

impl Task {
    /// How long it has taken.
    pub fn elapsed(&self) -> Duration {
        self.before.saturating_add(self.begun.elapsed())
    }
}

/// A question about the ring.
pub struct Question {
    /// Its nonce.
    pub nonce: Nonce,
    /// When it was seen.
    pub seen: Instant,
}

/// Copies of each keyspace, and the same by datacenter, or why those are not known.
pub type Counts = (BTreeMap<String, u32>, Result<ByDatacenter, admin::Error>);
/// A question whether a permit or an intent may be begun.
pub struct BeginAsked {
    /// Its nonce.
    pub nonce: Nonce,
    /// Nonce of the permit or intent.
    pub of: Nonce,
    /// When it was asked, by the monotonic clock.
    pub at: Instant,
}

impl BeginAsked {
    /// With its age.
    pub fn as_of_now(&self) -> Asked {
        let age = SignedDuration::try_from(self.at.elapsed()).unwrap_or(SignedDuration::MAX);
        Asked { nonce: self.nonce.clone(), of: self.of.clone(), age }
    }
}

/// Copies of each keyspace, and what they were read for.
#[derive(Default)]
pub struct Copies {
    /// Schema version and ring at that time.
    pub of: (Option<String>, String),
    /// Copies by keyspace.
    pub counts: BTreeMap<String, u32>,
    /// The same by datacenter, where the ring has several.
    pub by_datacenter: ByDatacenter,
    /// Why those are not known.
    pub unknown: Option<String>,
    /// Are they being counted?
    pub is_under_way: bool,
    /// When that was tried last, and failed or is under way.
    pub tried: Option<Instant>,
}

/// What the loop and those who speak to the API server have between them.
pub struct Api {
    /// What is known of our member.
    pub news: watch::Receiver<News>,
    /// What is to be reported.
    pub status: watch::Sender<Option<CassandraMemberStatus>>,
    /// When both heard each other last.
    pub contact: Arc<Contact>,
    /// Is that to be known within minutes?
    pub asks: watch::Sender<bool>,
}

/// The agent.
pub struct Agent {
    pub settings: Settings,
    pub supervisor: Supervisor,
    pub health: Arc<Health>,
    pub metrics: Arc<Metrics>,
    pub api: Api,
    pub done: mpsc::Sender<Done>,
    pub started: Instant,
    pub mounted: Result<Mounted, String>,
    pub volume: Option<Volume>,
    pub found: Result<Found, String>,
    pub saved: Option<SavedMember>,
    /// Where that spec is from.
    pub spec_source: Source,
    pub process: Process,
    pub container: Phase,
    pub launch: Option<LaunchRecord>,
    pub admin: Option<Arc<dyn ServerAdmin>>,
    pub look: Option<Look>,
    pub looked: Option<Instant>,
    pub progress: Option<Progress>,
    /// What looks have added up to.
    pub watch: Watch,
    pub last_words: Option<LastWords>,
    pub stopping: Option<Stopping>,
    pub leave_call: LeaveCall,
    /// The last question whether a permit or an intent may be begun.
    pub asked: Option<BeginAsked>,
    pub drain_call: Option<DrainCall>,
    pub job: Option<Job>,
    /// The operation whose connection broke, and what the agent tried.
    pub lost_operation: Option<(String, String)>,
    pub book: Option<Arc<Book>>,
    /// Jobs whose notes cannot be written.
    pub unwritten: Unwritten,
    pub repairs: Option<Arc<Repairs>>,
    pub outlook: Outlook,
    pub task: Option<Task>,
    /// The job whose connection broke.
    pub lost: Option<String>,
    pub told_job: ToldJob,
    pub transfers: Transfers,
    /// The archive of the commit log.
    pub archive: archive::Held,
    /// What waits for readers of changes.
    pub cdc: cdc::Held,
    pub told_transfer: ToldTransfer,
    pub question: Option<Question>,
    pub evidence: Option<Evidence>,
    pub copies: Copies,
    /// How much data the server holds, as it was told last.
    pub told_load: Option<u64>,
    pub access: Access,
    /// Its own certificates, which the operator signs.
    pub issued: Certificates,
    /// What a start waits for, where it has none.
    pub lacks_certificate: Option<Waiting>,
    /// What a sealed start waits for.
    pub lacks_users: Option<Waiting>,
    /// What opens the door of the sealed server that it has started.
    pub keys: Option<Keys>,
    pub schema: Known,
    /// Seeds in other datacenters.
    pub external: elsewhere::Held,
    /// What looks have shown of how much the server has to do.
    pub watched: Watched,
    pub load: watch::Sender<Load>,
    pub state: Since<ServerState>,
    pub trouble: Option<Message>,
    /// Is a sign of life being written?
    pub beating: Arc<AtomicBool>,
}

impl Agent {
    /// At its start.
    pub fn new(
        settings: Settings,
        health: Arc<Health>,
        metrics: Arc<Metrics>,
        api: Api,
        done: mpsc::Sender<Done>,
    ) -> Self {
        let mounted = launch::mounted(&settings).map_err(|e| format!("{e:#}"));
        let supervisor = Supervisor::new(&settings.pod.init_socket());
        Self {
            settings,
            supervisor,
            health,
            metrics,
            api,
            done,
            started: Instant::now(),
            mounted,
            volume: None,
            found: Err(Wrong::NotLooked.to_string()),
            saved: None,
            spec_source: Source::Saved,
            process: Process::Unknown(NotKnown::Process.to_string()),
            container: Phase::Serving,
            launch: None,
            admin: None,
            look: None,
            looked: None,
            progress: None,
            watch: Watch::default(),
            last_words: None,
            stopping: None,
            leave_call: LeaveCall::NotMade,
            asked: None,
            drain_call: None,
            job: None,
            lost_operation: None,
            book: None,
            unwritten: Unwritten::default(),
            repairs: None,
            outlook: Outlook::default(),
            task: None,
            lost: None,
            told_job: ToldJob::default(),
            transfers: Transfers::default(),
            archive: archive::Held::default(),
            cdc: cdc::Held::default(),
            told_transfer: ToldTransfer::default(),
            question: None,
            evidence: None,
            copies: Copies::default(),
            told_load: None,
            access: Access::default(),
            issued: Certificates::default(),
            lacks_certificate: None,
            lacks_users: None,
            keys: None,
            schema: Known::default(),
            external: elsewhere::Held::default(),
            watched: Watched::default(),
            load: watch::channel(Load::default()).0,
            state: Since::default(),
            trouble: None,
            beating: Arc::default(),
        }
    }

    /// The ledger, once the volume is ours.
    pub fn ledger(&self) -> Option<&Ledger> {
        let found = self.found.as_ref().ok()?;
        found.ledger.as_ref().filter(|_| found.marker.is_some())
    }

    /// What the server said, if lately.
    pub fn reading(&self) -> Option<&Reading> {
        self.look.as_ref().filter(|l| l.begun.elapsed() < READING_LIFE).map(|l| &l.reading)
    }

    /// All facts, for a decision.
    pub fn facts(&self) -> decide::Facts<'_> {
        decide::Facts {
            now: Timestamp::now(),
            pod_uid: &self.settings.pod.uid,
            member: &self.settings.pod.name,
            revision: &self.settings.pod.revision,
            spec: self.spec(),
            volume: match &self.found {
                Ok(found) => VolumeFact::Found(found),
                Err(why) => VolumeFact::Unreadable(why),
            },
            process: self.process.clone(),
            container: self.container,
            reading: self.reading(),
            progress: self.progress.as_ref(),
            stopping: self.stopping.as_ref().map(|s| s.why),
            leave_call: &self.leave_call,
            drain_call: self.drain_call.as_ref(),
            last_words: self.last_words.as_ref(),
            lacks_certificate: self.lacks_certificate.clone(),
            seal: self.seal(),
            elsewhere: self.elsewhere(),
            closed: self.is_closed(),
            rewinds: self.wants_rewind(),
            opens: self.opens(),
            client_addresses: self.client_addresses(),
            awaits_rebuild: self.awaits_rebuild(),
            was_open: self.launch.as_ref().is_some_and(|launch| launch.was_open),
            asked: self.asked.as_ref().map(BeginAsked::as_of_now),
        }
    }

    fn spec(&self) -> Option<SpecFact<'_>> {
        let times = match &*self.api.news.borrow() {
            News::Present(member) => Times::of(&member.metadata),
            News::Unknown | News::Unreachable(_) | News::Absent | News::Unreadable(_) => {
                Times::default()
            }
        };
        let source = self.source();
        self.saved.as_ref().map(|saved| SpecFact { spec: &saved.spec, source, times })
    }
}
