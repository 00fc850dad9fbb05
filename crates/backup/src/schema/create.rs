//! What is created before the rows are loaded.

use super::choose::whole;
use super::described::Described;
use super::name::TableName;
use super::needs::{all, needed};
use super::parts::Keyspace;
use super::rewrite::Rewrite;
use super::table::Later;
use super::token::Source;
use super::{Chosen, Ids, Mapping, Statement, functions};
use crate::words::schema::{About, NotChosen};
use palladion_api::words::Quoted;
use std::collections::{BTreeMap, BTreeSet};

/// What is created before the rows are loaded, in order: keyspaces, with other names for their
/// datacenters; types; functions by which columns are masked; tables, with new IDs or their own, each
/// followed by the columns that it loses. What is there is left out; of tables that are there only
/// `gc_grace_seconds` is set, if it is given.
///
/// # Errors
/// A type of the ring has another definition, or what is needed cannot be created from the backup.
pub fn creating(
    backup: &Described,
    ring: &Described,
    chosen: &[Chosen],
    mapping: &[Mapping],
    datacenters: &BTreeMap<String, String>,
    (gc_grace, ids): (Option<u64>, Ids),
) -> Result<Vec<Statement>, NotChosen> {
    let is_known = |name: &&String| {
        let mut keyspaces = backup.keyspaces.values();
        keyspaces.any(|keyspace| keyspace.datacenters.iter().any(|(known, _)| known == *name))
    };
    if let Some(name) = datacenters.keys().find(|name| !is_known(name)) {
        return Err(NotChosen::NoDatacenter { datacenter: Quoted(name.clone()) });
    }
    let whole = whole(backup, mapping);
    let is_there =
        |one: &&Chosen| ring.tables.contains_key(&one.to) || ring.views.contains_key(&one.to);
    let (existing, absent): (Vec<&Chosen>, Vec<&Chosen>) = chosen.iter().partition(is_there);
    let mut statements = keyspaces(backup, ring, &absent, &whole, datacenters)?;
    let masks = masks(backup, &absent)?;
    statements.extend(types(backup, ring, &roots(backup, &absent, &whole, &masks))?);
    statements.extend(functions::missing(ring, &masks));
    for one in absent {
        statements.extend(table(backup, one, (gc_grace, ids))?);
    }
    for one in existing {
        let differs = |seconds: &u64| ring.gc_grace_seconds(&one.to).is_some_and(|s| s != *seconds);
        statements.extend(gc_grace.filter(differs).map(|seconds| {
            about(
                &one.to,
                format!("ALTER TABLE {} WITH gc_grace_seconds = {seconds}", one.to.cql()),
            )
        }));
    }
    Ok(statements)
}

fn keyspaces(
    backup: &Described,
    ring: &Described,
    absent: &[&Chosen],
    whole: &[(String, String)],
    datacenters: &BTreeMap<String, String>,
) -> Result<Vec<Statement>, NotChosen> {
    let of_tables = absent.iter().map(|one| (&one.from.keyspace, &one.to.keyspace));
    let pairs = whole.iter().map(|(from, to)| (from, to)).chain(of_tables);
    let mut created = BTreeSet::new();
    let mut statements = Vec::new();
    for (from, to) in pairs {
        if ring.keyspaces.contains_key(to) || !created.insert(to) {
            continue;
        }
        let Some(keyspace) = backup.keyspaces.get(from) else {
            return Err(NotChosen::NoKeyspace { keyspace: Quoted(from.clone()) });
        };
        statements.push(Statement {
            about: About::Keyspace { name: to.clone() }.to_string(),
            cql: replicated(keyspace, to, datacenters)?,
        });
    }
    Ok(statements)
}

/// A keyspace with other names for its datacenters.
fn replicated(
    keyspace: &Keyspace,
    to: &str,
    datacenters: &BTreeMap<String, String>,
) -> Result<String, NotChosen> {
    let mut rewrite = Rewrite::of(&keyspace.source).name(keyspace.name, to);
    let mut taken = BTreeSet::new();
    for (name, at) in &keyspace.datacenters {
        let new = datacenters.get(name).unwrap_or(name);
        if !taken.insert(new) {
            let (keyspace, datacenter) = (to.to_owned(), new.clone());
            return Err(NotChosen::OneDatacenter { keyspace, datacenter });
        }
        if new != name {
            rewrite = rewrite.string(*at, new);
        }
    }
    Ok(rewrite.done())
}

/// The functions by which columns of tables are masked, and the keyspaces that need them.
fn masks<'a>(
    backup: &'a Described,
    absent: &[&'a Chosen],
) -> Result<Vec<functions::Wanted<'a>>, NotChosen> {
    let mut masks = Vec::new();
    for one in absent {
        let Some(table) = backup.tables.get(&one.from) else { continue };
        for mask in table.masks.iter().filter(|mask| mask.keyspace == one.from.keyspace) {
            let found = || backup.functions.iter().filter(|f| !f.is_aggregate && f.name == *mask);
            if found().next().is_none() {
                let (name, table) = (mask.to_string(), one.from.to_string());
                return Err(NotChosen::NoFunction { name, table });
            }
            masks.extend(found().map(|function| (function, one.to.keyspace.as_str())));
        }
    }
    Ok(masks)
}

