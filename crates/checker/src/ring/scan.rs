//! Whole tables at QUORUM and ALL, and registers at SERIAL.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use futures::TryStreamExt;
use scylla::client::session::Session;
use scylla::response::query_result::QueryRowsResult;
use scylla::statement::unprepared::Statement;
use uuid::Uuid;

use super::{consistency, pinned, schema};
use crate::judge::{Found, Table, row_state};
use crate::level::Level;

/// Rows of an answer; a scan takes as many answers as it needs.
const PAGE: i32 = 1000;

/// What is read of a table.
pub fn columns(table: Table) -> &'static str {
    match table {
        Table::Rows => "SELECT key, version, value",
        Table::Registers => "SELECT key, value",
    }
}

/// The states in an answer.
pub fn states(table: Table, answer: QueryRowsResult) -> Result<Found> {
    let mut found = Found::new();
    match table {
        Table::Rows => {
            for row in answer.rows::<Row>().context("reading rows")? {
                found.extend([of_row(row.context("reading a row")?)]);
            }
        }
        Table::Registers => {
            for row in answer.rows::<Register>().context("reading registers")? {
                found.extend(of_register(row.context("reading a register")?));
            }
        }
    }
    Ok(found)
}

type Row = (i64, Option<i64>, Option<String>);
type Register = (i64, Option<String>);

fn of_row((key, version, value): Row) -> (i64, String) {
    (key, row_state(version, value.as_deref()))
}

/// A register without a value is one that nobody has written.
fn of_register((key, value): Register) -> Option<(i64, String)> {
    Some((key, value?))
}

/// A whole table at a level, through one member or through any.
pub async fn table(
    session: &Session,
    keyspace: &str,
    table: Table,
    level: Level,
    through: Option<Uuid>,
) -> Result<Found> {
    let name = schema::name(keyspace, table);
    let reading = || format!("reading {name} at {level}");
    let mut statement = Statement::new(format!("{} FROM {name}", columns(table)));
    statement.set_consistency(consistency(level));
    statement.set_page_size(PAGE);
    if let Some(host_id) = through {
        statement.set_load_balancing_policy(Some(pinned(host_id)));
    }
    let pages = session.query_iter(statement, ()).await.with_context(reading)?;
    match table {
        Table::Rows => {
            let rows = pages.rows_stream::<Row>().with_context(reading)?;
            rows.map_ok(of_row).try_collect().await.with_context(reading)
        }
        Table::Registers => {
            let rows = pages.rows_stream::<Register>().with_context(reading)?;
            let found = rows.try_filter_map(|row| async move { Ok(of_register(row)) });
            found.try_collect().await.with_context(reading)
        }
    }
}

/// One register at SERIAL, which ends what was begun on it.
pub fn serial_read(keyspace: &str) -> Statement {
    let name = schema::name(keyspace, Table::Registers);
    let mut statement = Statement::new(format!("SELECT value FROM {name} WHERE key = ?"));
    statement.set_consistency(scylla::statement::Consistency::Serial);
    statement
}

/// Registers at SERIAL.
pub async fn serial(session: &Session, keyspace: &str, keys: &BTreeSet<i64>) -> Result<Found> {
    let read =
        session.prepare(serial_read(keyspace)).await.context("preparing a read at SERIAL")?;
    let mut found = Found::new();
    for key in keys {
        let reading = || format!("reading register {key} at SERIAL");
        let result = session.execute_unpaged(&read, (*key,)).await.with_context(reading)?;
        let rows = result.into_rows_result().with_context(reading)?;
        let row = rows.maybe_first_row::<(Option<String>,)>().with_context(reading)?;
        found.extend(row.and_then(|(value,)| of_register((*key, value))));
    }
    Ok(found)
}
