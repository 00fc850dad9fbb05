//! Timed probes for minds that ask for them ([`palladion_plan::Mind::probes`]):
//! one task for each question, for as long as the mind asks it. Knows how to
//! ask and counts the answers; what they mean is the mind's.

pub mod answer;
pub mod ask;
pub mod exec;
pub mod grpc;
pub mod http;

use crate::queue::{Key, Priority, Queue};
use crate::words::Probed;
use answer::Answer;
use ask::Asker;
use palladion_plan::{Observed, ProbeKey, ProbeRequest, ProbeResult, Tally, Verdict};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::task::AbortHandle;
use tokio::time::MissedTickBehavior;

/// All probes of the process.
pub struct Probers {
    queue: Arc<Queue>,
    asker: Asker,
    running: Mutex<HashMap<Key, BTreeMap<ProbeKey, Running>>>,
}

/// One question that is being asked. Dropping it ends the asking.
struct Running {
    request: ProbeRequest,
    told: Told,
    task: AbortHandle,
}

/// What the answers amount to; `None` until the thresholds are met.
type Told = Arc<Mutex<Option<Observed<ProbeResult>>>>;

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Probers {
    /// Probers that wake owners in this queue.
    pub fn new(queue: Arc<Queue>, asker: Asker) -> Self {
        Self { queue, asker, running: Mutex::default() }
    }

    /// State what an owner wants to be asked now. Questions that stay the same
    /// go on without a break.
    pub fn want(&self, owner: &Key, wanted: Vec<ProbeRequest>) {
        let mut running = lock(&self.running);
        if wanted.is_empty() {
            running.remove(owner);
            return;
        }
        let mine = running.entry(owner.clone()).or_default();
        mine.retain(|key, r| wanted.iter().any(|w| w.key == *key && *w == r.request));
        for request in wanted {
            mine.entry(request.key.clone()).or_insert_with(|| self.begin(owner, request));
        }
    }

    /// What the answers to an owner's questions amount to.
    pub fn results(&self, owner: &Key) -> BTreeMap<ProbeKey, Observed<ProbeResult>> {
        let running = lock(&self.running);
        let mine = running.get(owner).into_iter().flatten();
        mine.filter_map(|(key, r)| Some((key.clone(), lock(&r.told).clone()?))).collect()
    }

    fn begin(&self, owner: &Key, request: ProbeRequest) -> Running {
        let told = Told::default();
        let asking = Asking {
            owner: owner.clone(),
            queue: Arc::clone(&self.queue),
            asker: self.asker.clone(),
            request: request.clone(),
            told: Arc::clone(&told),
        };
        let task = tokio::spawn(asking.go_on()).abort_handle();
        Running { request, told, task }
    }
}

struct Asking {
    owner: Key,
    queue: Arc<Queue>,
    asker: Asker,
    request: ProbeRequest,
    told: Told,
}

impl Asking {
    /// Ask, period after period, until dropped.
    async fn go_on(self) {
        let period = positive(self.request.period);
        let mut ticks = tokio::time::interval(period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut tally = Tally::default();
        loop {
            ticks.tick().await;
            let answer = self.asker.ask(&self.request).await;
            if self.count(&mut tally, answer) {
                self.queue.add(self.owner.clone(), Priority::Change);
            }
        }
    }

    /// Count an answer. True = what is known has changed.
    fn count(&self, tally: &mut Tally, answer: Answer) -> bool {
        let (verdict, message) = match answer {
            Answer::Unaskable(why) => {
                return self.tell(Observed::Unknown { why: why.to_string() });
            }
            Answer::Good => (Verdict::Passing, Probed::Passing),
            Answer::Bad(why) => (Verdict::Failing, why),
        };
        let Some(verdict) = tally.count(verdict, &self.request) else {
            return false;
        };
        let now = jiff::Timestamp::now();
        let since = match &*lock(&self.told) {
            Some(Observed::Known { value, .. }) if value.verdict == verdict => return false,
            Some(Observed::Known { .. } | Observed::Unknown { .. }) | None => now,
        };
        self.tell(Observed::Known {
            value: ProbeResult { verdict, since, message: message.to_string() },
            as_of: now,
        })
    }

    fn tell(&self, news: Observed<ProbeResult>) -> bool {
        let mut told = lock(&self.told);
        if told.as_ref() == Some(&news) {
            return false;
        }
        *told = Some(news);
        true
    }
}

fn positive(period: jiff::SignedDuration) -> Duration {
    Duration::try_from(period).unwrap_or_default().max(Duration::from_millis(100))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
