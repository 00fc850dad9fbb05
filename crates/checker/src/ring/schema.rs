//! The checked tables. Nothing heals in them while we look: no read repair, no
//! second try of a read at another replica.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use scylla::client::session::Session;
use scylla::response::query_result::QueryResult;
use scylla::statement::Consistency;
use scylla::statement::unprepared::Statement;

use crate::judge::Table;

/// A change of the schema waits for all members that are up.
const PATIENCE: Duration = Duration::from_secs(60);

const OPTIONS: &str = "WITH read_repair = 'NONE' AND speculative_retry = 'NEVER'";

/// Make keyspace and tables, where they are not there yet.
pub async fn make(session: &Session, keyspace: &str, copies: u32) -> Result<()> {
    let datacenter = datacenter(session).await?;
    let statements = [
        format!(
            "CREATE KEYSPACE IF NOT EXISTS {keyspace} WITH replication = {{'class': 'NetworkTopologyStrategy', '{datacenter}': {copies}}}"
        ),
        format!(
            "CREATE TABLE IF NOT EXISTS {} (key bigint PRIMARY KEY, version bigint, value text) {OPTIONS}",
            name(keyspace, Table::Rows)
        ),
        format!(
            "CREATE TABLE IF NOT EXISTS {} (key bigint PRIMARY KEY, value text) {OPTIONS}",
            name(keyspace, Table::Registers)
        ),
    ];
    for text in statements {
        patiently(session, &text, Consistency::Quorum).await?;
    }
    session.refresh_metadata().await.context("reading the schema back")
}

/// A table with its keyspace.
pub fn name(keyspace: &str, table: Table) -> String {
    format!("{keyspace}.{}", table.name())
}

async fn datacenter(session: &Session) -> Result<String> {
    let text = "SELECT data_center FROM system.local";
    let rows = patiently(session, text, Consistency::One).await?;
    let rows = rows.into_rows_result().context("reading the datacenter")?;
    let (datacenter,) = rows.single_row::<(String,)>().context("reading the datacenter")?;
    Ok(datacenter)
}

/// Send what can be sent again: the member that is asked may end at any moment.
async fn patiently(session: &Session, text: &str, consistency: Consistency) -> Result<QueryResult> {
    let end = Instant::now() + PATIENCE;
    loop {
        let mut statement = Statement::new(text);
        statement.set_consistency(consistency);
        statement.set_request_timeout(Some(PATIENCE));
        match session.query_unpaged(statement, ()).await {
            Ok(result) => return Ok(result),
            Err(_) if Instant::now() < end => tokio::time::sleep(Duration::from_secs(1)).await,
            Err(error) => return Err(error).with_context(|| format!("running {text}")),
        }
    }
}
