//! Which types of users others need, those first that others are made of.

use super::described::Described;
use super::name::TableName;
use crate::words::schema::NotChosen;
use std::collections::BTreeSet;

/// These types of a keyspace and all that they are made of, in the order of their creation.
///
/// # Errors
/// One is not in the schema.
pub(super) fn needed(
    described: &Described,
    keyspace: &str,
    roots: &BTreeSet<String>,
) -> Result<Vec<String>, NotChosen> {
    let mut order = Vec::new();
    let mut seen = BTreeSet::new();
    for root in roots {
        visit(described, keyspace, root, &mut seen, &mut order)?;
    }
    Ok(order)
}

fn visit(
    described: &Described,
    keyspace: &str,
    name: &str,
    seen: &mut BTreeSet<String>,
    order: &mut Vec<String>,
) -> Result<(), NotChosen> {
    if !seen.insert(name.to_owned()) {
        return Ok(());
    }
    let known = TableName::of(keyspace, name);
    let kind = described.types.get(&known);
    let kind = kind.ok_or_else(|| NotChosen::NoType { name: known.to_string() })?;
    for part in kind.users() {
        visit(described, keyspace, &part, seen, order)?;
    }
    order.push(name.to_owned());
    Ok(())
}

/// All types of a keyspace.
pub(super) fn all(described: &Described, keyspace: &str) -> BTreeSet<String> {
    let types = described.types.keys().filter(|name| name.keyspace == keyspace);
    types.map(|name| name.table.clone()).collect()
}
