//! A decision on a thread of its own, which is not waited for without end (safety rule 7.21):
//! what somebody wrote into one object may take long to compute, and a thread that computes
//! cannot be stopped.

use palladion_plan::{Mind, Snapshot};
use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tracing::debug_span;

/// How long a decision may take. An honest one takes milliseconds.
pub const LONGEST: Duration = Duration::from_secs(30);

/// How many decisions begin side by side: more would not be faster, and each takes memory.
pub fn at_once() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get) + 2
}

/// Who computes longer than this has a place no more, so that others have it.
const SOON: Duration = Duration::from_secs(1);

/// So many threads that nobody waits for any more, and the process is better begun again: they
/// take the processors from everybody, and each edit of an object may add one.
const MOST_LEFT: usize = 16;

/// Stack of such a thread, in bytes. It is taken from the machine as it is used. A template can
/// nest values some 24,000 deep, and each level takes a few hundred bytes when they are printed,
/// compared or dropped; running out of it would end the process.
pub const STACK: usize = 64 * 1024 * 1024;

/// Why a mind has not answered.
#[derive(Debug)]
pub enum NoAnswer {
    /// It panicked, which is a bug of ours.
    Panicked(String),
    /// It still computes, and is not waited for.
    Late(Left),
    /// The process is to end.
    Stopping,
}

/// A thread that nobody waits for.
#[derive(Clone, Debug, Default)]
pub struct Left(Arc<AtomicBool>);

impl Left {
    /// Has it ended by now?
    pub fn has_ended(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Where minds are asked.
#[derive(Clone, Debug)]
pub struct Apart {
    longest: Duration,
    places: Arc<Semaphore>,
    /// Threads that still compute without anybody waiting for them.
    left: Arc<AtomicUsize>,
    /// There are too many of them.
    pub too_many: CancellationToken,
    stopping: CancellationToken,
}

impl Apart {
    /// Minds are asked until `stopping`, each for at most `longest`.
    pub fn new(longest: Duration, stopping: CancellationToken) -> Self {
        let too_many = CancellationToken::new();
        let places = Arc::new(Semaphore::new(at_once()));
        Self { longest, places, left: Arc::default(), too_many, stopping }
    }

    /// How long a decision may take.
    pub const fn longest(&self) -> Duration {
        self.longest
    }

    /// Ask a mind; everything else goes on meanwhile.
    ///
    /// # Errors
    /// There is no answer, or none in time.
    pub async fn ask<T: Send + 'static>(
        &self,
        mind: &Arc<dyn Mind>,
        facts: &Arc<Snapshot>,
        ask: impl FnOnce(&dyn Mind, &Snapshot) -> T + Send + 'static,
    ) -> Result<T, NoAnswer> {
        let place = tokio::select! {
            // Nobody closes it.
            place = self.places.acquire() => place,
            () = self.stopping.cancelled() => return Err(NoAnswer::Stopping),
        };
        let mut place = Some(place);
        let (mind, facts, span) = (Arc::clone(mind), Arc::clone(facts), debug_span!("decide"));
        let asked = move || span.in_scope(|| ask(mind.as_ref(), &facts));
        let mut thread = tokio::task::spawn_blocking(asked);
        let mut soon = pin!(tokio::time::sleep(SOON));
        let mut late = pin!(tokio::time::sleep(self.longest));
        loop {
            tokio::select! {
                biased;
                answer = &mut thread => {
                    return answer.map_err(|error| NoAnswer::Panicked(error.to_string()));
                }
                () = self.stopping.cancelled() => return Err(NoAnswer::Stopping),
                () = &mut late => return Err(NoAnswer::Late(self.leave(thread))),
                // Others do not wait for it.
                () = &mut soon, if place.is_some() => place = None,
            }
        }
    }

    fn leave<T: Send + 'static>(&self, thread: JoinHandle<T>) -> Left {
        let (all, one) = (Arc::clone(&self.left), Left::default());
        if all.fetch_add(1, Ordering::Relaxed) + 1 >= MOST_LEFT {
            self.too_many.cancel();
        }
        let Left(ended) = one.clone();
        tokio::spawn(async move {
            // Its answer is about a world that has gone on.
            drop(thread.await);
            all.fetch_sub(1, Ordering::Relaxed);
            ended.store(true, Ordering::Relaxed);
        });
        one
    }
}
