//! What the server says after a look: which schema it has, and which tables were truncated.

use crate::cql::{Connection, Endpoint};
use palladion_agent_transfer::archive::look::truncated_in;
use palladion_agent_transfer::words::stopped::Stopped;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The schema's version, and which tables were truncated: asked on one connection.
const LOCAL: &str = "SELECT JSON schema_version, truncated_at FROM system.local";
/// All tables; those of the server itself are in one keyspace.
const TABLES: &str = "SELECT JSON keyspace_name, id FROM system_schema.tables";
const OWN: &str = "system";

/// See the module.
pub struct Said {
    /// The version of its schema.
    pub schema_version: String,
    /// When each table was truncated, by its ID.
    pub truncated: BTreeMap<String, String>,
    /// Tables of its own, which it truncates at each start.
    pub own: BTreeSet<String>,
}

impl Said {
    /// Ask.
    ///
    /// # Errors
    /// It cannot be asked, or its answer is not known.
    pub async fn ask(cql: &Endpoint) -> Result<Self, String> {
        let asked = async {
            let mut connection = Connection::open(cql).await?;
            let local = connection.texts(LOCAL).await?;
            Ok::<_, crate::cql::Error>((local, connection.texts(TABLES).await?))
        };
        let (local, tables) = asked.await.map_err(crate::cql::Error::words)?;
        let said = local.first().and_then(|row| parse(row));
        let said = said.ok_or_else(|| Stopped::NotServing.to_string())?;
        Ok(Self { own: tables.iter().filter_map(|row| own(row)).collect(), ..said })
    }

    /// Segments up to this one may hold rows from before a truncation; 0 where none does.
    ///
    /// # Errors
    /// The place of one is not known.
    pub fn truncated_in(&self) -> Result<i64, String> {
        truncated_in(&self.truncated, &self.own)
            .map_err(|table| Stopped::TruncationUnread { table }.to_string())
    }
}

fn parse(row: &str) -> Option<Said> {
    let row: Value = serde_json::from_str(row).ok()?;
    let truncated = match row.get("truncated_at")? {
        Value::Null => BTreeMap::new(),
        Value::Object(all) => {
            let text = |(table, at): (&String, &Value)| Some((table.clone(), at.as_str()?.into()));
            all.iter().map(text).collect::<Option<_>>()?
        }
        _ => return None,
    };
    let schema_version = row.get("schema_version")?.as_str()?.to_string();
    Some(Said { schema_version, truncated, own: BTreeSet::new() })
}

fn own(row: &str) -> Option<String> {
    let row: Value = serde_json::from_str(row).ok()?;
    let is_own = row.get("keyspace_name")?.as_str()? == OWN;
    is_own.then(|| Some(row.get("id")?.as_str()?.to_string())).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_server_says_of_itself_is_read() {
        let said = parse(r#"{"schema_version": "s1", "truncated_at": {"t1": "0x00"}}"#).unwrap();
        assert_eq!((said.schema_version.as_str(), said.truncated.len()), ("s1", 1));
        assert!(said.truncated_in().unwrap_err().contains("t1"));
        let none = parse(r#"{"schema_version": "s1", "truncated_at": null}"#).unwrap();
        assert_eq!((none.truncated.len(), none.truncated_in()), (0, Ok(0)));
        for other in ["{}", r#"{"schema_version": null, "truncated_at": null}"#, "x"] {
            assert!(parse(other).is_none(), "{other}");
        }
    }
}
