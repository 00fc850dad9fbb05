//! For how long the tables of users keep tombstones (`gc_grace_seconds`).

use crate::repair::Schema;

/// Keyspaces of the servers themselves, Cassandra's and ScyllaDB's: deleted rows of theirs
/// are no users' data.
const SYSTEM: [&str; 9] = [
    "system",
    "system_auth",
    "system_distributed",
    "system_distributed_everywhere",
    "system_replicated_keys",
    "system_schema",
    "system_traces",
    "system_views",
    "system_virtual_schema",
];

/// The smallest of all tables of users; `None` where there is no such table. A table
/// with 0 keeps none: whoever sets that deletes nothing.
pub fn smallest(schema: &Schema) -> Option<u32> {
    let of_users = schema.keyspaces.iter().filter(|(name, _)| !SYSTEM.contains(&name.as_str()));
    let tables = of_users.flat_map(|(_, keyspace)| keyspace.tables.values());
    tables.map(|table| table.grace).filter(|grace| *grace > 0).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repair::schema::{Keyspace, Table};

    fn of(tables: &[(&str, u32)]) -> Option<u32> {
        let mut schema = Schema::default();
        for (number, (keyspace, grace)) in tables.iter().enumerate() {
            let table = Table { id: number.to_string(), grace: *grace };
            let keyspace: &mut Keyspace = schema.keyspaces.entry((*keyspace).into()).or_default();
            keyspace.tables.insert(format!("t{number}"), table);
        }
        smallest(&schema)
    }

    #[test]
    fn the_smallest_of_the_tables_of_users_counts() {
        let system = [("system_schema", 604_800), ("system_distributed", 60)];
        assert_eq!(of(&system), None);
        let shop = [("shop", 864_000), ("shop", 0), ("log", 14_400), system[1]];
        assert_eq!(of(&shop), Some(14_400));
        assert_eq!(of(&[("systems", 3600)]), Some(3600), "a keyspace of users");
    }
}
