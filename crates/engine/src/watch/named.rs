//! Objects that are found by name through another kind: a volume through the
//! claims that are bound to it. No index is kept: such objects change rarely,
//! and a scan of the text finds who names one.

use crate::ids::{MindId, ShelfId};
use crate::queue::Key;
use crate::watch::shelf::Entry;
use crate::watch::world::World;
use palladion_plan::{Object, Resource, Route};
use serde_json::Value;
use std::collections::BTreeSet;

impl World {
    /// The owners whose objects of the kind `by` name this object.
    pub(super) fn namers(&self, mind: MindId, by: Resource, at: &str, name: &str) -> Vec<Key> {
        let mut keys = Vec::new();
        for (shelf, label) in self.labelled_shelves(mind, by) {
            let content = &self.shelves[shelf];
            let position = content.labels.iter().position(|l| *l == label);
            let naming = content
                .all()
                .filter(|e| e.record.text.contains(name))
                .filter(|e| name_at(&e.record.object(), at).as_deref() == Some(name));
            let owner = |e: &Entry| {
                let value = e.record.labels.get(position?)?.clone()?;
                Some(Key::new(mind, &e.record.namespace, &value))
            };
            keys.extend(naming.filter_map(owner));
        }
        keys
    }

    /// The names that an owner's objects of the kind `by` name.
    pub(crate) fn named(&self, key: &Key, by: Resource, at: &str) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for (shelf, label) in self.labelled_shelves(key.mind, by) {
            let entries = self.shelves[shelf].labelled(&key.namespace, label, &key.name);
            names.extend(entries.filter_map(|e| name_at(&e.record.object(), at)));
        }
        names
    }

    fn labelled_shelves(
        &self,
        mind: MindId,
        by: Resource,
    ) -> impl Iterator<Item = (ShelfId, &'static str)> + '_ {
        let watches = self.subscribers.get(mind.0).map(|s| s.watches.as_slice());
        watches
            .unwrap_or_default()
            .iter()
            .filter(move |(_, resource, _)| *resource == by)
            .filter_map(|(shelf, _, route)| match route {
                Route::Label(label) => Some((*shelf, *label)),
                Route::Owner | Route::Namespace | Route::Every | Route::Named { .. } => None,
            })
    }
}

fn name_at(object: &Object, at: &str) -> Option<String> {
    let name = object.at(at).and_then(Value::as_str);
    name.filter(|n| !n.is_empty()).map(str::to_string)
}
