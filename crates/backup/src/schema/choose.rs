//! Which tables of a backup are restored, and where to.

use super::described::Described;
use super::name::{TableName, is_name, is_system};
use super::{Chosen, Mapping};
use crate::words::schema::NotChosen;
use palladion_api::words::Quoted;
use std::collections::{BTreeMap, BTreeSet};

/// A place of a mapping.
enum Place {
    Keyspace(String),
    Table(TableName),
}

impl Place {
    fn parse(text: &str) -> Result<Self, NotChosen> {
        let keyspace = || is_name(text).then(|| Self::Keyspace(text.to_owned()));
        let place = TableName::parse(text).map(Self::Table).or_else(keyspace);
        place.ok_or_else(|| NotChosen::Named { name: Quoted(text.to_owned()) })
    }

    fn is_system(&self) -> bool {
        match self {
            Self::Keyspace(keyspace) => is_system(keyspace),
            Self::Table(table) => is_system(&table.keyspace),
        }
    }
}

/// Which tables of the backup are restored, without views. Without a mapping: those of all keyspaces but the system's.
///
/// # Errors
/// A mapping names what the backup lacks, or a view; two tables have one target; a target is in a
/// keyspace of the system.
pub fn chosen(backup: &Described, mapping: &[Mapping]) -> Result<Vec<Chosen>, NotChosen> {
    let mut pairs = Vec::new();
    for entry in &everything_or(backup, mapping) {
        let to_text = entry.to.as_deref().unwrap_or(&entry.from);
        let (from, to) = (Place::parse(&entry.from)?, Place::parse(to_text)?);
        if to.is_system() {
            return Err(NotChosen::System { to: to_text.to_owned() });
        }
        match (from, to) {
            (Place::Keyspace(from), Place::Keyspace(to)) => {
                if !keyspaces(backup).contains(&from) {
                    return Err(NotChosen::NoKeyspace { keyspace: Quoted(from) });
                }
                let tables = backup.tables.keys().filter(|table| table.keyspace == from);
                pairs.extend(tables.map(|t| (t.clone(), TableName::of(&to, &t.table))));
            }
            (Place::Table(from), Place::Table(to)) => {
                if let Some(view) = backup.views.get(&from) {
                    let (view, base) = (Quoted(from.to_string()), view.base.to_string());
                    return Err(NotChosen::View { view, base });
                }
                pairs.push((from, to));
            }
            (Place::Keyspace(_), Place::Table(_)) | (Place::Table(_), Place::Keyspace(_)) => {
                let (from, to) = (Quoted(entry.from.clone()), Quoted(to_text.to_owned()));
                return Err(NotChosen::Mixed { from, to });
            }
        }
    }
    let (mut targets, mut sources) = (BTreeMap::new(), BTreeMap::new());
    let mut chosen = Vec::new();
    for (from, to) in pairs {
        let Some(table) = backup.tables.get(&from) else {
            return Err(NotChosen::NoTable { table: Quoted(from.to_string()) });
        };
        match targets.insert(to.clone(), from.clone()) {
            // The files of a table are brought once, and go to one table.
            None if sources.contains_key(&from) => {
                let first = sources.get(&from).map(TableName::to_string).unwrap_or_default();
                let (from, second) = (from.to_string(), to.to_string());
                return Err(NotChosen::TwoTargets { from, first, second });
            }
            None => {
                sources.insert(from.clone(), to.clone());
                chosen.push(Chosen { from, to, gc_grace_seconds: table.gc_grace_seconds });
            }
            // Named by itself, and with its keyspace.
            Some(first) if first == from => {}
            Some(first) => {
                let (first, second) = (first.to_string(), from.to_string());
                return Err(NotChosen::OneTarget { to: to.to_string(), first, second });
            }
        }
    }
    Ok(chosen)
}

/// The keyspaces that are restored as a whole, and where to.
pub(super) fn whole(backup: &Described, mapping: &[Mapping]) -> Vec<(String, String)> {
    let mut whole = Vec::new();
    for entry in everything_or(backup, mapping) {
        let to = entry.to.unwrap_or_else(|| entry.from.clone());
        if is_name(&entry.from)
            && is_name(&to)
            && !whole.contains(&(entry.from.clone(), to.clone()))
        {
            whole.push((entry.from, to));
        }
    }
    whole
}

fn everything_or(backup: &Described, mapping: &[Mapping]) -> Vec<Mapping> {
    if !mapping.is_empty() {
        return mapping.to_vec();
    }
    let users = keyspaces(backup).into_iter().filter(|keyspace| !is_system(keyspace));
    users.map(|from| Mapping { from, to: None }).collect()
}

fn keyspaces(backup: &Described) -> BTreeSet<String> {
    let of_tables = backup.tables.keys().map(|table| table.keyspace.clone());
    backup.keyspaces.keys().cloned().chain(of_tables).collect()
}
