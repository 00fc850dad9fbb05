//! Rules of restores.

use kube_core::{Reason, Rule};

use super::{fixed, must};

/// One backup is restored.
pub fn source_is_one() -> Rule {
    must(
        "has(self.backup) != has(self.store)",
        "a restore has one backup: set `backup`, or `store` with `repositoryID` and `backupID`",
    )
}

/// A backup in a store has a name there.
pub fn store_comes_with_ids() -> Rule {
    must(
        "!has(self.store) || (has(self.repositoryID) && has(self.backupID))",
        "`store` comes with `repositoryID` and `backupID`: `kubectl palladion backup list` shows both",
    )
    .field_path(".store")
}

/// Of a `CassandraBackup` they are known.
pub fn ids_come_with_a_store() -> Rule {
    must(
        "has(self.store) || !(has(self.repositoryID) || has(self.backupID) || has(self.manifestHash) || has(self.encryption))",
        "`repositoryID`, `backupID`, `manifestHash` and `encryption` go with `store`: those of a CassandraBackup are in its status",
    )
}

/// Nobody loads a keyspace into one table.
pub fn tables_become_tables() -> Rule {
    must(
        "!has(self.to) || self.from.contains('.') == self.to.contains('.')",
        "`from` and `to` are both keyspaces, or both tables: write `to: keyspace.table` for a table, and `to: keyspace` for a keyspace",
    )
    .field_path(".to")
}

/// A ring that begins with a backup has nothing that could be chosen or kept.
pub fn a_whole_ring_is_all_of_it() -> Rule {
    must(
        "self.mode != 'WholeRing' || (!has(self.tables) && !has(self.confirm) && self.existing == 'Refuse')",
        "`mode: WholeRing` restores all tables into a ring that has none: remove `tables`, `existing` and `confirm`, or use `mode: Tables`",
    )
}

/// They belong to a ring, not to its tables.
pub fn tables_come_without_roles() -> Rule {
    must(
        "self.mode != 'Tables' || !(has(self.auth) || has(self.repair))",
        "`auth` and `repair` go with `mode: WholeRing`: remove them",
    )
}

/// Commit logs are replayed by the members that had the tokens, and what one of them lacks comes
/// by the repair.
pub fn a_point_in_time_is_of_a_ring() -> Rule {
    must(
        "!has(self.pointInTime) || (self.mode == 'WholeRing' && (!has(self.repair) || self.repair == 'After'))",
        "`pointInTime` goes with `mode: WholeRing` and `repair: After`: remove it, or set these",
    )
    .field_path(".pointInTime")
}

/// What a restore does has begun, perhaps.
pub fn is_fixed(field: &str) -> Rule {
    fixed(
        format!(
            "has(oldSelf.{field}) == has(self.{field}) && (!has(self.{field}) || oldSelf.{field} == self.{field})"
        ),
        format!("'`{field}` of a restore is immutable: abort this restore and create another'"),
    )
    .field_path(format!(".{field}"))
}

/// What was given up stays so.
pub fn abort_is_final() -> Rule {
    must("!oldSelf.abort || self.abort", "an aborted restore cannot be resumed: create another one")
        .reason(Reason::FieldValueForbidden)
        .field_path(".abort")
}
