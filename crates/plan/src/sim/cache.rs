//! What an operator process knows: one feed per watch, each following the log
//! of changes at its own pace. A feed that lags or is cut shows the past.

use super::store::{Change, Store};
use crate::mind::{Keep, Route, Watch};
use crate::object::{Meta, Object, ObjectKey, Resource};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How a feed follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Feed {
    /// Every change at once.
    #[default]
    Live,
    /// Nothing new comes, and nobody notices.
    Stale,
    /// The connection is known to be lost.
    Cut,
}

#[derive(Clone, Debug)]
struct Shelf {
    watch: Watch,
    feed: Feed,
    /// Changes of the log that were taken in.
    position: usize,
    /// resourceVersion up to which everything was seen.
    version: u64,
    objects: BTreeMap<ObjectKey, Arc<Object>>,
}

/// Objects of a kind, or why they are not known.
pub type Known = Result<Vec<Arc<Object>>, String>;

/// All feeds of one process.
#[derive(Clone, Debug)]
pub struct Cache {
    shelves: Vec<Shelf>,
}

impl Cache {
    /// A fresh process lists everything as it is.
    pub fn new(watches: Vec<Watch>) -> Self {
        let shelf = |watch| Shelf {
            watch,
            feed: Feed::Live,
            position: 0,
            version: 0,
            objects: BTreeMap::new(),
        };
        Cache { shelves: watches.into_iter().map(shelf).collect() }
    }

    /// Set how the feed of a kind follows.
    pub fn set_feed(&mut self, resource: Resource, feed: Feed) {
        for shelf in self.shelves.iter_mut().filter(|s| s.watch.resource == resource) {
            shelf.feed = feed;
        }
    }

    /// Take in what has happened. True = something that is kept has changed.
    pub fn follow(&mut self, store: &Store) -> bool {
        let mut changed = false;
        for shelf in self.shelves.iter_mut().filter(|s| s.feed == Feed::Live) {
            for change in store.log().get(shelf.position..).unwrap_or_default() {
                shelf.version = change.version;
                changed |= shelf.take(change);
            }
            shelf.position = store.log().len();
        }
        changed
    }

    /// Has the feed of a kind seen this resourceVersion?
    pub fn has_seen(&self, resource: Resource, version: u64) -> bool {
        self.shelves.iter().filter(|s| s.watch.resource == resource).all(|s| s.version >= version)
    }

    /// An object as this process knows it.
    pub fn get(&self, key: &ObjectKey) -> Option<&Arc<Object>> {
        self.shelves.iter().find_map(|s| s.objects.get(key))
    }

    /// Owners of a kind.
    pub fn owners(&self, resource: Resource) -> Vec<ObjectKey> {
        self.shelves
            .iter()
            .filter(|s| s.watch.resource == resource && s.watch.route == Route::Owner)
            .flat_map(|s| s.objects.keys().cloned())
            .collect()
    }

    fn routed_from(&self, shelf: &Shelf, owner: &Object) -> Vec<Arc<Object>> {
        let Route::Named { by, at } = shelf.watch.route else {
            return shelf.routed(owner);
        };
        let naming = self.shelves.iter().filter(|s| s.watch.resource == by);
        let names: Vec<String> = naming
            .flat_map(|s| s.routed(owner))
            .filter_map(|o| o.str_at(at).map(str::to_string))
            .collect();
        let all = shelf.objects.values();
        all.filter(|o| names.contains(&o.meta.name)).cloned().collect()
    }

    /// What is routed to an owner, by kind; `Err` where a feed is cut.
    pub fn routed(&self, owner: &Object) -> Vec<(Resource, Known)> {
        self.shelves
            .iter()
            .map(|shelf| {
                let known = match shelf.feed {
                    Feed::Live | Feed::Stale => Ok(self.routed_from(shelf, owner)),
                    Feed::Cut => {
                        Err(format!("the watch of {} is lost", shelf.watch.resource.plural))
                    }
                };
                (shelf.watch.resource, known)
            })
            .collect()
    }
}

impl Shelf {
    fn take(&mut self, change: &Change) -> bool {
        if change.key.resource != self.watch.resource {
            return false;
        }
        let selected = change.object.as_ref().filter(|o| is_selected(o, self.watch.selector));
        match selected {
            None => self.objects.remove(&change.key).is_some(),
            Some(object) => {
                let new = Arc::new(project(object, self.watch.keep));
                let old = self.objects.insert(change.key.clone(), new.clone());
                old.is_none_or(|old| !is_alike(&old, &new))
            }
        }
    }

    fn routed(&self, owner: &Object) -> Vec<Arc<Object>> {
        let all = self.objects.values();
        match self.watch.route {
            Route::Every => all.cloned().collect(),
            Route::Namespace => {
                all.filter(|o| o.meta.namespace == owner.meta.namespace).cloned().collect()
            }
            // Found through another shelf.
            Route::Named { .. } => Vec::new(),
            Route::Owner => all
                .filter(|o| {
                    o.meta.namespace == owner.meta.namespace && o.meta.name == owner.meta.name
                })
                .cloned()
                .collect(),
            Route::Label(label) => all
                .filter(|o| o.meta.namespace == owner.meta.namespace)
                .filter(|o| o.meta.labels.get(label) == Some(&owner.meta.name))
                .cloned()
                .collect(),
        }
    }
}

fn is_alike(old: &Object, new: &Object) -> bool {
    let mut same = old.meta.clone();
    same.resource_version.clone_from(&new.meta.resource_version);
    same == new.meta && old.body == new.body
}

fn is_selected(object: &Value, selector: &str) -> bool {
    selector.split(',').filter(|part| !part.is_empty()).all(|part| match part.split_once('=') {
        Some((key, value)) => object["metadata"]["labels"][key] == value,
        None => object["metadata"]["labels"].get(part).is_some(),
    })
}

/// An object as a watch keeps it.
pub fn project(object: &Value, keep: Keep) -> Object {
    let mut body = match keep {
        Keep::Everything => object.clone(),
        Keep::Only(pointers) => only(object, pointers),
        Keep::Projection(projection) => projection(object),
    };
    if let Some(map) = body.as_object_mut() {
        for field in ["apiVersion", "kind", "metadata"] {
            map.remove(field);
        }
    }
    let meta: Meta = serde_json::from_value(object["metadata"].clone()).unwrap_or_default();
    Object { meta, body }
}

fn only(object: &Value, pointers: &[&str]) -> Value {
    let mut kept = Value::Object(Map::new());
    for pointer in pointers {
        let Some(value) = object.pointer(pointer) else {
            continue;
        };
        let mut at = &mut kept;
        for key in pointer.split('/').skip(1) {
            if !at.is_object() {
                *at = json!({});
            }
            at = &mut at[key];
        }
        *at = value.clone();
    }
    kept
}
