//! Everything that the process knows of the API server: the shelves, the state
//! of each feed, the objects watched by name, and the own writes that have not
//! come back yet. One lock guards it, so that a snapshot is of one moment.

use crate::expect::{Awaited, Expectation};
use crate::queue::{Key, Priority};
use crate::request::Selection;
use crate::watch::project::Record;
use crate::watch::references::References;
use crate::watch::shelf::{Change, News, Shelf};
use crate::watch::touch::{Knowledge, Tell, Touch};
use palladion_plan::{Keep, Mind, Object, ObjectKey, Resource, Route, Scope};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::time::Instant;

/// Number of a mind in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MindId(pub usize);

/// Number of a feed: one connection to the API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FeedId(pub usize);

/// Number of a shelf.
pub type ShelfId = usize;

/// A key to be decided, and how urgently.
pub type Wake = (Key, Priority);

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
}

/// See the module.
#[derive(Debug, Default)]
pub struct World {
    pub(crate) shelves: Vec<Shelf>,
    pub(crate) feeds: BTreeMap<FeedId, Feed>,
    pub(crate) subscribers: Vec<Subscriber>,
    pub(crate) references: References,
    pub(crate) awaited: Awaited,
    next_feed: usize,
}

impl World {
    /// Shelves and feeds for all that the minds want to see, in these
    /// namespaces (all, if none is named). Watches that are alike are shared.
    pub fn new(minds: &[Arc<dyn Mind>], namespaces: &[String]) -> Self {
        let mut world = Self::default();
        for (number, mind) in minds.iter().enumerate() {
            let mut subscriber = Subscriber {
                owner_shelf: None,
                watches: Vec::new(),
            };
            for watch in mind.watches() {
                let shelf = world.shelf(watch.resource, watch.selector, watch.keep);
                world.shelves[shelf].subscribe(MindId(number), watch.route);
                subscriber
                    .watches
                    .push((shelf, watch.resource, watch.route));
                if watch.route == Route::Owner && watch.resource == mind.owner() {
                    subscriber.owner_shelf = Some(shelf);
                }
            }
            world.subscribers.push(subscriber);
        }
        world.make_feeds(namespaces);
        world
    }

    fn shelf(&mut self, resource: Resource, selector: &'static str, keep: Keep) -> ShelfId {
        let alike =
            |s: &Shelf| s.resource == resource && s.selector == selector && same_keep(s.keep, keep);
        match self.shelves.iter().position(alike) {
            Some(shelf) => shelf,
            None => {
                self.shelves.push(Shelf::new(resource, selector, keep));
                self.shelves.len() - 1
            }
        }
    }

    /// One feed for each kind, selector and namespace; shelves that differ
    /// only in what they keep share it.
    fn make_feeds(&mut self, namespaces: &[String]) {
        let mut selections: Vec<(Selection, Vec<Target>)> = Vec::new();
        for (number, shelf) in self.shelves.iter().enumerate() {
            let scopes: Vec<Option<String>> = match shelf.resource.scope {
                Scope::Namespaced if !namespaces.is_empty() => {
                    namespaces.iter().cloned().map(Some).collect()
                }
                Scope::Namespaced | Scope::Cluster => vec![None],
            };
            for namespace in scopes {
                let selection = Selection {
                    resource: shelf.resource,
                    namespace,
                    labels: shelf.selector.to_string(),
                    fields: String::new(),
                };
                match selections.iter_mut().find(|(s, _)| *s == selection) {
                    Some((_, targets)) => targets.push(Target::Shelf(number)),
                    None => selections.push((selection, vec![Target::Shelf(number)])),
                }
            }
        }
        for (selection, targets) in selections {
            self.add_feed(selection, targets);
        }
    }

    pub(crate) fn add_feed(&mut self, selection: Selection, targets: Vec<Target>) -> FeedId {
        let id = FeedId(self.next_feed);
        self.next_feed += 1;
        self.feeds.insert(
            id,
            Feed {
                selection,
                targets,
                touch: Touch::new(),
                high: 0,
            },
        );
        id
    }

    /// The feeds that exist, with what each selects.
    pub fn feeds(&self) -> Vec<(FeedId, Selection)> {
        self.feeds
            .iter()
            .map(|(id, feed)| (*id, feed.selection.clone()))
            .collect()
    }

