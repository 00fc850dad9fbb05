//! Who asks for which lock, and what is known of it. Each lock that is asked for has a task of
//! its own (`task`), which takes, renews and releases it, however long a decision or the work
//! under the lock takes. Without a question there is no task, no request and no connection.

use super::task::Keeping;
use crate::metrics::Metrics;
use crate::queue::{Key, Priority, Queue};
use jiff::SignedDuration;
use palladion_plan::LockFact;
use palladion_plan::lock::{
    Claimant, Holder, LockKey, LockQuestion, LockStore, LockToken, StoreAddress, StoreAway,
};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// Makes the store of an address, with the credentials of this process. Requests to a Kubernetes
/// are counted in these metrics.
pub type OpenStore = Arc<
    dyn Fn(&StoreAddress, &Arc<Metrics>) -> Result<Arc<dyn LockStore>, StoreAway> + Send + Sync,
>;

/// All locks of the process.
pub struct Keepers {
    pub(super) shared: Arc<Shared>,
}

/// What the tasks share.
pub(super) struct Shared {
    queue: Arc<Queue>,
    open: OpenStore,
    pub metrics: Arc<Metrics>,
    stores: Mutex<BTreeMap<StoreAddress, Arc<dyn LockStore>>>,
    running: Mutex<HashMap<Key, Running>>,
    /// When a lock was released last: others have their chance before it is taken again.
    released: Mutex<HashMap<LockKey, Instant>>,
}

/// One lock that is asked for. Dropping it ends its task; what is held ends with its lease.
struct Running {
    question: watch::Sender<Option<LockQuestion>>,
    known: Arc<Known>,
    task: AbortHandle,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What is known of one lock, by its task and by those who check it.
#[derive(Default)]
pub(super) struct Known {
    state: Mutex<State>,
    /// Told when somebody but the task has found it lost.
    pub found_lost: Notify,
}

/// How it stands.
#[derive(Clone, Default)]
pub(super) enum State {
    /// The store has not answered yet.
    #[default]
    Asking,
    /// It is ours.
    Held(Box<Held>),
    /// It is another's.
    By(Holder),
    /// It is nobody's, or was ours.
    NotHeld,
    /// The store cannot be asked.
    Away(String),
}

/// A holding of ours.
#[derive(Clone)]
pub(super) struct Held {
    pub store: Arc<dyn LockStore>,
    pub at: StoreAddress,
    pub key: LockKey,
    pub claimant: Claimant,
    pub token: LockToken,
    pub session: String,
    /// For how long it was taken, and is renewed each time.
    pub ttl: Duration,
    /// Until when at least, by this process' monotonic clock and from when it was asked.
    pub until: Instant,
    pub initialized_by: Option<Claimant>,
}

impl Held {
    /// For so long at least.
    pub fn left(&self) -> SignedDuration {
        let left = self.until.saturating_duration_since(Instant::now());
        SignedDuration::try_from(left).unwrap_or(SignedDuration::MAX)
    }

    /// Is it what this question asks for?
    pub fn answers(&self, question: &LockQuestion) -> bool {
        let LockQuestion { store, key, claimant, .. } = question;
        (&self.at, &self.key, &self.claimant) == (store, key, claimant)
    }

    /// Is it the same lock, of the same claimant, wherever it is kept?
    pub fn is_of(&self, question: &LockQuestion) -> bool {
        (&self.key, &self.claimant) == (&question.key, &question.claimant)
    }
}

impl Known {
    /// As it is now.
    pub fn state(&self) -> State {
        lock(&self.state).clone()
    }

    /// The holding, where its lease has not ended.
    pub fn held(&self) -> Option<Held> {
        match self.state() {
            State::Held(held) => Some(*held).filter(|held| held.until > Instant::now()),
            State::Asking | State::By(_) | State::NotHeld | State::Away(_) => None,
        }
    }

    pub fn set(&self, state: State) {
        *lock(&self.state) = state;
    }

    /// It is not held by this token any more. False if that was known.
    pub fn lose(&self, token: &LockToken) -> bool {
        let mut state = lock(&self.state);
        let was_held = matches!(&*state, State::Held(held) if held.token == *token);
        if was_held {
            *state = State::NotHeld;
        }
        was_held
    }

    /// As minds hear of it.
    fn fact(&self) -> LockFact {
        match self.state() {
            State::Asking => LockFact::Asking,
            State::Held(held) if held.until <= Instant::now() => LockFact::NotHeld,
            State::Held(held) => LockFact::Held {
                lease_left: held.left(),
                token: held.token,
                initialized_by: held.initialized_by,
            },
            State::By(holder) => LockFact::HeldBy(holder),
            State::NotHeld => LockFact::NotHeld,
            State::Away(why) => LockFact::Unknown { why },
        }
    }
}

impl Keepers {
    /// Locks in the stores that this opens, which wake owners in this queue.
    pub fn new(queue: Arc<Queue>, open: OpenStore, metrics: Arc<Metrics>) -> Self {
        let (stores, running, released) = Default::default();
        Self { shared: Arc::new(Shared { queue, open, metrics, stores, running, released }) }
    }

    /// State what an owner asks for. What is held and not asked for any more is released.
    pub fn want(&self, owner: &Key, wanted: Option<LockQuestion>) {
        let mut running = lock(&self.shared.running);
        if let Some(keeper) = running.get(owner) {
            keeper.question.send_if_modified(|question| {
                let differs = *question != wanted;
                if differs {
                    *question = wanted;
                }
                differs
            });
            return;
        }
        let Some(question) = wanted else { return };
        let (question, asked) = watch::channel(Some(question));
        let known = Arc::<Known>::default();
        let keeping =
            Keeping::new(owner.clone(), Arc::clone(&self.shared), asked, Arc::clone(&known));
        let task = tokio::spawn(keeping.go_on()).abort_handle();
        running.insert(owner.clone(), Running { question, known, task });
    }

    /// What is known of the lock of an owner.
    pub fn fact(&self, owner: &Key) -> LockFact {
        self.shared.known(owner).map_or(LockFact::Unasked, |known| known.fact())
    }
}

impl Shared {
    pub fn known(&self, owner: &Key) -> Option<Arc<Known>> {
        lock(&self.running).get(owner).map(|keeper| Arc::clone(&keeper.known))
    }

    /// The store of an address, opened once.
    pub fn store(&self, at: &StoreAddress) -> Result<Arc<dyn LockStore>, StoreAway> {
        let mut stores = lock(&self.stores);
        if let Some(store) = stores.get(at) {
            return Ok(Arc::clone(store));
        }
        let store = (self.open)(at, &self.metrics)?;
        stores.insert(at.clone(), Arc::clone(&store));
        Ok(store)
    }

    /// What is known of an owner's lock has changed.
    pub fn wake(&self, owner: &Key) {
        self.queue.add(owner.clone(), Priority::Change);
    }

    /// Nobody asks for it any more: forget it. False if somebody does again.
    pub fn forget(&self, owner: &Key) -> bool {
        let mut running = lock(&self.running);
        let is_unwanted = running.get(owner).is_none_or(|k| k.question.borrow().is_none());
        if is_unwanted {
            running.remove(owner);
        }
        is_unwanted
    }

    pub fn note_released(&self, key: &LockKey) {
        lock(&self.released).insert(key.clone(), Instant::now());
    }

    pub fn released_at(&self, key: &LockKey) -> Option<Instant> {
        lock(&self.released).get(key).copied()
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
