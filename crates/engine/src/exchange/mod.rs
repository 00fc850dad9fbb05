//! Calls to the APIs of services, for minds that want them sent
//! ([`palladion_plan::Mind::exchanges`]). Each is sent once by this process: one
//! that could not be sent yet is tried again, one that was sent is not, whatever
//! became of it. What an answer means, and whether to call again, is the mind's.

pub mod request;
pub mod secrets;
pub mod send;

use crate::backoff;
use crate::queue::{Key, Priority, Queue};
use palladion_plan::{Answer, Exchange, ExchangeKey, FailureClass};
use send::{NotSent, Sender};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::task::AbortHandle;

/// All calls of the process.
pub struct Exchangers {
    queue: Arc<Queue>,
    sender: Sender,
    running: Mutex<HashMap<Key, BTreeMap<ExchangeKey, Running>>>,
}

/// One call. Dropping it ends the waiting for its answer.
struct Running {
    exchange: Exchange,
    course: Arc<Mutex<Course>>,
    task: AbortHandle,
}

/// Where a call is on its way.
#[derive(Debug)]
enum Course {
    /// Not sent yet.
    Waiting,
    /// Not sent, and not to be sent any more.
    Withdrawn,
    /// Sent: it may have been done.
    Sent,
    /// Answered.
    Answered(Answer),
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Running {
    /// Is it still the call that is wanted? One that was sent cannot be another any
    /// more; one that was not makes way, and is never sent from then on.
    fn stays(&self, wanted: &[Exchange]) -> bool {
        let Some(same) = wanted.iter().find(|w| w.key == self.exchange.key) else {
            return false;
        };
        let mut course = lock(&self.course);
        match *course {
            Course::Sent | Course::Answered(_) => true,
            Course::Waiting if *same == self.exchange => true,
            Course::Waiting | Course::Withdrawn => {
                *course = Course::Withdrawn;
                false
            }
        }
    }
}

impl Exchangers {
    /// Calls by this sender, whose answers wake owners in this queue.
    pub fn new(queue: Arc<Queue>, sender: Sender) -> Self {
        Self { queue, sender, running: Mutex::default() }
    }

    /// State which calls an owner wants. Those that are under way go on.
    pub fn want(&self, owner: &Key, wanted: Vec<Exchange>) {
        let mut running = lock(&self.running);
        if wanted.is_empty() {
            running.remove(owner);
            return;
        }
        let mine = running.entry(owner.clone()).or_default();
        mine.retain(|_, call| call.stays(&wanted));
        for exchange in wanted {
            mine.entry(exchange.key.clone()).or_insert_with(|| self.begin(owner, exchange));
        }
    }

    /// The calls of an owner that have ended.
    pub fn answers(&self, owner: &Key) -> BTreeMap<ExchangeKey, Answer> {
        let running = lock(&self.running);
        let mine = running.get(owner).into_iter().flatten();
        let ended = mine.filter_map(|(key, call)| match &*lock(&call.course) {
            Course::Answered(answer) => Some((key.clone(), answer.clone())),
            Course::Waiting | Course::Withdrawn | Course::Sent => None,
        });
        ended.collect()
    }

    fn begin(&self, owner: &Key, exchange: Exchange) -> Running {
        let course = Arc::new(Mutex::new(Course::Waiting));
        let calling = Calling {
            owner: owner.clone(),
            queue: Arc::clone(&self.queue),
            sender: self.sender.clone(),
            exchange: exchange.clone(),
            course: Arc::clone(&course),
        };
        let task = tokio::spawn(calling.go_on()).abort_handle();
        Running { exchange, course, task }
    }
}

struct Calling {
    owner: Key,
    queue: Arc<Queue>,
    sender: Sender,
    exchange: Exchange,
    course: Arc<Mutex<Course>>,
}

impl Calling {
    /// Try until it could be sent.
    async fn go_on(self) {
        for attempt in 0.. {
            match self.sender.send(&self.exchange, || self.goes_out()).await {
                Ok(end) => return self.answered(Answer { at: jiff::Timestamp::now(), end }),
                Err(NotSent::Withdrawn) => return,
                Err(NotSent::NotNow { why }) => {
                    tracing::debug!(call = %self.exchange.key.name, %why, "not sent yet");
                }
            }
            tokio::time::sleep(backoff::wait(FailureClass::Transient, attempt)).await;
            self.sender.ready().await;
        }
    }

    /// It is about to be sent. False = nobody wants it any more.
    fn goes_out(&self) -> bool {
        let mut course = lock(&self.course);
        match *course {
            Course::Waiting => {
                *course = Course::Sent;
                true
            }
            Course::Withdrawn | Course::Sent | Course::Answered(_) => false,
        }
    }

    fn answered(&self, answer: Answer) {
        *lock(&self.course) = Course::Answered(answer);
        self.queue.add(self.owner.clone(), Priority::Change);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
