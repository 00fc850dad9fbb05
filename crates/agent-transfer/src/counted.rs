//! How many bytes an upload has cost, over all its tries: what the operator adds up.

use palladion_backup::take::Taken;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How many bytes went to the store, and how many were there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Counted {
    /// Bytes of objects that were sent.
    pub sent_bytes: u64,
    /// Bytes of files that an earlier backup had sent.
    pub reused_bytes: u64,
}

impl Counted {
    /// Of one SSTable. Files that are packed share an object.
    pub fn of(taken: &Taken) -> Self {
        let pieces = taken.sent.iter().flat_map(|file| &file.pieces);
        let objects: BTreeMap<&str, u64> =
            pieces.map(|piece| (piece.object.as_str(), piece.stored_bytes)).collect();
        Self {
            sent_bytes: objects.values().sum(),
            reused_bytes: taken.reused.iter().map(|file| file.bytes).sum(),
        }
    }

    /// And those of another one.
    pub fn add(&mut self, other: Self) {
        self.sent_bytes += other.sent_bytes;
        self.reused_bytes += other.reused_bytes;
    }
}
