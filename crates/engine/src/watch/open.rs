//! Which owners have open work, by what they say themselves: the queue lets
//! these go first.

use crate::ids::{MindId, ShelfId};
use crate::queue::{Key, Work};
use crate::watch::world::World;
use serde_json::Value;

impl World {
    /// An owner has come, changed or gone: note for the queue whether it has open work.
    pub(super) fn mark(&mut self, shelf: ShelfId, namespace: &str, name: &str) {
        for (number, subscriber) in self.subscribers.iter().enumerate() {
            if subscriber.owner_shelf != Some(shelf) || subscriber.open_work.is_empty() {
                continue;
            }
            let owner = self.shelves[shelf].get(namespace, name).map(|e| e.record.value());
            let has_open = |at: &&str| {
                let value = owner.as_ref().and_then(|owner| owner.pointer(at));
                value.is_some_and(|value| *value != Value::Null)
            };
            let is_begun = subscriber.open_work.iter().any(has_open);
            let work = if is_begun { Work::Begun } else { Work::New };
            self.marks.push((Key::new(MindId(number), namespace, name), work));
        }
    }
}
