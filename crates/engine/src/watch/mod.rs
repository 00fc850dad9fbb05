//! The first room: one watch for each kind and selector, for the whole
//! process, into projected stores. Decides nothing; wakes the keys whose
//! decision an event may change.

mod arrive;
mod build;
mod expected;
pub mod feed;
mod first;
mod named;
mod open;
pub mod project;
pub mod references;
pub mod shelf;
pub mod touch;
pub mod world;

use crate::ids::FeedId;
use crate::metrics::Metrics;
use crate::queue::{Key, Queue, Wake};
use crate::request::{Api, Selection};
use palladion_plan::{Mind, ObjectKey};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::task::JoinHandle;
use world::World;

/// The feeds that run, and the world that they fill.
pub struct Watches {
    api: Api,
    queue: Arc<Queue>,
    metrics: Arc<Metrics>,
    world: Mutex<World>,
    running: Mutex<HashMap<FeedId, JoinHandle<()>>>,
}

impl Watches {
    /// Watches for these minds, in these namespaces (all, if none is named).
    pub fn new(
        api: Api,
        queue: Arc<Queue>,
        metrics: Arc<Metrics>,
        minds: &[Arc<dyn Mind>],
        namespaces: &[String],
    ) -> Arc<Self> {
        let world = Mutex::new(World::new(minds, namespaces));
        Arc::new(Self { api, queue, metrics, world, running: Mutex::default() })
    }

    /// Open every watch.
    pub fn start(self: &Arc<Self>) {
        let feeds = self.world().feeds();
        for (id, selection) in feeds {
            self.open(id, selection);
        }
    }

    /// What is known. Hold it briefly: every event waits for it.
    pub fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Watch what an owner refers to now, and no longer what it referred to.
    pub fn refer(self: &Arc<Self>, owner: &Key, objects: &[ObjectKey]) {
        let turnover = self.world().refer(owner, objects);
        for feed in turnover.end {
            if let Some(task) = self.running().remove(&feed) {
                task.abort();
            }
        }
        for (feed, selection) in turnover.begin {
            self.open(feed, selection);
        }
    }

    /// Have all watches of minds been listed once, or failed for long enough
    /// to be called unknown?
    pub fn settled(&self) -> bool {
        let world = self.world();
        let now = tokio::time::Instant::now();
        world.feeds.values().all(|f| f.touch.knowledge(now) != touch::Knowledge::Pending)
    }

    /// Write the sizes of the stores into the metrics.
    pub fn measure(&self) {
        let world = self.world();
        let mut sizes: HashMap<&'static str, (usize, usize)> = HashMap::new();
        for shelf in &world.shelves {
            let (objects, bytes) = shelf.size();
            let sum = sizes.entry(shelf.resource.kind).or_default();
            *sum = (sum.0 + objects, sum.1 + bytes);
        }
        for (kind, (objects, bytes)) in sizes {
            self.metrics.store(kind, objects, bytes);
        }
    }

    fn open(self: &Arc<Self>, id: FeedId, selection: Selection) {
        let feed = feed::Feed::new(Arc::clone(self), id, selection);
        self.running().insert(id, tokio::spawn(feed.run()));
    }

    fn wake(&self, wakes: Vec<Wake>) {
        let marks = std::mem::take(&mut self.world().marks);
        self.queue.mark(marks);
        self.queue.extend(wakes);
    }

    fn running(&self) -> MutexGuard<'_, HashMap<FeedId, JoinHandle<()>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Close every watch.
    pub fn stop(&self) {
        for (_, task) in self.running().drain() {
            task.abort();
        }
    }
}
