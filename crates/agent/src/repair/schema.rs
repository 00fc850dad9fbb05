//! What is in the schema that repair depends on: IDs of tables, for how long they
//! keep deletions, and how keyspaces are replicated. JMX does not tell these, so
//! they are read over CQL.

use crate::cql::{Connection, Endpoint};
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
            Ok(parse(&keyspaces, &tables))
        })
    }
}

/// From rows in JSON; what cannot be read is left out, and so never counts as repaired.
pub fn parse(keyspaces: &[String], tables: &[String]) -> Schema {
    let row = |text: &String| serde_json::from_str::<Value>(text).ok();
    let text = |row: &Value, name: &str| row[name].as_str().map(str::to_string);
    let mut schema = Schema::default();
    for row in keyspaces.iter().filter_map(row) {
        if let (Some(name), true) = (text(&row, "keyspace_name"), row["replication"].is_object()) {
            // A map of serde_json is in the order of its keys.
            let replication = row["replication"].to_string();
            schema.keyspaces.insert(name, Keyspace { replication, ..Keyspace::default() });
        }
    }
    for row in tables.iter().filter_map(row) {
        let name = text(&row, "table_name").or_else(|| text(&row, "view_name"));
        let keyspace = text(&row, "keyspace_name");
        let keyspace = keyspace.and_then(|name| schema.keyspaces.get_mut(&name));
        let grace = row["gc_grace_seconds"].as_u64().and_then(|grace| u32::try_from(grace).ok());
        if let (Some(keyspace), Some(name), Some(id), Some(grace)) =
            (keyspace, name, text(&row, "id"), grace)
        {
            keyspace.tables.insert(name, Table { id, grace });
        }
    }
    schema
}
