//! For how long the tables of users keep tombstones (`gc_grace_seconds`), asked of the
//! server over CQL: nothing else of a server says so.

use crate::cql::rows::{Cell, int, text};
use crate::cql::{Connection, Endpoint, Error};
use std::time::{Duration, Instant};

/// All tables, with their keyspaces.
const TABLES: &str = "SELECT keyspace_name, gc_grace_seconds FROM system_schema.tables";
/// Materialized views have a time of their own.
const VIEWS: &str = "SELECT keyspace_name, gc_grace_seconds FROM system_schema.views";
/// Keyspaces of the servers themselves, Cassandra's and ScyllaDB's: deleted rows of theirs
/// are no users' data.
const SYSTEM: [&str; 9] = [
    "system",
    "system_auth",
    "system_distributed",
    "system_distributed_everywhere",
    "system_replicated_keys",
    "system_schema",
    "system_traces",
    "system_views",
    "system_virtual_schema",
];
/// A server that cannot be asked is asked again after this long.
const AGAIN: Duration = Duration::from_secs(60);

/// The smallest of all tables of users; `None` where there is no such table. A table
/// with 0 keeps none: whoever sets that deletes nothing.
pub type Smallest = Option<u32>;

/// Ask the server.
pub async fn smallest(endpoint: &Endpoint) -> Result<Smallest, Error> {
    let mut connection = Connection::open(endpoint).await?;
    let mut rows = connection.rows(TABLES).await?;
    rows.extend(connection.rows(VIEWS).await?);
    Ok(of(&rows))
}

fn of(rows: &[Vec<Cell>]) -> Smallest {
    let of_users = rows.iter().filter_map(|row| match row.as_slice() {
        [keyspace, seconds] => {
            let is_ours = text(keyspace).is_some_and(|name| SYSTEM.contains(&name));
            (!is_ours).then(|| int(seconds)).flatten()
        }
        _ => None,
    });
    of_users.filter_map(|seconds| u32::try_from(seconds).ok()).filter(|s| *s > 0).min()
}

/// What is known of it, and for which schema it was asked.
#[derive(Clone, Debug, Default)]
pub struct Tombstones {
    of: Option<String>,
    asked: Option<Instant>,
    known: Option<Smallest>,
}

impl Tombstones {
    /// Is it time to ask, for this schema?
    pub fn begin(&mut self, schema: &str, now: Instant) -> bool {
        let is_known = self.of.as_deref() == Some(schema);
        let is_waiting = self.asked.is_some_and(|at| now.duration_since(at) < AGAIN);
        if is_known || is_waiting {
            return false;
        }
        self.asked = Some(now);
        true
    }

    /// An answer has come.
    pub fn note(&mut self, schema: String, answer: Result<Smallest, String>) {
        match answer {
            Ok(smallest) => {
                (self.of, self.asked, self.known) = (Some(schema), None, Some(smallest));
            }
            Err(why) => tracing::debug!(why, "`gc_grace_seconds` of tables is not known yet"),
        }
    }

    /// What is known; `None` if nothing is.
    pub fn known(&self) -> Option<Smallest> {
        self.known
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cql::rows::rows;
    use crate::cql::testing::answer_of;

    #[test]
    fn the_smallest_of_the_tables_of_users_counts() {
        let of = |tables: &[(&str, Option<i32>)]| super::of(&rows(&answer_of(tables)).unwrap());
        let system = [("system_schema", Some(604_800)), ("system_distributed", Some(60))];
        assert_eq!(of(&system), None);
        let shop = [("shop", Some(864_000)), ("shop", Some(0)), ("log", Some(14_400)), system[1]];
        assert_eq!(of(&shop), Some(14_400));
        assert_eq!(of(&[("systems", Some(3600))]), Some(3600), "a keyspace of users");
    }

    #[test]
    fn it_is_asked_again_for_another_schema_and_a_minute_after_a_failure() {
        let (mut tombstones, now) = (Tombstones::default(), Instant::now());
        assert!(tombstones.begin("s1", now));
        assert!(!tombstones.begin("s1", now + Duration::from_secs(59)));
        tombstones.note("s1".into(), Err("a failure".into()));
        assert_eq!(tombstones.known(), None);
        assert!(tombstones.begin("s1", now + Duration::from_secs(60)));
        tombstones.note("s1".into(), Ok(Some(3600)));
        assert!(!tombstones.begin("s1", now + Duration::from_secs(600)));
        assert!(tombstones.begin("s2", now + Duration::from_secs(600)));
        assert_eq!(tombstones.known(), Some(Some(3600)), "as long as no other answer has come");
    }
}
