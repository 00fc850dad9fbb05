//! The schema of a restore into a ring that runs: which tables are restored, what the ring has
//! under their names, and what is created before the rows are loaded and after. Both schemas are
//! texts of `DESCRIBE SCHEMA WITH INTERNALS`. Who asks for them, and who executes what comes out,
//! is no concern of this module.

mod choose;
mod compare;
mod create;
mod cursor;
mod described;
mod finish;
mod functions;
mod kinds;
mod name;
mod needs;
mod options;
mod parts;
mod rewrite;
mod table;
#[cfg(test)]
mod tests;
mod token;

pub use crate::words::schema::{NotChosen, Unread};
pub use choose::chosen;
pub use compare::there;
pub use create::{altering, creating};
pub use described::Described;
pub use finish::finishing;
pub use name::{TableName, is_system};

use palladion_api::restore::RestoreTable;

/// What is restored, a keyspace or a table, and where to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// `keyspace` or `keyspace.table`, in the backup.
    pub from: String,
    /// The same in the ring; none: as in the backup.
    pub to: Option<String>,
}

impl From<&RestoreTable> for Mapping {
    fn from(table: &RestoreTable) -> Self {
        Self { from: table.from.clone(), to: table.to.clone() }
    }
}

/// One table that is restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// In the backup.
    pub from: TableName,
    /// In the ring.
    pub to: TableName,
    /// In the backup.
    pub gc_grace_seconds: u64,
}

/// What the ring has under the name of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum There {
    /// Nothing.
    Absent,
    /// A table, or something else of that name, which `differs` says.
    Table {
        /// In the ring.
        gc_grace_seconds: u64,
        /// Why files of the backup cannot be loaded into it.
        differs: Option<String>,
        /// The name of an index that is attached to its files (SAI, SASI).
        storage_attached: Option<String>,
    },
}

/// The IDs of tables that are created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ids {
    /// The ring gives them new ones.
    New,
    /// They have those of the backup: a commit log names tables by them.
    Kept,
}

/// A statement to execute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// `keyspace shop`, `type shop.address`, `table shop.orders`.
    pub about: String,
    /// Without a semicolon at its end.
    pub cql: String,
}
