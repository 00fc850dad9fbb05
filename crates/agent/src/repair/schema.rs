//! What is in the schema that repair depends on: IDs of tables, for how long they
//! keep deletions, and how keyspaces are replicated. JMX does not tell these, so
//! they are read over CQL.

use crate::cql::{Connection, Endpoint};
use crate::words::calls::Answered;
use futures::future::BoxFuture;
use serde_json::Value;
use std::collections::BTreeMap;

/// Tables and materialized views of each keyspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schema {
    /// By name.
    pub keyspaces: BTreeMap<String, Keyspace>,
}

/// A keyspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keyspace {
    /// How it is replicated, in one spelling.
    pub replication: String,
    /// Its tables.
    pub tables: BTreeMap<String, Table>,
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Table {
    /// Another table of the same name has another one.
    pub id: String,
    /// Seconds for which deletions are kept.
    pub grace: u32,
}

const KEYSPACES: &str = "SELECT JSON keyspace_name, replication FROM system_schema.keyspaces";
const TABLES: &str =
    "SELECT JSON keyspace_name, table_name, id, gc_grace_seconds FROM system_schema.tables";
const VIEWS: &str =
    "SELECT JSON keyspace_name, view_name, id, gc_grace_seconds FROM system_schema.views";

/// Where a schema is read.
pub trait Schemas: Send + Sync {
    /// The schema as it is now; an error is in words.
    fn read(&self) -> BoxFuture<'_, Result<Schema, String>>;
}

impl Schemas for Endpoint {
    fn read(&self) -> BoxFuture<'_, Result<Schema, String>> {
        Box::pin(async {
            let rows = async {
                let mut connection = Connection::open(self).await?;
                let keyspaces = connection.texts(KEYSPACES).await?;
                let mut tables = connection.texts(TABLES).await?;
                tables.extend(connection.texts(VIEWS).await?);
                Ok::<_, crate::cql::Error>((keyspaces, tables))
            };
            let (keyspaces, tables) = rows.await.map_err(crate::cql::Error::words)?;
            parse(&keyspaces, &tables)
        })
    }
}

/// From rows in JSON. One that cannot be read is told: what it is of would be forgotten if
/// it were left out, and nothing of it would be due. An error is in words.
pub fn parse(keyspaces: &[String], tables: &[String]) -> Result<Schema, String> {
    let unreadable = |row: &String| Answered::Unexpected { answer: row.clone() }.to_string();
    let mut schema = Schema::default();
    for row in keyspaces {
        let (name, keyspace) = keyspace(row).ok_or_else(|| unreadable(row))?;
        schema.keyspaces.insert(name, keyspace);
    }
    for row in tables {
        let (keyspace, name, table) = table(row).ok_or_else(|| unreadable(row))?;
        // One that was created between the questions is in the next schema.
        if let Some(keyspace) = schema.keyspaces.get_mut(&keyspace) {
            keyspace.tables.insert(name, table);
        }
    }
    Ok(schema)
}

fn text(row: &Value, name: &str) -> Option<String> {
    row[name].as_str().map(str::to_string)
}

fn keyspace(row: &str) -> Option<(String, Keyspace)> {
    let row: Value = serde_json::from_str(row).ok()?;
    // A map of serde_json is in the order of its keys.
    let replication = Some(&row["replication"]).filter(|map| map.is_object())?.to_string();
    Some((text(&row, "keyspace_name")?, Keyspace { replication, ..Keyspace::default() }))
}

fn table(row: &str) -> Option<(String, String, Table)> {
    let row: Value = serde_json::from_str(row).ok()?;
    let name = text(&row, "table_name").or_else(|| text(&row, "view_name"))?;
    let grace = u32::try_from(row["gc_grace_seconds"].as_u64()?).ok()?;
    Some((text(&row, "keyspace_name")?, name, Table { id: text(&row, "id")?, grace }))
}
