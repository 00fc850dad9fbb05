//! The statements of `load`, and how each is sent.

use anyhow::{Context, Result};
use scylla::client::session::Session;
use scylla::errors::ExecutionError;
use scylla::response::query_result::QueryResult;
use scylla::statement::SerialConsistency;
use scylla::statement::prepared::PreparedStatement;
use scylla::value::{CqlValue, Row};

use crate::dice::value_of;
use crate::history::{Action, Attempt, Outcome};
use crate::judge::Table;
use crate::ring::{consistency, outcome, scan, schema};

/// Prepared.
pub struct Statements {
    insert: PreparedStatement,
    update: PreparedStatement,
    delete: PreparedStatement,
    create: PreparedStatement,
    swap: PreparedStatement,
    read: PreparedStatement,
}

impl Statements {
    /// Prepare them.
    pub async fn prepare(session: &Session, keyspace: &str) -> Result<Self> {
        let rows = schema::name(keyspace, Table::Rows);
        let registers = schema::name(keyspace, Table::Registers);
        let prepare = async |text: String| {
            let prepared = session.prepare(text.as_str()).await;
            prepared.with_context(|| format!("preparing {text}"))
        };
        let create = format!("INSERT INTO {registers} (key, value) VALUES (?, ?) IF NOT EXISTS");
        let swap = format!("UPDATE {registers} SET value = ? WHERE key = ? IF value = ?");
        let mut create = prepare(create).await?;
        let mut swap = prepare(swap).await?;
        for decided in [&mut create, &mut swap] {
            decided.set_serial_consistency(Some(SerialConsistency::Serial));
        }
        Ok(Self {
            insert: prepare(format!("INSERT INTO {rows} (version, value, key) VALUES (?, ?, ?)"))
                .await?,
            update: prepare(format!("UPDATE {rows} SET version = ?, value = ? WHERE key = ?"))
                .await?,
            delete: prepare(format!("DELETE FROM {rows} WHERE key = ?")).await?,
            create,
            swap,
            read: session.prepare(scan::serial_read(keyspace)).await.context("preparing a read")?,
        })
    }

    /// Send an attempt, and say how it ended.
    pub async fn send(&self, session: &Session, seed: u64, attempt: &Attempt) -> Outcome {
        let sent = match &attempt.action {
            Action::Put { version } => self.put(session, seed, attempt, *version).await,
            Action::Delete { .. } => {
                let statement = at(&self.delete, attempt);
                session.execute_unpaged(&statement, (attempt.key,)).await
            }
            Action::Swap { from, to } => self.swap(session, attempt, from.as_deref(), to).await,
            Action::Read => session.execute_unpaged(&self.read, (attempt.key,)).await,
        };
        match sent {
            Ok(result) => answer(&attempt.action, result),
            Err(error) => outcome::of_error(&attempt.action, &error),
        }
    }

    async fn put(
        &self,
        session: &Session,
        seed: u64,
        attempt: &Attempt,
        version: u64,
    ) -> Result<QueryResult, ExecutionError> {
        // By turns: an update leaves no marker of the row, so that a deleted
        // row that is updated is alive by its columns alone.
        let statement = if version % 2 == 1 { &self.insert } else { &self.update };
        let value = value_of(seed, attempt.key, version);
        let values = (version.cast_signed(), value, attempt.key);
        session.execute_unpaged(&at(statement, attempt), values).await
    }

    async fn swap(
        &self,
        session: &Session,
        attempt: &Attempt,
        from: Option<&str>,
        to: &str,
    ) -> Result<QueryResult, ExecutionError> {
        let level = consistency(attempt.level);
        match from {
            None => {
                let mut statement = self.create.clone();
                statement.set_consistency(level);
                session.execute_unpaged(&statement, (attempt.key, to)).await
            }
            Some(from) => {
                let mut statement = self.swap.clone();
                statement.set_consistency(level);
                session.execute_unpaged(&statement, (to, attempt.key, from)).await
            }
        }
    }
}

/// With the attempt's level, and its own time stamp: what is newer is the
/// history's to say, and no server's clock's.
fn at(statement: &PreparedStatement, attempt: &Attempt) -> PreparedStatement {
    let mut statement = statement.clone();
    statement.set_consistency(consistency(attempt.level));
    statement.set_timestamp(Some(attempt.at));
    statement
}

fn answer(action: &Action, result: QueryResult) -> Outcome {
    let outcome = match action {
        Action::Put { .. } | Action::Delete { .. } => Ok(Outcome::Acknowledged),
        Action::Swap { .. } => swapped(result),
        Action::Read => read(result),
    };
    outcome.unwrap_or_else(|error| Outcome::Unknown { cause: format!("{error:#}") })
}

/// The first column says whether it was applied; if not, the row follows.
fn swapped(result: QueryResult) -> Result<Outcome> {
    let rows = result.into_rows_result()?;
    let value_at = rows.column_specs().get_by_name("value").map(|(index, _)| index);
    let mut row = rows.single_row::<Row>()?;
    if row.columns.first() == Some(&Some(CqlValue::Boolean(true))) {
        return Ok(Outcome::Acknowledged);
    }
    let value = match value_at.and_then(|index| row.columns.get_mut(index)).and_then(Option::take) {
        Some(CqlValue::Text(value)) => Some(value),
        _ => None,
    };
    Ok(Outcome::Found { value })
}

fn read(result: QueryResult) -> Result<Outcome> {
    let row = result.into_rows_result()?.maybe_first_row::<(Option<String>,)>()?;
    Ok(Outcome::Found { value: row.and_then(|(value,)| value) })
}