    /// How the objects of a feed are projected.
    pub fn projections(&self, feed: FeedId) -> Vec<Projection> {
        let targets = self
            .feeds
            .get(&feed)
            .map(|f| f.targets.as_slice())
            .unwrap_or_default();
        let projection = |target: &Target| match target {
            Target::Shelf(shelf) => Projection {
                target: target.clone(),
                keep: self.shelves[*shelf].keep,
                labels: self.shelves[*shelf].labels.clone(),
            },
            Target::Reference(_) => Projection {
                target: target.clone(),
                keep: Keep::Everything,
                labels: Vec::new(),
            },
        };
        targets.iter().map(projection).collect()
    }

    /// A whole list has arrived.
    pub fn listed(
        &mut self,
        feed: FeedId,
        lists: Vec<(Target, Vec<Record>)>,
        version: &str,
    ) -> Vec<Wake> {
        let mut wakes = Vec::new();
        for (target, records) in lists {
            match target {
                Target::Shelf(shelf) => {
                    for change in self.shelves[shelf].replace(feed, records) {
                        wakes.extend(self.route(shelf, &change));
                    }
                }
                Target::Reference(key) => {
                    wakes.extend(self.references.put(&key, records.into_iter().next()))
                }
            }
        }
        let tell = self.feeds.get_mut(&feed).map(|f| f.touch.listed());
        wakes.extend(self.tell(feed, tell));
        wakes.extend(self.raise(feed, version));
        wakes
    }

    /// An object was added or changed.
    pub fn put(
        &mut self,
        feed: FeedId,
        records: Vec<(Target, Record)>,
        version: &str,
    ) -> Vec<Wake> {
        let mut wakes = self.heard(feed);
        for (target, record) in records {
            let name = (record.namespace.clone(), record.name.clone());
            match target {
                Target::Shelf(shelf) => {
                    let change = self.shelves[shelf].put(feed, record);
                    wakes.extend(change.iter().flat_map(|c| self.route(shelf, c)));
                }
                Target::Reference(key) => wakes.extend(self.references.put(&key, Some(record))),
            }
            wakes.extend(self.awaited.seen(feed, &name.0, &name.1));
        }
        wakes.extend(self.raise(feed, version));
        wakes
    }

    /// An object was deleted.
    pub fn remove(
        &mut self,
        feed: FeedId,
        namespace: &str,
        name: &str,
        version: &str,
    ) -> Vec<Wake> {
        let mut wakes = self.heard(feed);
        for target in self.targets(feed) {
            match target {
                Target::Shelf(shelf) => {
                    let change = self.shelves[shelf].remove(namespace, name);
                    wakes.extend(change.iter().flat_map(|c| self.route(shelf, c)));
                }
                Target::Reference(key) => wakes.extend(self.references.put(&key, None)),
            }
        }
        wakes.extend(self.awaited.seen(feed, namespace, name));
        wakes.extend(self.raise(feed, version));
        wakes
    }

    /// The server says that all up to this version has been sent.
    pub fn bookmark(&mut self, feed: FeedId, version: &str) -> Vec<Wake> {
        let mut wakes = self.heard(feed);
        wakes.extend(self.raise(feed, version));
        wakes
    }

    /// The server answered a feed's request.
    pub fn heard(&mut self, feed: FeedId) -> Vec<Wake> {
        let tell = self.feeds.get_mut(&feed).map(|f| f.touch.heard());
        self.tell(feed, tell)
    }

    /// A feed's request failed.
    pub fn failed(&mut self, feed: FeedId, why: String) -> Vec<Wake> {
        let tell = self
            .feeds
            .get_mut(&feed)
            .map(|f| f.touch.failed(Instant::now(), why));
        self.tell(feed, tell)
    }

    /// Have all of these own writes come back?
    pub fn caught_up(&self, expectations: &[Expectation]) -> bool {
        expectations.iter().all(|expectation| match expectation {
            Expectation::Version { feed, version } => {
                self.feeds.get(feed).is_none_or(|f| f.high >= *version)
            }
            Expectation::Gone {
                feed,
                namespace,
                name,
                uid,
            } => {
                let found = self
                    .targets(*feed)
                    .into_iter()
                    .find_map(|target| match target {
                        Target::Shelf(shelf) => self.shelves[shelf]
                            .get(namespace, name)
                            .map(|e| e.record.clone()),
                        Target::Reference(key) => self.references.record(&key).cloned(),
                    });
                found.is_none_or(|r| *r.uid != **uid || r.object().meta.is_terminating())
            }
        })
    }

