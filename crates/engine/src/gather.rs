//! The second room: the facts for one decision, all of one moment. A read that
//! failed is `Unknown`, never empty.

use crate::ids::ShelfId;
use crate::memory::Memory;
use crate::queue::Key;
use crate::watch::shelf::Entry;
use crate::watch::touch::Knowledge;
use crate::watch::world::World;
use palladion_api::ids::Uid;
use palladion_plan::{Object, ObjectKey, Observed, Resource, Route, Snapshot};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The state of an owner as far as deciding about it goes.
#[derive(Debug)]
pub enum Owner {
    /// It does not exist.
    Gone,
    /// It exists.
    Present(Arc<Object>),
    /// Not known yet, or not known any more.
    Unclear,
}

/// The owner of a key.
pub fn owner(world: &World, key: &Key) -> Owner {
    let shelf = world.subscribers.get(key.mind.0).and_then(|s| s.owner_shelf);
    let Some(shelf) = shelf else {
        return Owner::Unclear;
    };
    match world.knowledge(shelf, &key.namespace) {
        Knowledge::Pending | Knowledge::Unknown { .. } => Owner::Unclear,
        Knowledge::Known { .. } => match world.owner(key) {
            Some(Ok(object)) => Owner::Present(object),
            // Said in the log when it arrived; its next version wakes the key.
            Some(Err(_)) => Owner::Unclear,
            None => Owner::Gone,
        },
    }
}

/// What every snapshot of this process has alike.
#[derive(Clone, Debug)]
pub struct Constants {
    /// Epoch of the leadership.
    pub epoch: i64,
    /// Defaults that the process was started with.
    pub settings: Arc<BTreeMap<String, String>>,
}

/// The snapshot for a decision about `owner`; `None` as long as a first list is
/// on its way: nothing is decided on half a picture.
pub fn snapshot(
    world: &World,
    key: &Key,
    owner: Arc<Object>,
    memory: &Memory,
    constants: &Constants,
) -> Option<Snapshot> {
    let mut objects: BTreeMap<Resource, Observed<Vec<Arc<Object>>>> = BTreeMap::new();
    for (shelf, resource, route) in &world.subscribers.get(key.mind.0)?.watches {
        let observed = routed(world, *shelf, *route, key)?;
        let joined = match objects.remove(resource) {
            Some(other) => join(other, observed),
            None => observed,
        };
        objects.insert(*resource, joined);
    }
    let mut references = BTreeMap::new();
    for reference in &memory.references {
        references.insert(reference.clone(), referred(world, reference)?);
    }
    Some(Snapshot {
        now: jiff::Timestamp::now(),
        epoch: constants.epoch,
        nonce: palladion_api::ids::Nonce::new(uuid::Uuid::new_v4()),
        owner,
        objects,
        references,
        probes: BTreeMap::new(),
        exchanges: BTreeMap::new(),
        lock: palladion_plan::LockFact::Unasked,
        failure: memory.failure.clone(),
        settings: Arc::clone(&constants.settings),
    })
}

/// The objects of a shelf that concern the owner.
fn routed(
    world: &World,
    shelf: ShelfId,
    route: Route,
    key: &Key,
) -> Option<Observed<Vec<Arc<Object>>>> {
    let content = &world.shelves[shelf];
    let namespace = match route {
        Route::Owner | Route::Label(_) | Route::Namespace => &*key.namespace,
        Route::Every | Route::Named { .. } => "",
    };
    let as_of = match world.knowledge(shelf, namespace) {
        Knowledge::Pending => return None,
        Knowledge::Unknown { why } => return Some(Observed::Unknown { why }),
        Knowledge::Known { as_of } => as_of,
    };
    let kind = content.resource.kind;
    let read = |entry: &Entry| entry.record.read(kind);
    let value: Result<Vec<Arc<Object>>, String> = match route {
        Route::Owner => content.get(&key.namespace, &key.name).into_iter().map(read).collect(),
        Route::Label(label) => {
            content.labelled(&key.namespace, label, &key.name).map(read).collect()
        }
        Route::Named { by, at } => {
            let names = world.named(key, by, at);
            names.iter().filter_map(|name| content.get("", name)).map(read).collect()
        }
        Route::Namespace => content.in_namespace(&key.namespace).map(read).collect(),
        Route::Every => content.all().map(read).collect(),
    };
    Some(match value {
        Ok(value) => Observed::Known { value, as_of },
        Err(why) => Observed::Unknown { why },
    })
}

fn referred(world: &World, key: &ObjectKey) -> Option<Observed<Option<Arc<Object>>>> {
    let feed = world.feeds.get(&world.references.feed(key)?)?;
    match feed.touch.knowledge(tokio::time::Instant::now()) {
        Knowledge::Pending => None,
        Knowledge::Unknown { why } => Some(Observed::Unknown { why }),
        Knowledge::Known { as_of } => {
            let record = world.references.record(key);
            Some(match record.map(|r| r.read(key.resource.kind)).transpose() {
                Ok(value) => Observed::Known { value, as_of },
                Err(why) => Observed::Unknown { why },
            })
        }
    }
}

/// Two watches of one kind make one list; it is as certain as the less certain.
fn join(
    a: Observed<Vec<Arc<Object>>>,
    b: Observed<Vec<Arc<Object>>>,
) -> Observed<Vec<Arc<Object>>> {
    match (a, b) {
        (Observed::Unknown { why }, _) | (_, Observed::Unknown { why }) => {
            Observed::Unknown { why }
        }
        (Observed::Known { mut value, as_of }, Observed::Known { value: more, as_of: other }) => {
            let known: Vec<Uid> = value.iter().map(|o| o.meta.uid.clone()).collect();
            value.extend(more.into_iter().filter(|o| !known.contains(&o.meta.uid)));
            Observed::Known { value, as_of: as_of.min(other) }
        }
    }
}
