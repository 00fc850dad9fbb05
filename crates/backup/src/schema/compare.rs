//! Whether files of a table of the backup can be loaded into the table that the ring has: they
//! are read by its columns, and what is written there by other ones is lost or comes back.

use super::described::Described;
use super::name::TableName;
use super::needs::needed;
use super::table::Table;
use super::{Chosen, There};
use crate::words::schema::{Differs, Kind, Storage};
use palladion_api::words::{Names, Quoted};
use std::collections::BTreeSet;

/// As much as `status` of an object holds: names and types have no limit of their own.
const SHOWN: usize = 512;

/// What the ring has under the name of a chosen table.
pub fn there(backup: &Described, ring: &Described, chosen: &Chosen) -> There {
    let (gc_grace_seconds, differs) =
        match (ring.tables.get(&chosen.to), ring.views.get(&chosen.to)) {
            (None, None) => return There::Absent,
            (Some(table), _) => {
                let of_backup = backup.tables.get(&chosen.from);
                let differs = of_backup.and_then(|of_backup| {
                    table_differs(of_backup, table)
                        .or_else(|| types_differ(backup, ring, chosen, of_backup))
                });
                (table.gc_grace_seconds, differs)
            }
            (None, Some(view)) => (view.gc_grace_seconds, Some(Differs::View)),
        };
    let attached = ring.indexes.iter().find(|i| i.is_attached && i.table == chosen.to);
    There::Table {
        gc_grace_seconds,
        differs: differs.map(|differs| differs.to_string().chars().take(SHOWN).collect()),
        storage_attached: attached.map(|index| index.name.clone()),
    }
}

fn table_differs(backup: &Table, ring: &Table) -> Option<Differs> {
    keys_differ(backup, ring)
        .or_else(|| backup.columns.keys().find_map(|column| column_differs(backup, ring, column)))
        .or_else(|| backup.dropped.keys().find_map(|column| drop_differs(backup, ring, column)))
}

fn keys_differ(backup: &Table, ring: &Table) -> Option<Differs> {
    let storage = |table: &Table| if table.is_compact { Storage::Compact } else { Storage::Usual };
    let clustering = |table: &Table| Names::of(table.clustering.iter().map(|(column, _)| column));
    if backup.is_compact != ring.is_compact {
        return Some(Differs::Storage { ring: storage(ring), backup: storage(backup) });
    }
    if backup.partition != ring.partition {
        let (ring, backup) = (Names::of(&ring.partition), Names::of(&backup.partition));
        return Some(Differs::PartitionKey { ring, backup });
    }
    if !backup
        .clustering
        .iter()
        .map(|(column, _)| column)
        .eq(ring.clustering.iter().map(|(c, _)| c))
    {
        return Some(Differs::ClusteringKey { ring: clustering(ring), backup: clustering(backup) });
    }
    let mut pairs = backup.clustering.iter().zip(&ring.clustering);
    let ((column, of_backup), (_, of_ring)) = pairs.find(|(one, other)| one.1 != other.1)?;
    Some(Differs::Order {
        column: Quoted(column.clone()),
        ring: of_ring.clone(),
        backup: of_backup.clone(),
    })
}

/// What part a column of a table has.
fn part(table: &Table, column: &str, is_static: bool) -> Kind {
    if table.partition.iter().any(|name| name == column) {
        Kind::Partition
    } else if table.clustering.iter().any(|(name, _)| name == column) {
        Kind::Clustering
    } else if is_static {
        Kind::Static
    } else {
        Kind::Regular
    }
}

/// A column that the backup has.
fn column_differs(backup: &Table, ring: &Table, name: &str) -> Option<Differs> {
    let column = Quoted(name.to_owned());
    let ours = backup.columns.get(name)?;
    let Some(theirs) = ring.columns.get(name) else {
        let was = ring.dropped.contains_key(name);
        return Some(if was {
            Differs::GoneColumn { column }
        } else {
            Differs::NoColumn { column }
        });
    };
    let (in_ring, in_backup) =
        (part(ring, name, theirs.is_static), part(backup, name, ours.is_static));
    if in_ring != in_backup {
        return Some(Differs::Part { column, ring: in_ring, backup: in_backup });
    }
    if theirs.kind != ours.kind {
        let (ring, backup) = (Quoted(theirs.kind.to_string()), Quoted(ours.kind.to_string()));
        return Some(Differs::Type { column, ring, backup });
    }
    let time = |table: &Table| table.dropped.get(name).map(|dropped| dropped.time);
    (time(ring) > time(backup)).then_some(Differs::Hidden { column })
}

/// A column that was dropped in the backup, whether it is there again or not.
fn drop_differs(backup: &Table, ring: &Table, name: &str) -> Option<Differs> {
    let column = Quoted(name.to_owned());
    let ours = backup.dropped.get(name)?;
    let theirs = ring.dropped.get(name);
    if let Some(theirs) = theirs {
        let (in_ring, in_backup) =
            (part(ring, name, theirs.column.is_static), part(backup, name, ours.column.is_static));
        if in_ring != in_backup {
            return Some(Differs::Part { column, ring: in_ring, backup: in_backup });
        }
        if theirs.column.kind != ours.column.kind {
            let (ring, backup) = (&theirs.column.kind, &ours.column.kind);
            let (ring, backup) = (Quoted(ring.to_string()), Quoted(backup.to_string()));
            return Some(Differs::Type { column, ring, backup });
        }
    }
    if ring.columns.contains_key(name) {
        // What was dropped is hidden by the time of the drop alone.
        let is_earlier = theirs.is_none_or(|theirs| theirs.time < ours.time);
        return is_earlier.then_some(Differs::ComesBack { column });
    }
    theirs.is_none().then_some(Differs::NotDropped { column })
}

fn types_differ(
    backup: &Described,
    ring: &Described,
    chosen: &Chosen,
    table: &Table,
) -> Option<Differs> {
    let of = |users: &BTreeSet<String>| needed(backup, &chosen.from.keyspace, users).ok();
    let mut in_key = BTreeSet::new();
    let key = table.partition.iter().chain(table.clustering.iter().map(|(column, _)| column));
    key.filter_map(|column| table.columns.get(column)).for_each(|c| c.kind.users(&mut in_key));
    let in_key = of(&in_key)?;
    of(&table.users)?.into_iter().find_map(|name| {
        let to = TableName::of(&chosen.to.keyspace, &name);
        let ours = backup.types.get(&TableName::of(&chosen.from.keyspace, &name))?;
        let theirs = ring.types.get(&to)?;
        // A key is found by its bytes, which a longer type writes otherwise.
        let fits = match in_key.contains(&name) {
            true => theirs.fields == ours.fields,
            false => theirs.extends(ours),
        };
        (!fits).then(|| Differs::UserType { name: to.to_string() })
    })
}
