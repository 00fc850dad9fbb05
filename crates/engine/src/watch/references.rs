//! Objects that owners refer to by name. Each is watched once, for as long as
//! an owner names it.

use crate::ids::FeedId;
use crate::queue::{Key, Priority, Wake};
use crate::request::Selection;
use crate::watch::project::Record;
use crate::watch::world::{Target, World};
use palladion_plan::{ObjectKey, Scope};
use std::collections::{BTreeMap, BTreeSet};

/// Objects of one owner at the most: each is a watch, and each watch a connection. Minds
/// refuse what names more; this is for the one that forgets to.
pub const MOST: usize = 256;

/// One object watched by name.
#[derive(Debug)]
struct Reference {
    feed: FeedId,
    owners: BTreeSet<Key>,
    record: Option<Record>,
}

/// All objects watched by name.
#[derive(Debug, Default)]
pub struct References {
    watched: BTreeMap<ObjectKey, Reference>,
}

/// Which feeds begin and which end when an owner's references change.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Turnover {
    /// To be started.
    pub begin: Vec<(FeedId, Selection)>,
    /// To be stopped.
    pub end: Vec<FeedId>,
}

impl References {
    /// The stored object.
    pub fn record(&self, key: &ObjectKey) -> Option<&Record> {
        self.watched.get(key)?.record.as_ref()
    }

    /// The feed that watches an object.
    pub fn feed(&self, key: &ObjectKey) -> Option<FeedId> {
        self.watched.get(key).map(|r| r.feed)
    }

    /// Who refers to it.
    pub fn owners(&self, key: &ObjectKey) -> Vec<Key> {
        self.watched.get(key).map(|r| r.owners.iter().cloned().collect()).unwrap_or_default()
    }

    /// Store what the object is now; `None` if it does not exist.
    pub fn put(&mut self, key: &ObjectKey, record: Option<Record>) -> Vec<Wake> {
        let Some(reference) = self.watched.get_mut(key) else {
            return Vec::new();
        };
        let print = |r: &Option<Record>| r.as_ref().map(|r| (r.uid.clone(), r.text.clone()));
        let changed = print(&reference.record) != print(&record);
        reference.record = record;
        if !changed {
            return Vec::new();
        }
        reference.owners.iter().map(|key| (key.clone(), Priority::Change)).collect()
    }
}

impl World {
    /// State what an owner refers to now. What is beyond [`MOST`] is not watched, and so not
    /// known.
    pub fn refer(&mut self, owner: &Key, wanted: &[ObjectKey]) -> Turnover {
        let mut turnover = Turnover::default();
        let wanted: BTreeSet<&ObjectKey> = wanted.iter().take(MOST).collect();
        for key in wanted.iter().copied() {
            if let Some(reference) = self.references.watched.get_mut(key) {
                reference.owners.insert(owner.clone());
                continue;
            }
            let selection = by_name(key);
            let feed = self.add_feed(selection.clone(), vec![Target::Reference(key.clone())]);
            let owners = BTreeSet::from([owner.clone()]);
            self.references.watched.insert(key.clone(), Reference { feed, owners, record: None });
            turnover.begin.push((feed, selection));
        }
        let World { references, feeds, .. } = self;
        references.watched.retain(|key, reference| {
            if !wanted.contains(&key) {
                reference.owners.remove(owner);
            }
            if reference.owners.is_empty() {
                feeds.remove(&reference.feed);
                turnover.end.push(reference.feed);
            }
            !reference.owners.is_empty()
        });
        turnover
    }
}

fn by_name(key: &ObjectKey) -> Selection {
    Selection {
        resource: key.resource,
        namespace: match key.resource.scope {
            Scope::Namespaced => Some(key.namespace.clone()),
            Scope::Cluster => None,
        },
        labels: String::new(),
        fields: format!("metadata.name={}", key.name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::MindId;
    use palladion_plan::Resource;

    const KIND: Resource = Resource::namespaced("", "v1", "ConfigMap", "configmaps");

    #[test]
    fn an_object_is_watched_once_and_for_as_long_as_an_owner_names_it() {
        let mut world = World::default();
        let object = ObjectKey::new(KIND, "n", "settings");
        let (a, b) = (Key::new(MindId(0), "n", "a"), Key::new(MindId(0), "n", "b"));
        let begun = world.refer(&a, std::slice::from_ref(&object)).begin;
        assert_eq!(begun.len(), 1);
        assert_eq!(begun[0].1.fields, "metadata.name=settings");
        assert_eq!(world.refer(&b, std::slice::from_ref(&object)), Turnover::default());
        assert_eq!(world.refer(&a, &[]), Turnover::default(), "b still names it");
        assert_eq!(world.refer(&b, &[]).end, vec![begun[0].0]);
        assert!(world.feeds.is_empty());
    }

    #[test]
    fn one_owner_opens_so_many_watches() {
        let mut world = World::default();
        let all: Vec<ObjectKey> =
            (0..20_000).map(|n| ObjectKey::new(KIND, "n", &format!("map-{n}"))).collect();
        let owner = Key::new(MindId(0), "n", "a");
        assert_eq!(world.refer(&owner, &all).begin.len(), MOST);
        assert_eq!(world.refer(&owner, &[]).end.len(), MOST);
    }
}
