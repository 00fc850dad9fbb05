//! The repository of the ring's backups, as far as it is known.

use super::Facts;
use std::collections::BTreeSet;

impl Facts<'_> {
    /// The repository that the ring has, if that is known and all volumes agree.
    pub fn repository(&self) -> Option<String> {
        let all = self.repositories();
        all.first().filter(|_| all.len() == 1).map(ToString::to_string)
    }

    /// As it is on record, and as it is noted on the volumes.
    pub fn repositories(&self) -> BTreeSet<&str> {
        let noted = self.members.values().filter_map(|m| m.status.repository_id.as_deref());
        let recorded = self.status.backup.as_ref().map(|backup| backup.repository_id.as_str());
        noted.chain(recorded).collect()
    }
}
