//! What the agent holds between turns. All of it can be lost: it is gathered anew from
//! init, volume, server and API.

use crate::decide::health::Watch;
use crate::decide::{self, LastWords, Process, Source, SpecFact, StopWhy, VolumeFact};
use crate::launch::{self, Mounted, Record};
use crate::metrics::Metrics;
use crate::read::{Config, Reading};
use crate::settings::Settings;
use crate::volume::ledger::Ledger;
use crate::volume::{Found, Progress, SavedMember, Volume};
use crate::words::calls::NotKnown;
use crate::words::volume::Wrong;
use jiff::Timestamp;
use palladion_agent_core::http::Health;
use palladion_agent_core::init::protocol::Phase;
use palladion_agent_core::service::changes::Outcome;
use palladion_agent_core::service::member::News;
use palladion_agent_core::supervisor::Supervisor;
use palladion_agent_core::telling::Since;
use palladion_api::ids::{Nonce, VolumeId};
use palladion_api::service_member::{
    EnsembleView, MemberEvidence, MemberServerState, ServiceMemberStatus,
};
use palladion_api::words::Message;
use palladion_api::zookeeper::Zxid;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};

/// A look is believed for this long where a newer one fails: a collection of the JVM is
/// no loss of a quorum.
pub const READING_LIFE: Duration = Duration::from_secs(15);

/// The outcome of a task beside the loop.
pub enum Done {
    /// A look was taken.
    Looked(Box<Looked>),
    /// The server was asked for the ensemble.
    Asked {
        /// The question's nonce.
        nonce: Nonce,
        /// The volume for which it was asked.
        volume_id: VolumeId,
        /// What it said.
        view: Result<EnsembleView, String>,
    },
    /// An operation ended.
    Operation {
        /// Its ID.
        id: String,
        /// How.
        outcome: Outcome,
    },
}

/// A look that was taken.
pub struct Looked {
    /// Of the server of this launch.
    pub tag: String,
    /// When it was begun.
    pub begun: Instant,
    /// What it showed.
    pub reading: Reading,
    /// What is on the disk.
    pub disk: Result<Progress, String>,
    /// Figures of the server.
    pub figures: BTreeMap<String, f64>,
}

/// What looks at the server of this launch have shown.
#[derive(Default)]
pub struct Looks {
    /// The last one that the server answered.
    pub last: Option<(Instant, Reading)>,
    /// When the last one was begun.
    pub begun: Option<Instant>,
    /// Is one under way?
    pub is_under_way: bool,
    /// The newest configuration that any has shown.
    pub config: Option<Config>,
    /// The newest version that a session has shown.
    pub proven: Option<Zxid>,
    /// When a session was last opened to prove one.
    pub tried: Option<Instant>,
    /// When the data of a server without a quorum was last measured.
    pub measured: Option<Instant>,
}

/// A stop under way.
pub struct Stopping {
    /// Why.
    pub why: StopWhy,
    /// Since when.
    pub since: Instant,
}

/// A question about the ensemble.
pub struct Question {
    /// Its nonce.
    pub nonce: Nonce,
    /// When it was seen.
    pub seen: Instant,
    /// When the server was last asked.
    pub asked: Option<Instant>,
    /// Is it being asked?
    pub is_under_way: bool,
}

/// The agent.
pub struct Agent {
    pub settings: Settings,
    pub supervisor: Supervisor,
    pub health: Arc<Health>,
    pub metrics: Arc<Metrics>,
    pub news: watch::Receiver<News>,
    pub status: watch::Sender<Option<ServiceMemberStatus>>,
    pub done: mpsc::Sender<Done>,
    pub started: Instant,
    pub mounted: Result<Mounted, String>,
    pub volume: Volume,
    pub found: Result<Found, String>,
    /// Was the last transaction on the volume read since its server ended?
    pub is_measured: bool,
    pub saved: Option<SavedMember>,
    pub process: Process,
    pub container: Phase,
    /// Tag of the server that runs.
    pub tag: Option<String>,
    pub launch: Option<Record>,
    pub looks: Looks,
    /// What looks have added up to.
    pub watch: Watch,
    pub last_words: Option<LastWords>,
    pub stopping: Option<Stopping>,
    /// The operation that is under way.
    pub job: Option<String>,
    pub question: Option<Question>,
    pub evidence: Option<MemberEvidence>,
    pub state: Since<MemberServerState>,
    pub trouble: Option<Message>,
}

impl Agent {
    /// At its start.
    pub fn new(
        settings: Settings,
        health: Arc<Health>,
        metrics: Arc<Metrics>,
        news: watch::Receiver<News>,
        status: watch::Sender<Option<ServiceMemberStatus>>,
        done: mpsc::Sender<Done>,
    ) -> Self {
        let mounted = launch::mounted(&settings.pod.config_dir).map_err(|e| format!("{e:#}"));
        let supervisor = Supervisor::new(&settings.pod.init_socket());
        let places = [&settings.data_root, &settings.data_dir, &settings.log_dir];
        let [root, data, logs] = places.map(Clone::clone);
        Self {
            settings,
            supervisor,
            health,
            metrics,
            news,
            status,
            done,
            started: Instant::now(),
            mounted,
            volume: Volume::new(root, data, logs),
            found: Err(Wrong::NotLooked.to_string()),
            is_measured: false,
            saved: None,
            process: Process::Unknown(NotKnown::Process.to_string()),
            container: Phase::Serving,
            tag: None,
            launch: None,
            looks: Looks::default(),
            watch: Watch::default(),
            last_words: None,
            stopping: None,
            job: None,
            question: None,
            evidence: None,
            state: Since::default(),
            trouble: None,
        }
    }

    /// The ledger, once the volume is ours.
    pub fn ledger(&self) -> Option<&Ledger> {
        let found = self.found.as_ref().ok()?;
        found.ledger.as_ref().filter(|_| found.marker.is_some())
    }

    /// What the server said, if lately.
    pub fn reading(&self) -> Option<&Reading> {
        let (begun, reading) = self.looks.last.as_ref()?;
        (begun.elapsed() < READING_LIFE).then_some(reading)
    }

    /// Does it serve as a member?
    pub fn serves(&self) -> bool {
        let id = self.ledger().and_then(|ledger| ledger.server_id);
        self.reading().zip(id).is_some_and(|(reading, id)| reading.serves(id))
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
            stopping: self.stopping.as_ref().map(|s| s.why),
            last_words: self.last_words.as_ref(),
        }
    }

    fn spec(&self) -> Option<SpecFact<'_>> {
        self.saved.as_ref().map(|saved| SpecFact { spec: &saved.spec, source: self.source() })
    }

    /// Was the spec read from the API since this agent was started?
    pub fn source(&self) -> Source {
        self.news.borrow().source()
    }
}
