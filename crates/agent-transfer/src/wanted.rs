//! What of a backup is restored, by its schema and by what was taken; and why it cannot be, which is
//! known before anything is changed.

use crate::orders::restore::{Amounts, Read, Roles};
use crate::words::stopped::Stopped;
use palladion_api::restore::RestoreTable;
use palladion_backup::keyspaces::{AUTH, Lacking};
use palladion_backup::schema::{Chosen, Described, Ids, Mapping, TableName, chosen, creating};
use std::collections::{BTreeMap, BTreeSet};

/// So many tables one restore takes: what is told of them has room in the status of a member.
pub const MOST_TABLES: usize = 512;

/// The tables that are restored, in the backup and in the ring.
///
/// # Errors
/// The schema of the backup cannot be read, or does not have them; or they are too many.
pub fn choose(backup: &Described, tables: &[RestoreTable]) -> Result<Vec<Chosen>, Stopped> {
    let chosen = chosen(backup, &mapping(tables)).map_err(|why| Stopped::NotChosen { why })?;
    match chosen.len() <= MOST_TABLES {
        true => Ok(chosen),
        false => {
            let (tables, most) = (chosen.len() as u64, MOST_TABLES as u64);
            Err(Stopped::TooManyTables { tables, most })
        }
    }
}

/// As the schema takes it.
pub fn mapping(tables: &[RestoreTable]) -> Vec<Mapping> {
    tables.iter().map(Mapping::from).collect()
}

/// The schema of the backup.
///
/// # Errors
/// It has what is not known.
pub fn described(text: &str) -> Result<Described, Stopped> {
    Described::parse(text).map_err(|why| Stopped::SchemaUnread { why })
}

/// The keyspaces that a backup has to have, whatever its schema shows.
pub(crate) fn keyspaces(backup: &Described, chosen: &[Chosen], order: &Read) -> BTreeSet<String> {
    let of_tables = chosen.iter().map(|one| one.from.keyspace.clone());
    let named = order.tables.iter().filter_map(|one| one.from.split('.').next());
    let mut all: BTreeSet<String> = of_tables.chain(named.map(str::to_string)).collect();
    if order.amounts == Amounts::Ring {
        all.extend(backup.keyspaces());
    }
    if order.roles == Roles::Load {
        all.insert(AUTH.to_string());
    }
    all
}

/// As it is said of what is restored.
pub(crate) fn lacks(lacking: Lacking, order: &Read) -> Stopped {
    match (lacking, order.amounts) {
        (Lacking::NotTaken { keyspaces, has }, Amounts::Ring) => {
            Stopped::RingNotTaken { keyspaces, has }
        }
        (Lacking::NotTaken { keyspaces, has }, Amounts::Sum | Amounts::Leave) => {
            Stopped::NotTaken { keyspaces, has }
        }
        (Lacking::Unknown { keyspaces }, _) => Stopped::NotKnownTaken { keyspaces },
    }
}

/// The tables of a ring that begins with the backup: all of it can be created where there is
/// nothing. That is known before one starts.
pub(crate) fn of_a_ring(
    backup: &Described,
    tables: &[RestoreTable],
) -> Result<Vec<Chosen>, Stopped> {
    let chosen = choose(backup, tables).map_err(|why| match why {
        Stopped::TooManyTables { tables, most } => Stopped::RingOfTooManyTables { tables, most },
        other => other,
    })?;
    let (nothing, same, set) = (Described::default(), BTreeMap::new(), (None, Ids::Kept));
    match creating(backup, &nothing, &chosen, &mapping(tables), &same, set) {
        Ok(_) => Ok(chosen),
        Err(why) => Err(Stopped::NotChosen { why }),
    }
}

/// Why no ring can begin with a backup of this schema, if none can: it is said when the backup is
/// taken, and not only when somebody needs it.
pub fn unfit(text: &[u8]) -> Option<Stopped> {
    let read = String::from_utf8_lossy(text);
    described(&read).and_then(|backup| of_a_ring(&backup, &[])).err()
}

/// The tables, and what they are in the ring.
pub(crate) fn targets(chosen: Vec<Chosen>) -> BTreeMap<TableName, TableName> {
    chosen.into_iter().map(|table| (table.from, table.to)).collect()
}

/// The last two folders of where the files of a table go: a server reads in them whose they are.
pub(crate) fn folder(
    tables: &BTreeMap<TableName, TableName>,
    keyspace: &str,
    table: &str,
) -> Option<String> {
    let name = TableName { keyspace: keyspace.to_string(), table: table.to_string() };
    tables.get(&name).map(|to| format!("{}/{}", to.keyspace, to.table))
}