/// Target and source of types, and those that are needed first of all.
type Roots = BTreeMap<(String, String), BTreeSet<String>>;

fn roots(
    backup: &Described,
    absent: &[&Chosen],
    whole: &[(String, String)],
    masks: &[functions::Wanted<'_>],
) -> Roots {
    let mut roots = Roots::new();
    for (from, to) in whole {
        roots.entry((to.clone(), from.clone())).or_default().extend(all(backup, from));
    }
    for one in absent {
        let pair = (one.to.keyspace.clone(), one.from.keyspace.clone());
        let users = backup.tables.get(&one.from).map(|table| table.users.iter().cloned());
        roots.entry(pair).or_default().extend(users.into_iter().flatten());
    }
    for (function, to) in masks {
        let pair = ((*to).to_owned(), function.name.keyspace.clone());
        let users = roots.entry(pair).or_default();
        function.arguments.iter().for_each(|argument| argument.users(users));
    }
    roots
}

fn types(backup: &Described, ring: &Described, roots: &Roots) -> Result<Vec<Statement>, NotChosen> {
    let mut created: BTreeMap<TableName, TableName> = BTreeMap::new();
    let mut statements = Vec::new();
    for ((to_keyspace, from_keyspace), names) in roots {
        for name in needed(backup, from_keyspace, names)? {
            let (from, to) =
                (TableName::of(from_keyspace, &name), TableName::of(to_keyspace, &name));
            let Some(ours) = backup.types.get(&from) else { continue };
            if let Some(theirs) = ring.types.get(&to) {
                if !theirs.extends(ours) {
                    return Err(NotChosen::OtherType { name: to.to_string() });
                }
            } else if let Some(first) = created.get(&to) {
                if backup.types.get(first).is_some_and(|first| first.fields != ours.fields) {
                    let (first, second) = (first.to_string(), from.to_string());
                    return Err(NotChosen::TwoTypes { name: to.to_string(), first, second });
                }
            } else {
                statements.push(Statement {
                    about: About::Type { name: to.to_string() }.to_string(),
                    cql: Rewrite::of(&ours.source).keyspace(from_keyspace, to_keyspace).done(),
                });
                created.insert(to, from);
            }
        }
    }
    Ok(statements)
}

/// A table and what is altered of it.
fn table(
    backup: &Described,
    one: &Chosen,
    set: (Option<u64>, Ids),
) -> Result<Vec<Statement>, NotChosen> {
    let (from, to) = (&one.from, &one.to);
    let Some(table) = backup.tables.get(from) else { return Ok(Vec::new()) };
    if table.is_compact {
        return Err(NotChosen::Compact { from: from.to_string(), to: to.to_string() });
    }
    if table.is_opaque && from.keyspace != to.keyspace {
        return Err(NotChosen::Opaque { table: from.to_string() });
    }
    let mut create = named(&table.source, table.name, one);
    for (before, _) in &table.commas {
        create = create.comma(*before);
    }
    let create = create.settings(&table.settings, set).done();
    let mut statements = vec![about(to, create)];
    statements.extend(table.later.iter().map(|later| altered(later, one)));
    Ok(statements)
}

/// What is still to be altered of tables that the restore has created, if it was interrupted
/// between the creation of one and the last column that it loses: not for tables that others made.
pub fn altering(backup: &Described, ring: &Described, chosen: &[Chosen]) -> Vec<Statement> {
    let mut statements = Vec::new();
    for one in chosen {
        let pair = backup.tables.get(&one.from).zip(ring.tables.get(&one.to));
        let Some((ours, theirs)) = pair else { continue };
        let is_done = |later: &Later| {
            let dropped = theirs.dropped.get(&later.column).map(|dropped| dropped.time);
            match later.dropped {
                Some(time) => dropped == Some(time),
                None => dropped.is_some() && theirs.columns.contains_key(&later.column),
            }
        };
        let rest = ours.later.iter().filter(|later| !is_done(later));
        statements.extend(rest.map(|later| altered(later, one)));
    }
    statements
}

fn altered(later: &Later, one: &Chosen) -> Statement {
    about(&one.to, named(&later.source, later.name, one).done())
}

fn about(table: &TableName, cql: String) -> Statement {
    Statement { about: About::Table { name: table.to_string() }.to_string(), cql }
}

/// A statement of a table with the names of its target.
fn named<'a>(source: &'a Source, at: usize, one: &Chosen) -> Rewrite<'a> {
    Rewrite::of(source).keyspace(&one.from.keyspace, &one.to.keyspace).name(at, &one.to.table)
}
