//! What the agent holds between turns. All of it can be lost: it is gathered anew from
//! init, volume, node and API.

use crate::decide::Lookup;
use crate::decide::health::Watch;
use crate::decide::{
    self, Doors, JoinFact, LastWords, Process, Source, SpecFact, StopWhy, VhostFact, VolumeFact,
    Work, WorkFact,
};
use crate::launch::credentials::Present;
use crate::launch::{self, Credentials, Image, Mounted, Record};
use crate::metrics::Metrics;
use crate::read::{CatchUp, QueueReplicas, Reading, Sign};
use crate::settings::Settings;
use crate::volume::ledger::Ledger;
use crate::volume::{Found, SavedMember, Volume};
use crate::wire::{Ctl, Management};
use crate::words::calls::NotKnown;
use crate::words::volume::Wrong;
use crate::work::{Hands, View};
use anyhow::{Context, Result, anyhow};
use jiff::Timestamp;
use palladion_agent_core::http::Health;
use palladion_agent_core::init::protocol::Phase;
use palladion_agent_core::service::changes::Outcome;
use palladion_agent_core::service::member::News;
use palladion_agent_core::supervisor::Supervisor;
use palladion_agent_core::telling::Since;
use palladion_api::ids::{Nonce, VolumeId};
use palladion_api::rabbitmq::{DEFINITIONS_KEY, NodeName};
use palladion_api::reasons::Reason;
use palladion_api::service_member::{
    FeatureFlags, MemberEvidence, MemberServerState, ServiceMemberStatus,
};
use palladion_api::words::Message;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, JoinHandle};

/// A look is believed for this long where a newer one fails: a slow answer is no loss.
pub const READING_LIFE: Duration = Duration::from_secs(15);
/// The management API of a node that lives answers in milliseconds.
const ANSWER_TIME: Duration = Duration::from_secs(5);
/// Work that failed is tried again after this.
const WORK_AGAIN: Duration = Duration::from_secs(10);

/// The outcome of a task beside the loop.
pub enum Done {
    /// A look was taken.
    Looked(Box<Looked>),
    /// The replicas of the node of this launch were looked at.
    Measured {
        /// The launch.
        tag: String,
        /// What they are.
        replicas: Result<Vec<QueueReplicas>, String>,
    },
    /// The feature flags were read.
    Flags {
        /// The launch.
        tag: String,
        /// What they are.
        flags: Result<FeatureFlags, String>,
    },
    /// The name of the node was looked up.
    Resolved(Lookup),
    /// The node was asked for the cluster.
    Asked {
        /// The question's nonce.
        nonce: Nonce,
        /// The volume for which it was asked.
        volume_id: VolumeId,
        /// What it said.
        view: Box<View>,
    },
    /// A piece of work ended.
    Worked {
        /// Which.
        work: Work,
        /// How.
        result: Result<(), Failure>,
    },
    /// An operation ended.
    Operation {
        /// Its ID.
        id: String,
        /// How.
        outcome: Outcome,
    },
    /// The node of this launch was drained, as far as that could be, and may be ended.
    Drained {
        /// The launch.
        tag: String,
    },
}

/// A look that was taken.
pub struct Looked {
    /// Of the node of this launch.
    pub tag: String,
    /// When it was begun.
    pub begun: Instant,
    /// What it showed.
    pub reading: Reading,
}

/// What looks at the node of this launch have shown.
#[derive(Default)]
pub struct Looks {
    /// The last one that the node answered.
    pub last: Option<(Instant, Reading)>,
    /// When the last one was begun.
    pub begun: Option<Instant>,
    /// Is one under way?
    pub is_under_way: bool,
    /// Feature flags, as they were read last.
    pub flags: Option<FeatureFlags>,
    /// When they were last asked for.
    pub flags_asked: Option<Instant>,
    /// Its replicas since its start.
    pub catch_up: CatchUp,
    /// When they were last asked for.
    pub measured: Option<Instant>,
    /// Is a call of the command line under way for them?
    pub is_calling: bool,
    /// What its log says while it is silent.
    pub sign: Sign,
}

/// A stop under way.
pub struct Stopping {
    /// Why.
    pub why: StopWhy,
    /// Since when the node is told to end.
    pub since: Instant,
}

/// A question about the cluster.
pub struct Question {
    /// Its nonce.
    pub nonce: Nonce,
    /// When the node was asked.
    pub asked: Instant,
    /// Who asks it.
    pub task: AbortHandle,
}

