//! What the tries of one task have finished, so that the next one goes on after it.

use super::{Item, Notes};
use palladion_api::ids::Uid;
use palladion_api::task::KeyspaceResult;
use serde::{Deserialize, Serialize};

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
}

impl Finished {
    /// Nothing yet.
    pub(super) fn none_of(task: Uid) -> Self {
        Self { task, items: Vec::new(), keyspaces: Vec::new(), snapshot: None }
    }
}

impl Notes {
    /// Is this done already, by this try or an earlier one of the same task?
    pub fn has_finished(&self, task: &Uid, item: &Item) -> bool {
        let finished = self.finished.as_ref().filter(|f| f.task == *task);
        finished.is_some_and(|f| f.items.contains(item))
    }

    /// A snapshot is about to be taken.
    pub fn take_snapshot(&mut self, name: &str) {
        if let Some(finished) = &mut self.finished {
            finished.snapshot = Some(name.into());
        }
    }

    /// Did a try of this task begin to take this snapshot?
    pub fn has_taken(&self, task: &Uid, name: &str) -> bool {
        let finished = self.finished.as_ref().filter(|f| f.task == *task);
        finished.is_some_and(|f| f.snapshot.as_deref() == Some(name))
    }

    /// Is a keyspace done as a whole?
    pub fn has_finished_keyspace(&self, task: &Uid, keyspace: &str) -> bool {
        let finished = self.finished.as_ref().filter(|f| f.task == *task);
        finished.is_some_and(|f| f.keyspaces.iter().any(|k| k.name == keyspace))
    }
}