    /// What is known of the feeds of a shelf that bring objects of a namespace.
    pub fn knowledge(&self, shelf: ShelfId, namespace: &str) -> Knowledge {
        let now = Instant::now();
        let mut worst = Knowledge::Known {
            as_of: jiff::Timestamp::MAX,
        };
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
        entries
            .map(|e| Key::new(mind, &e.record.namespace, &e.record.name))
            .collect()
    }

    /// An object as it is stored, and whether it is stored whole.
    pub fn stored(&self, key: &ObjectKey) -> Option<(Record, Keep)> {
        let shelves = self.shelves.iter().filter(|s| s.resource == key.resource);
        let found = shelves.filter_map(|s| Some((s.get(&key.namespace, &key.name)?, s.keep)));
        // The most complete one serves comparisons best.
        let best = found.max_by_key(|(_, keep)| matches!(keep, Keep::Everything));
        best.map(|(entry, keep)| (entry.record.clone(), keep))
    }

    /// The owner object of a key.
    pub fn owner(&self, key: &Key) -> Option<Object> {
        let shelf = self.subscribers.get(key.mind.0)?.owner_shelf?;
        Some(
            self.shelves[shelf]
                .get(&key.namespace, &key.name)?
                .record
                .object(),
        )
    }

    fn targets(&self, feed: FeedId) -> Vec<Target> {
        self.feeds
            .get(&feed)
            .map(|f| f.targets.clone())
            .unwrap_or_default()
    }

    /// All up to `version` has arrived: whoever waited for that goes on.
    fn raise(&mut self, feed: FeedId, version: &str) -> Vec<Wake> {
        let (Some(state), Ok(version)) = (self.feeds.get_mut(&feed), version.parse::<u64>()) else {
            return Vec::new();
        };
        state.high = version;
        self.awaited.reached(feed, version)
    }

    fn tell(&self, feed: FeedId, tell: Option<Tell>) -> Vec<Wake> {
        match tell {
            None | Some(Tell::Nobody) => Vec::new(),
            Some(Tell::Owners) => {
                let mut keys: Vec<Key> = Vec::new();
                for target in self.targets(feed) {
                    match target {
                        Target::Shelf(shelf) => {
                            let minds = self.shelves[shelf].routes.iter().map(|(mind, _)| *mind);
                            keys.extend(minds.flat_map(|mind| self.owners(mind)));
                        }
                        Target::Reference(key) => keys.extend(self.references.owners(&key)),
                    }
                }
                keys.into_iter()
                    .map(|key| (key, Priority::Resync))
                    .collect()
            }
        }
    }

    /// The keys whose decision a change may change.
    fn route(&self, shelf: ShelfId, change: &Change) -> Vec<Wake> {
        let shelf = &self.shelves[shelf];
        let mut wakes = Vec::new();
        for (mind, route) in &shelf.routes {
            match route {
                Route::Owner => {
                    let priority = match change.news {
                        News::Spec => Priority::Owner,
                        News::Other => Priority::Change,
                    };
                    wakes.push((Key::new(*mind, &change.namespace, &change.name), priority));
                }
                Route::Label(label) => {
                    let position = shelf.labels.iter().position(|l| l == label);
                    let values = change.values.iter().filter(|(p, _)| Some(*p) == position);
                    let keys = values.map(|(_, value)| Key::new(*mind, &change.namespace, value));
                    wakes.extend(keys.map(|key| (key, Priority::Change)));
                }
                Route::Every => wakes.extend(
                    self.owners(*mind)
                        .into_iter()
                        .map(|k| (k, Priority::Change)),
                ),
            }
        }
        wakes
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

/// Projections are compared by address: two minds share a shelf only if they
/// use the very same function.
fn same_keep(a: Keep, b: Keep) -> bool {
    match (a, b) {
        (Keep::Everything, Keep::Everything) => true,
        (Keep::Only(a), Keep::Only(b)) => a == b,
        (Keep::Projection(a), Keep::Projection(b)) => std::ptr::fn_addr_eq(a, b),
        (Keep::Everything | Keep::Only(_) | Keep::Projection(_), _) => false,
    }
}
