//! What the tries of one task have finished, so that the next one goes on after it.

use super::{Item, Notes};
use palladion_api::ids::Uid;
use palladion_api::task::KeyspaceResult;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the tries of one task have finished on this volume.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Finished {
    /// The task.
    pub task: Uid,
    /// What is done of it.
    #[serde(default)]
    pub items: Vec<Item>,
    /// Keyspaces that are done as a whole.
    #[serde(default)]
    pub keyspaces: Vec<KeyspaceResult>,
    /// The snapshot that one of them began to take: what there is of it is theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// Copies that keyspaces had in the datacenter of the task before it first changed them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub copies_before: BTreeMap<String, u32>,
}

impl Finished {
    /// Nothing yet.
    pub(super) fn none_of(task: Uid) -> Self {
        let copies_before = BTreeMap::new();
        Self { task, items: Vec::new(), keyspaces: Vec::new(), snapshot: None, copies_before }
    }
}

/// Tasks that others came between while one of their members was away, of which it is remembered
/// what they have finished.
const BETWEEN: usize = 8;

impl Notes {
    /// What earlier tries of this task have finished, which is the one to go on with.
    pub(super) fn finished_of(&mut self, task: &Uid) -> &Finished {
        if let Some(other) = self.finished.take_if(|finished| finished.task != *task) {
            self.between.insert(0, other);
        }
        let earlier = self.between.iter().position(|finished| finished.task == *task);
        let earlier = earlier.map(|index| self.between.remove(index));
        self.between.truncate(BETWEEN);
        self.finished
            .get_or_insert_with(|| earlier.unwrap_or_else(|| Finished::none_of(task.clone())))
    }

    /// Is this done already, by this try or an earlier one of the same task?
    pub fn has_finished(&self, task: &Uid, item: &Item) -> bool {
        let finished = self.finished.as_ref().filter(|f| f.task == *task);
        finished.is_some_and(|f| f.items.contains(item))
    }

    /// A snapshot is about to be taken. What others had under this name is gone.
    pub fn take_snapshot(&mut self, name: &str) {
        self.forget_snapshot(name);
        if let Some(finished) = &mut self.finished {
            finished.snapshot = Some(name.into());
        }
    }

    /// A snapshot is about to be cleared, whoever has taken it: what comes to be there under this
    /// name is nobody's that was interrupted.
    pub fn forget_snapshot(&mut self, name: &str) {
        for earlier in self.between.iter_mut().filter(|f| f.snapshot.as_deref() == Some(name)) {
            earlier.snapshot = None;
            earlier.keyspaces.clear();
        }
    }

    /// Did a try of this task begin to take this snapshot?
    pub fn has_taken(&self, task: &Uid, name: &str) -> bool {
        let finished = self.finished.as_ref().filter(|f| f.task == *task);
        finished.is_some_and(|f| f.snapshot.as_deref() == Some(name))
    }

    /// A keyspace is about to be given other copies. What an earlier try has noted stays: its
    /// statement may have been carried out.
    pub fn change_copies(&mut self, keyspace: &str, before: u32) {
        if let Some(finished) = &mut self.finished {
            finished.copies_before.entry(keyspace.into()).or_insert(before);
        }
    }

    /// The copies that a keyspace had before a try of this task was about to change them.
    pub fn copies_before(&self, task: &Uid, keyspace: &str) -> Option<u32> {
        let finished = self.finished.as_ref().filter(|f| f.task == *task);
        finished?.copies_before.get(keyspace).copied()
    }

    /// Is a keyspace done as a whole?
    pub fn has_finished_keyspace(&self, task: &Uid, keyspace: &str) -> bool {
        let finished = self.finished.as_ref().filter(|f| f.task == *task);
        finished.is_some_and(|f| f.keyspaces.iter().any(|k| k.name == keyspace))
    }
}
