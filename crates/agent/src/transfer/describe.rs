//! The schema as the server describes it, in a file for the child. With internals:
//! a restore needs the IDs of tables and the columns that were dropped.

use super::{Bench, ring};
use crate::cql::{self, Connection, Endpoint};
use palladion_agent_transfer::decide::Views;
use palladion_agent_transfer::restore::private;
use palladion_agent_transfer::words::stopped::Stopped;
use std::path::PathBuf;

const DESCRIBE: &str = "DESCRIBE SCHEMA WITH INTERNALS";
/// One transfer at a time: one file.
const FILE: &str = "schema.cql";

/// Write it; how the server saw its ring before and after.
///
/// # Errors
/// The server cannot be asked, or the file not be written.
pub async fn describe(bench: &Bench) -> Result<(PathBuf, Views), Stopped> {
    let jobs = bench.jobs()?;
    let before = ring::view(jobs).await?;
    let text = text(&bench.cql)
        .await
        .map_err(|error| Stopped::Described { why: format!("{:#}", anyhow::Error::from(error)) })?;
    let after = ring::view(jobs).await?;
    let file = bench.own.state.join(FILE);
    private(&file, &text).map_err(|error| Stopped::Journal {
        path: file.display().to_string(),
        why: error.to_string(),
    })?;
    Ok((file, Views { before, after, tokens: None }))
}

/// As backups and archives write it: they are compared by its hash.
///
/// # Errors
/// The server cannot be asked.
pub async fn text(cql: &Endpoint) -> Result<String, cql::Error> {
    let mut text = statements(cql).await?.join("\n\n");
    text.push('\n');
    Ok(text)
}

/// Its statements.
///
/// # Errors
/// The server cannot be asked.
pub async fn statements(cql: &Endpoint) -> Result<Vec<String>, cql::Error> {
    Connection::open(cql).await?.described(DESCRIBE).await
}
