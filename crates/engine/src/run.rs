//! The life of the process: open the watches, become the leader, decide until
//! told to stop or until the leadership is lost.

use crate::decide::{Apart, LONGEST};
use crate::error::ApiError;
use crate::exchange::Exchangers;
use crate::exchange::send::Sender;
use crate::faults::Faults;
use crate::gather::Constants;
use crate::leader::Term;
use crate::leader::candidacy::{Candidacy, Connect};
use crate::leader::evaluate::Identity;
use crate::leader::run::{Election, Lost};
use crate::lock::{Keepers, OpenStore};
use crate::metrics::Metrics;
use crate::pace::Pace;
use crate::probe::Probers;
use crate::probe::ask::Asker;
use crate::queue::{After, Key, Queue};
use crate::reconcile::Reconciler;
use crate::reconcile::settings::Settings;
use crate::request::Api;
use crate::serve::Doors;
use crate::watch::Watches;
use crate::words::NoStore;
use kube::Client;
use palladion_plan::Mind;
use palladion_plan::lock::StoreAway;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// When an owner is tried again whose reconcile panicked outside its mind.
const AFTER_A_BUG: Duration = Duration::from_secs(30);
/// How long running steps may take to end after the signal to stop; longer
/// than one request may take.
const LAST_STEPS: Duration = Duration::from_secs(20);

/// How it is made sure that only one process decides.
#[derive(Clone, Debug)]
pub enum Leadership {
    /// By a Lease.
    Elected {
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
        /// Name of the pod, and its uid where it is known.
        pod: String,
        /// See [`Identity::pod`].
        pod_uid: Option<String>,
    },
    /// By the one who starts the process: for tests.
    Alone {
        /// The epoch.
        epoch: i64,
    },
}

/// How the engine is to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Who may decide.
    pub leadership: Leadership,
    /// The namespaces to watch; all, if empty.
    pub namespaces: Vec<String>,
    /// Defaults for the minds, by name.
    pub settings: BTreeMap<String, String>,
}

