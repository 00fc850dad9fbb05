//! What is created when all rows are loaded: it is built from them, or no row needs it.

use super::Ids;
use super::choose::whole;
use super::described::Described;
use super::name::TableName;
use super::parts::Index;
use super::rewrite::Rewrite;
use super::{Chosen, Mapping, Statement, functions};
use crate::words::schema::About;
use std::collections::BTreeSet;

/// What is created when all rows are loaded, in order: functions and aggregates of keyspaces that
/// are restored as a whole, indexes of the tables that the restore has created, and of keyspaces
/// that are restored as a whole the materialized views of such tables. What is there is left out.
pub fn finishing(
    backup: &Described,
    ring: &Described,
    chosen: &[Chosen],
    mapping: &[Mapping],
    created: &BTreeSet<TableName>,
) -> Vec<Statement> {
    let whole = whole(backup, mapping);
    let wanted = whole.iter().flat_map(|(from, to)| {
        let functions = backup.functions.iter().filter(move |f| f.name.keyspace == *from);
        functions.map(move |function| (function, to.as_str()))
    });
    let mut statements = functions::missing(ring, &wanted.collect::<Vec<_>>());
    statements.extend(indexes(backup, ring, chosen, created));
    for (from, to) in &whole {
        statements.extend(views(backup, ring, (from, to), created));
    }
    statements
}

fn indexes(
    backup: &Described,
    ring: &Described,
    chosen: &[Chosen],
    created: &BTreeSet<TableName>,
) -> Vec<Statement> {
    // Names of indexes are those of a keyspace, not of a table.
    let mut names: BTreeSet<(TableName, String)> =
        ring.indexes.iter().map(|index| (index.table.clone(), index.name.clone())).collect();
    let mut statements = Vec::new();
    for one in chosen.iter().filter(|one| created.contains(&one.to)) {
        for index in backup.indexes.iter().filter(|index| index.table == one.from) {
            let name = name_of(index, one, &names);
            let is_there = |other: &Index| {
                other.table == one.to
                    && (other.name == name || other.definition == index.definition)
            };
            if ring.indexes.iter().any(is_there) {
                continue;
            }
            let rewrite = Rewrite::of(&index.source).keyspace(&one.from.keyspace, &one.to.keyspace);
            let rewrite = rewrite.name(index.table_at, &one.to.table).name(index.name_at, &name);
            let about = About::Index { name: format!("{}.{name}", one.to.keyspace) }.to_string();
            statements.push(Statement { about, cql: rewrite.done() });
            names.insert((one.to.clone(), name));
        }
    }
    statements
}

/// Its own name; with that of the table before it where another table of the keyspace has an index
/// of that name, or must have.
fn name_of(index: &Index, one: &Chosen, names: &BTreeSet<(TableName, String)>) -> String {
    let is_taken = |name: &str| {
        let mut others = names.iter().filter(|(table, other)| other == name && *table != one.to);
        others.any(|(table, _)| table.keyspace == one.to.keyspace)
    };
    let is_renamed = one.from.keyspace == one.to.keyspace && one.from.table != one.to.table;
    let mut name = index.name.clone();
    if is_renamed || is_taken(&name) {
        name = format!("{}_{name}", one.to.table);
    }
    let first = name.clone();
    let mut number = 2_u32;
    while is_taken(&name) {
        name = format!("{first}_{number}");
        number += 1;
    }
    name
}

fn views(
    backup: &Described,
    ring: &Described,
    (from, to): (&str, &str),
    created: &BTreeSet<TableName>,
) -> Vec<Statement> {
    let mut statements = Vec::new();
    for (name, view) in backup.views.iter().filter(|(name, _)| name.keyspace == from) {
        let (target, base) = (TableName::of(to, &name.table), TableName::of(to, &view.base.table));
        let is_there = ring.views.contains_key(&target) || ring.tables.contains_key(&target);
        if is_there || !created.contains(&base) {
            continue;
        }
        let rewrite =
            Rewrite::of(&view.source).keyspace(from, to).settings(&view.settings, (None, Ids::New));
        let about = About::View { name: target.to_string() }.to_string();
        statements.push(Statement { about, cql: rewrite.done() });
    }
    statements
}
