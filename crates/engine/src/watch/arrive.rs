//! What arrives through the feeds, and whom it wakes.

use crate::ids::{FeedId, ShelfId};
use crate::queue::Wake;
use crate::queue::{Key, Priority};
use crate::watch::project::Record;
use crate::watch::shelf::{Change, News};
use crate::watch::touch::Tell;
use crate::watch::world::{Target, World};
use palladion_plan::{FailureClass, Route};
use tokio::time::Instant;

impl World {
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
                    let changes = self.shelves[shelf].replace(feed, records);
                    for change in changes {
                        self.mark(shelf, &change.namespace, &change.name);
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
                    self.mark(shelf, &name.0, &name.1);
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
                    self.mark(shelf, namespace, name);
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
    pub fn failed(&mut self, feed: FeedId, class: FailureClass, why: String) -> Vec<Wake> {
        let tell = self.feeds.get_mut(&feed).map(|f| f.touch.failed(Instant::now(), class, why));
        self.tell(feed, tell)
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
                keys.into_iter().map(|key| (key, Priority::Resync)).collect()
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
                Route::Named { by, at } => wakes.extend(
                    self.namers(*mind, *by, at, &change.name)
                        .into_iter()
                        .map(|k| (k, Priority::Change)),
                ),
                Route::Namespace => wakes.extend(
                    self.owners(*mind)
                        .into_iter()
                        .filter(|k| *k.namespace == *change.namespace)
                        .map(|k| (k, Priority::Change)),
                ),
                Route::Every => {
                    wakes.extend(self.owners(*mind).into_iter().map(|k| (k, Priority::Change)))
                }
            }
        }
        wakes
    }
}
