//! Functions and aggregates that a keyspace of the ring lacks.

use super::Statement;
use super::described::Described;
use super::name::TableName;
use super::parts::Function;
use super::rewrite::Rewrite;
use crate::words::schema::About;

/// A function of the backup, and the keyspace that it is for.
pub(super) type Wanted<'a> = (&'a Function, &'a str);

/// Those that are missing, each once.
pub(super) fn missing(ring: &Described, wanted: &[Wanted<'_>]) -> Vec<Statement> {
    let is_same = |function: &Function, keyspace: &str, other: &Function| {
        other.name.keyspace == keyspace
            && other.name.table == function.name.table
            && other.arguments == function.arguments
    };
    let mut created: Vec<Function> = Vec::new();
    let mut statements = Vec::new();
    for (function, to) in wanted {
        let mut known = ring.functions.iter().chain(&created);
        if known.any(|other| is_same(function, to, other)) {
            continue;
        }
        let name = TableName::of(to, &function.name.table);
        let text = name.to_string();
        let about = match function.is_aggregate {
            true => About::Aggregate { name: text },
            false => About::Function { name: text },
        };
        statements.push(Statement {
            about: about.to_string(),
            cql: Rewrite::of(&function.source).keyspace(&function.name.keyspace, to).done(),
        });
        created.push(Function { name, ..(*function).clone() });
    }
    statements
}
