//! Everything that the process knows of the API server: the shelves, the state
//! of each feed, the objects watched by name, and the own writes that have not
//! come back yet. One lock guards it, so that a snapshot is of one moment.

use crate::expect::Awaited;
use crate::ids::{FeedId, MindId, ShelfId};
use crate::queue::{Key, Work};
use crate::request::Selection;
use crate::watch::project::Record;
use crate::watch::references::References;
use crate::watch::shelf::Shelf;
use crate::watch::touch::{Knowledge, Touch};
use palladion_plan::{Keep, Object, ObjectKey, Resource, Route};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::time::Instant;

/// How a feed turns objects into records: one projection for each target.
#[derive(Clone, Debug)]
pub struct Projection {
    /// Where the record goes.
    pub target: Target,
    /// What is kept.
    pub keep: Keep,
    /// The labels that the target is indexed by.
    pub labels: Vec<&'static str>,
}

/// Where a feed's objects go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A shelf.
    Shelf(ShelfId),
    /// An object watched by name.
    Reference(ObjectKey),
}

/// State of one feed.
#[derive(Debug)]
pub(crate) struct Feed {
    pub(crate) selection: Selection,
    pub(crate) targets: Vec<Target>,
    pub(crate) touch: Touch,
    /// Every change up to this resourceVersion has arrived.
    pub(crate) high: u64,
}

/// What the world needs to know of a mind.
#[derive(Debug)]
pub(crate) struct Subscriber {
    pub(crate) owner_shelf: Option<ShelfId>,
    pub(crate) watches: Vec<(ShelfId, Resource, Route)>,
    pub(crate) open_work: &'static [&'static str],
}

/// See the module.
#[derive(Debug, Default)]
pub struct World {
    pub(crate) shelves: Vec<Shelf>,
    pub(crate) feeds: BTreeMap<FeedId, Feed>,
    pub(crate) subscribers: Vec<Subscriber>,
    pub(crate) references: References,
    pub(crate) awaited: Awaited,
    /// What has become known of open work, until the queue is told.
    pub(crate) marks: Vec<(Key, Work)>,
    pub(super) next_feed: usize,
}

impl World {
    /// The feeds that exist, with what each selects.
    pub fn feeds(&self) -> Vec<(FeedId, Selection)> {
        self.feeds.iter().map(|(id, feed)| (*id, feed.selection.clone())).collect()
    }

    /// How the objects of a feed are projected.
    pub fn projections(&self, feed: FeedId) -> Vec<Projection> {
        let targets = self.feeds.get(&feed).map(|f| f.targets.as_slice()).unwrap_or_default();
        let projection = |target: &Target| match target {
            Target::Shelf(shelf) => Projection {
                target: target.clone(),
                keep: self.shelves[*shelf].keep,
                labels: self.shelves[*shelf].labels.clone(),
            },
            Target::Reference(_) => {
                Projection { target: target.clone(), keep: Keep::Everything, labels: Vec::new() }
            }
        };
        targets.iter().map(projection).collect()
    }

    /// What is known of the feeds of a shelf that bring objects of a namespace.
    pub fn knowledge(&self, shelf: ShelfId, namespace: &str) -> Knowledge {
        let now = Instant::now();
        let mut worst = Knowledge::Known { as_of: jiff::Timestamp::MAX };
        for feed in self.feeds.values() {
            let elsewhere = |n: &String| !namespace.is_empty() && n != namespace;
            if !feed.targets.contains(&Target::Shelf(shelf))
                || feed.selection.namespace.as_ref().is_some_and(elsewhere)
            {
                continue;
            }
            worst = worse(worst, feed.touch.knowledge(now));
        }
        worst
    }

    /// All owners that a mind decides for.
    pub fn owners(&self, mind: MindId) -> Vec<Key> {
        let shelf = self.subscribers.get(mind.0).and_then(|s| s.owner_shelf);
        let entries = shelf.into_iter().flat_map(|s| self.shelves[s].all());
        entries.map(|e| Key::new(mind, &e.record.namespace, &e.record.name)).collect()
    }

    /// An object as it is stored, and whether it is stored whole.
    pub fn stored(&self, key: &ObjectKey) -> Option<(Record, Keep)> {
        let shelves = self.shelves.iter().filter(|s| s.resource == key.resource);
        let found = shelves.filter_map(|s| Some((s.get(&key.namespace, &key.name)?, s.keep)));
        // The most complete one serves comparisons best.
        let best = found.max_by_key(|(_, keep)| matches!(keep, Keep::Everything));
        best.map(|(entry, keep)| (entry.record.clone(), keep))
    }

    /// The owner object of a key, or why it cannot be read.
    pub fn owner(&self, key: &Key) -> Option<Result<Arc<Object>, String>> {
        let shelf = &self.shelves[self.subscribers.get(key.mind.0)?.owner_shelf?];
        Some(shelf.get(&key.namespace, &key.name)?.record.read(shelf.resource.kind))
    }

    pub(super) fn targets(&self, feed: FeedId) -> Vec<Target> {
        self.feeds.get(&feed).map(|f| f.targets.clone()).unwrap_or_default()
    }
}

/// The less certain of two.
pub(crate) fn worse(a: Knowledge, b: Knowledge) -> Knowledge {
    match (a, b) {
        (unknown @ Knowledge::Unknown { .. }, _) | (_, unknown @ Knowledge::Unknown { .. }) => {
            unknown
        }
        (Knowledge::Pending, _) | (_, Knowledge::Pending) => Knowledge::Pending,
        (Knowledge::Known { as_of: a }, Knowledge::Known { as_of: b }) => {
            Knowledge::Known { as_of: a.min(b) }
        }
    }
}