/// Why the engine ended without being told to.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The leadership was lost. A new process begins with a clean state.
    #[error("the leadership was lost; nothing is written any more")]
    LeadershipLost(#[source] Lost),
    /// There is no thread for the Lease.
    #[error("cannot start a thread for the lease")]
    NoThread(#[source] std::io::Error),
    /// There is no connection for the Lease.
    #[error("cannot connect to the API server for the lease")]
    NoLease(#[source] ApiError),
    /// They cannot be stopped, and a new process begins without them.
    #[error("too many decisions took too long and still compute; the log names their objects")]
    TooManyLate,
}

/// An engine whose watches are not open yet.
pub struct Engine {
    api: Api,
    queue: Arc<Queue>,
    metrics: Arc<Metrics>,
    watches: Arc<Watches>,
    minds: Vec<Arc<dyn Mind>>,
    options: Options,
    lease: Option<Connect>,
    open_store: OpenStore,
    longest: Duration,
}

impl Engine {
    /// An engine for these minds.
    pub fn new(client: Client, minds: Vec<Arc<dyn Mind>>, options: Options) -> Self {
        let metrics = Arc::new(Metrics::of(&minds));
        let pace = Arc::new(Pace::shown_in(metrics.at_once.clone()));
        let api = Api::new(client, Arc::clone(&metrics)).paced(pace);
        let queue = Arc::new(Queue::default());
        let watches = Watches::new(
            api.clone(),
            Arc::clone(&queue),
            Arc::clone(&metrics),
            &minds,
            &options.namespaces,
        );
        let open_store: OpenStore = Arc::new(|_, _| Err(StoreAway(NoStore::Nowhere.to_string())));
        Self {
            api,
            queue,
            metrics,
            watches,
            minds,
            options,
            lease: None,
            open_store,
            longest: LONGEST,
        }
    }

    /// Keep the locks between regions in the stores that this opens.
    pub fn lock_in(mut self, open: OpenStore) -> Self {
        self.open_store = open;
        self
    }

    /// Keep the Lease on a thread of its own, over a connection that this makes:
    /// however busy the rest is, it is renewed.
    pub fn keep_lease_apart(mut self, connect: Connect) -> Self {
        self.lease = Some(connect);
        self
    }

    /// Let a decision take this long instead of [`LONGEST`].
    pub const fn decide_within(mut self, longest: Duration) -> Self {
        self.longest = longest;
        self
    }

    /// Its doors for probes and Prometheus.
    pub fn doors(&self) -> Doors {
        Doors::new(Arc::clone(&self.metrics), Arc::clone(&self.watches), Arc::clone(&self.queue))
    }

    /// Run until `stop` is cancelled, or until the leadership is lost.
    pub async fn run(self, stop: CancellationToken) -> Result<(), EngineError> {
        // Before leading, so that a standby takes over with full stores.
        self.watches.start();
        let _closing = CloseOnDrop(Arc::clone(&self.watches));
        self.lead(&stop).await
    }

    async fn lead(&self, stop: &CancellationToken) -> Result<(), EngineError> {
        let mut candidacy = match &self.options.leadership {
            Leadership::Alone { epoch } => {
                self.begin(*epoch);
                self.work(Term::unlimited(*epoch), std::future::pending(), stop).await?;
                return Ok(());
            }
            Leadership::Elected { namespace, name, pod, pod_uid } => {
                self.stand(namespace, name, identity(pod, pod_uid.as_deref()))?
            }
        };
        tracing::info!("waiting for the leadership");
        let term = tokio::select! {
            term = candidacy.term() => term.map_err(EngineError::NoLease)?,
            () = stop.cancelled() => return Ok(()),
        };
        self.begin(term.epoch);
        let ended = self.work(term.clone(), candidacy.lost(), stop).await;
        self.metrics.leader.set(0);
        // What still computes writes nothing any more.
        if matches!(ended, Ok(()) | Err(EngineError::TooManyLate)) {
            candidacy.resign().await;
            tracing::info!(epoch = term.epoch, "gave up the leadership");
        }
        ended
    }

    fn stand(
        &self,
        namespace: &str,
        name: &str,
        identity: Identity,
    ) -> Result<Candidacy, EngineError> {
        let Some(connect) = self.lease.clone() else {
            let election = Election::new(self.api.apart(), namespace, name, identity);
            return Ok(Candidacy::beside(election));
        };
        let (namespace, name) = (namespace.to_string(), name.to_string());
        let metrics = Arc::clone(&self.metrics);
        let election =
            move |client| Election::new(Api::new(client, metrics), &namespace, &name, identity);
        Candidacy::apart(connect, election).map_err(EngineError::NoThread)
    }

    fn begin(&self, epoch: i64) {
        self.metrics.leader.set(1);
        self.metrics.epoch.set(epoch);
        tracing::info!(epoch, "leading");
    }

    async fn work(
        &self,
        term: Term,
        keep: impl Future<Output = Lost>,
        stop: &CancellationToken,
    ) -> Result<(), EngineError> {
        let reconciler = Arc::new(self.reconciler(term, stop.clone()));
        let mut running: JoinSet<()> = JoinSet::new();
        let mut keep = std::pin::pin!(keep);
        let pace = self.api.pace();
        loop {
            let closed = pace.closed_until();
            let may_begin = closed.is_none() && running.len() < pace.at_once();
            tokio::select! {
                biased;
                lost = &mut keep => return Err(EngineError::LeadershipLost(lost)),
                () = reconciler.apart.too_many.cancelled() => return Err(EngineError::TooManyLate),
                () = stop.cancelled() => break,
                Some(ended) = running.join_next() => tell_panic(ended),
                () = pace.open(), if closed.is_some() => {}
                key = self.queue.next(), if may_begin => {
                    let (reconciler, queue) = (Arc::clone(&reconciler), Arc::clone(&self.queue));
                    running.spawn(async move {
                        let mut turn = Turn { queue, key, after: None };
                        turn.after = Some(reconciler.reconcile(&turn.key).await);
                    });
                }
            }
        }
        let last = async { while running.join_next().await.is_some() {} };
        tokio::select! {
            lost = &mut keep => Err(EngineError::LeadershipLost(lost)),
            _ = tokio::time::timeout(LAST_STEPS, last) => Ok(()),
        }
    }

    fn reconciler(&self, term: Term, stopping: CancellationToken) -> Reconciler {
        let faults = Arc::new(Faults::from_environment());
        let sender = Sender::new(self.api.clone(), term.clone(), Arc::clone(&faults));
        Reconciler {
            api: self.api.clone(),
            watches: Arc::clone(&self.watches),
            minds: self.minds.clone(),
            metrics: Arc::clone(&self.metrics),
            faults,
            constants: Constants {
                epoch: term.epoch,
                settings: Arc::new(self.options.settings.clone()),
            },
            term,
            own_namespace: match &self.options.leadership {
                Leadership::Elected { namespace, .. } => Some(namespace.clone()),
                Leadership::Alone { .. } => None,
            },
            instance: match &self.options.leadership {
                Leadership::Elected { pod, .. } => pod.clone(),
                Leadership::Alone { .. } => "palladion".to_string(),
            },
            apart: Apart::new(self.longest, stopping.clone()),
            stopping,
            memories: Mutex::new(HashMap::new()),
            probers: Probers::new(Arc::clone(&self.queue), Asker::new(self.api.clone())),
            exchangers: Exchangers::new(Arc::clone(&self.queue), sender),
            settings: Settings::default(),
            locks: Keepers::new(
                Arc::clone(&self.queue),
                Arc::clone(&self.open_store),
                Arc::clone(&self.metrics),
            ),
        }
    }
}

fn tell_panic(ended: Result<(), JoinError>) {
    if let Err(error) = ended {
        tracing::error!(error = %error, "reconcile panicked; this is a bug");
    }
}

/// Gives a key back to the queue, also if its task panics: an owner must not be
/// lost to a bug.
struct Turn {
    queue: Arc<Queue>,
    key: Key,
    after: Option<After>,
}

impl Drop for Turn {
    fn drop(&mut self) {
        let after = self.after.unwrap_or(After::RetryAt(Instant::now() + AFTER_A_BUG));
        self.queue.done(&self.key, after);
    }
}

/// The feeds are tasks of their own; they end with the engine, however it ends.
struct CloseOnDrop(Arc<Watches>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}

fn identity(pod: &str, uid: Option<&str>) -> Identity {
    let process = uuid::Uuid::new_v4();
    match uid {
        Some(uid) => Identity {
            process: format!("{pod}_{uid}_{process}"),
            pod: Some(format!("{pod}_{uid}_")),
        },
        None => Identity { process: format!("{pod}_{process}"), pod: None },
    }
}
