//! Names: as they are, without quotes, and as CQL writes them.

use std::fmt;

/// `keyspace.table`, each as it is: without quotes, in its own case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TableName {
    /// The keyspace.
    pub keyspace: String,
    /// The table.
    pub table: String,
}

impl TableName {
    /// Reads `keyspace.table`. None if it is not two names of letters, digits and `_`.
    pub fn parse(text: &str) -> Option<Self> {
        let (keyspace, table) = text.split_once('.')?;
        (is_name(keyspace) && is_name(table)).then(|| Self::of(keyspace, table))
    }

    /// As a statement names it: `shop."Orders"`.
    pub fn cql(&self) -> String {
        format!("{}.{}", quoted(&self.keyspace), quoted(&self.table))
    }

    pub(super) fn of(keyspace: &str, table: &str) -> Self {
        Self { keyspace: keyspace.to_owned(), table: table.to_owned() }
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.keyspace, self.table)
    }
}

/// Cassandra allows letters, digits and `_` in the names of keyspaces and tables.
pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_')
}

/// Keyspaces that the server makes for itself.
pub fn is_system(keyspace: &str) -> bool {
    keyspace == "system" || keyspace.starts_with("system_")
}

/// Reserved in any of 4.0, 4.1 and 5.0 (`ReservedKeywords.java`): quoted where they are names.
const RESERVED: &str = "add allow alter and apply asc authorize batch begin between by columnfamily create \
    default delete desc describe drop entries execute from full grant if in index \
    infinity insert into is keyspace limit materialized mbean mbeans modify nan \
    norecursive not null of on or order password primary rename replace revoke schema \
    select select_masked set table to token truncate unlogged unmask unset update use \
    using view where with";

/// A name as CQL writes it: in quotes if it would be read otherwise without.
pub(super) fn quoted(name: &str) -> String {
    let mut bytes = name.bytes();
    let plain = bytes.next().is_some_and(|c| c.is_ascii_lowercase())
        && bytes.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_');
    if plain && !RESERVED.split(' ').any(|word| word == name) {
        name.to_owned()
    } else {
        format!("\"{}\"", name.replace('"', "\"\""))
    }
}