/// What nobody waits for any more is not asked further: on a slow node the calls of one question
/// after the other would make all of them slower.
impl Drop for Question {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Why a piece of work failed.
pub struct Failure {
    /// In words.
    pub why: String,
    /// What that says of a join.
    pub join: JoinFact,
    /// Under which reason it is reported, where a person is to look at it.
    pub reason: Option<Reason>,
}

/// Work on the node.
#[derive(Default)]
pub struct Labour {
    /// What is under way.
    pub under_way: Option<Work>,
    /// Its task.
    pub task: Option<JoinHandle<()>>,
    /// What has failed last, why, and when.
    pub failed: Option<(Work, Failure, Instant)>,
    /// Tag of the node on which the virtual host of the cluster was seen to be there.
    pub vhost_seen: Option<String>,
}

impl Labour {
    /// The node that was worked on runs no more: what was begun with it is not to go on with
    /// the next one.
    pub fn end(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
        }
        self.under_way = None;
    }
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
    pub credentials: Credentials,
    pub present: Option<Present>,
    pub definitions_hash: Option<String>,
    /// When the mounted Secrets were last looked at.
    pub secrets_read: Option<Instant>,
    pub found: Result<Found, String>,
    pub saved: Option<SavedMember>,
    pub process: Process,
    pub container: Phase,
    /// Tag of the node that runs.
    pub tag: Option<String>,
    pub launch: Option<Record>,
    pub looks: Looks,
    /// What looks have added up to.
    pub watch: Watch,
    pub named: Option<Lookup>,
    /// Which name was last looked up, and when.
    pub resolved: Option<(NodeName, Instant)>,
    pub last_words: Option<LastWords>,
    pub stopping: Option<Stopping>,
    pub labour: Labour,
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
        let volume = Volume::new(settings.data_root.clone(), settings.data_dir.clone());
        let credentials = Credentials::new(&settings.credentials_dir);
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
            volume,
            credentials,
            present: None,
            definitions_hash: None,
            secrets_read: None,
            found: Err(Wrong::NotLooked.to_string()),
            saved: None,
            process: Process::Unknown(NotKnown::Process.to_string()),
            container: Phase::Serving,
            tag: None,
            launch: None,
            looks: Looks::default(),
            watch: Watch::default(),
            named: None,
            resolved: None,
            last_words: None,
            stopping: None,
            labour: Labour::default(),
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

    /// Name of the node of this volume, or of the one that is to be on it.
    pub fn node(&self) -> Option<NodeName> {
        let of_ledger = self.ledger().and_then(|ledger| ledger.node_name.clone());
        let of_spec = || self.saved.as_ref().and_then(|saved| saved.spec.node_name.clone());
        of_ledger.or_else(of_spec)
    }

    /// The name under which the node would start: a permit is for the name that is on record
    /// with it, which may be another than that of a start that failed.
    pub fn node_to_start(&self) -> Option<NodeName> {
        let permitted = self.spec().filter(|known| known.spec.start.is_some());
        permitted.and_then(|known| known.spec.node_name.clone()).or_else(|| self.node())
    }

    /// What the node said, if lately.
    pub fn reading(&self) -> Option<&Reading> {
        let (begun, reading) = self.looks.last.as_ref()?;
        (begun.elapsed() < READING_LIFE).then_some(reading)
    }

    /// Does it serve as a member?
    pub fn serves(&self) -> bool {
        self.reading().is_some_and(Reading::serves)
    }

    /// The image.
    pub fn image(&self) -> Result<Image> {
        let path = std::env::var_os("PATH");
        Image::find(self.settings.bin.as_deref(), path.as_deref())
    }

    /// What work on the node needs.
    pub fn hands(&self) -> Result<Hands> {
        let mounted = self.mounted.clone().map_err(|why| anyhow!(why))?;
        let node = self.node().context(crate::words::files::Missing::NodeName)?;
        let image = self.image()?;
        let plugins = self.volume.configuration().join(launch::conf::PLUGINS);
        let (home, tmp) = (self.volume.data(), self.settings.pod.tmp_dir.as_path());
        let ctl = Ctl::new(image.bin(), home, &plugins, tmp, node);
        let port = mounted.config.ports.management;
        let address = SocketAddr::new(self.settings.server_address, port);
        let kept = || self.launch.as_ref().and_then(|launch| launch.password.clone());
        let password = self.credentials.agent_password().or_else(|why| kept().ok_or(why))?;
        Ok(Hands {
            ctl,
            management: Management::new(address, password, ANSWER_TIME),
            credentials: self.credentials.clone(),
            mounted,
            definitions: self.settings.definitions_dir.join(DEFINITIONS_KEY),
        })
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
            credentials: self.present,
            named: self.named.as_ref(),
            process: self.process.clone(),
            container: self.container,
            doors: self.doors(),
            reading: self.reading(),
            sign: &self.looks.sign,
            work: self.work_fact(),
            join: self.join_fact(),
            vhost: match self.tag.is_some() && self.labour.vhost_seen == self.tag {
                true => VhostFact::Present,
                false => VhostFact::NotLooked,
            },
            stopping: self.stopping.as_ref().map(|s| s.why),
            last_words: self.last_words.as_ref(),
        }
    }

    /// What the launch says; of one that nobody has a record of what the ledger says.
    fn doors(&self) -> Option<Doors> {
        self.tag.as_ref()?;
        self.launch.as_ref().map(|launch| launch.doors)
    }

    fn work_fact(&self) -> WorkFact {
        let has_failed_just_now =
            self.labour.failed.as_ref().is_some_and(|(_, _, at)| at.elapsed() < WORK_AGAIN);
        match self.labour.under_way.is_some() || has_failed_just_now || self.job.is_some() {
            true => WorkFact::Busy,
            false => WorkFact::Idle,
        }
    }

    /// As the last try has shown; while another one is under way nobody knows.
    fn join_fact(&self) -> JoinFact {
        let last = self.labour.failed.as_ref().filter(|_| self.labour.under_way.is_none());
        last.map_or(JoinFact::Open, |(_, failure, _)| failure.join)
    }

    fn spec(&self) -> Option<SpecFact<'_>> {
        self.saved.as_ref().map(|saved| SpecFact { spec: &saved.spec, source: self.source() })
    }

    /// Was the spec read from the API since this agent was started?
    pub fn source(&self) -> Source {
        self.news.borrow().source()
    }
}
