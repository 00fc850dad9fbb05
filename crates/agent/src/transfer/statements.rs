//! The schema of the ring, and statements that change it: by one connection, one after the
//! other. What the server refuses because of what the statement says is final; all else is tried
//! again.

use super::{Bench, describe};
use crate::cql::{Connection, Error};
use palladion_agent_transfer::restore::schema::{Described, Statement};
use palladion_agent_transfer::words::stopped::Stopped;
use std::time::Duration;

/// So often it is done what is missing, and looked again: a statement may need another one.
const ROUNDS: u32 = 3;
/// Members hear of a schema within seconds; they are asked so often, so long apart.
const LOOKS: u32 = 30;
const PAUSE: Duration = Duration::from_secs(1);
/// Numbers of the protocol: syntax, rights, an invalid statement, an invalid option.
const FINAL: [i32; 4] = [0x2000, 0x2100, 0x2200, 0x2300];
/// It is there already.
const ALREADY_EXISTS: i32 = 0x2400;

/// The schema of the ring as the member's server has it now.
///
/// # Errors
/// The server cannot be asked, or its schema has what is not known.
pub async fn ring_schema(bench: &Bench) -> Result<Described, Stopped> {
    bench.server()?;
    let statements = describe::statements(&bench.cql).await;
    let statements = statements.map_err(|error| Stopped::Described { why: words(error) })?;
    Described::parse(&statements.join("\n\n")).map_err(|why| Stopped::RingSchemaUnread { why })
}

fn words(error: Error) -> String {
    format!("{:#}", anyhow::Error::from(error))
}

/// What statements about tables begin with.
const TABLE: &str = "table ";

/// Execute what is missing, until nothing is.
///
/// # Errors
/// The server cannot be asked, or refuses a statement; or something is missing all the same.
pub async fn until_nothing_is_missing(
    bench: &Bench,
    missing: impl Fn(&Described) -> Result<Vec<Statement>, Stopped>,
) -> Result<Described, Stopped> {
    for _ in 0..ROUNDS {
        let ring = ring_schema(bench).await?;
        let statements = missing(&ring)?;
        if statements.is_empty() {
            return Ok(ring);
        }
        execute(bench, &statements).await?;
    }
    let ring = ring_schema(bench).await?;
    match missing(&ring)?.into_iter().next() {
        None => Ok(ring),
        Some(statement) => Err(Stopped::Missing { about: statement.about }),
    }
}

/// Execute them.
///
/// # Errors
/// The server cannot be asked, or refuses one.
pub async fn execute(bench: &Bench, statements: &[Statement]) -> Result<(), Stopped> {
    bench.server()?;
    let connection = Connection::open(&bench.cql).await;
    let mut connection = connection.map_err(|error| Stopped::Described { why: words(error) })?;
    for Statement { about, cql } in statements {
        tracing::info!(id = bench.order.id, about, "changing the schema for a restore");
        match connection.execute(cql).await {
            // What was missing a moment ago is another one's, and may have rows.
            Err(Error::Refused { code: ALREADY_EXISTS, .. }) if about.starts_with(TABLE) => {
                return Err(Stopped::AppearedMeanwhile { about: about.clone() });
            }
            Ok(()) | Err(Error::Refused { code: ALREADY_EXISTS, .. }) => {}
            Err(Error::Refused { code, message: why }) if FINAL.contains(&code) => {
                return Err(Stopped::StatementRefused { about: about.clone(), why });
            }
            Err(error) => {
                let (about, why) = (about.clone(), words(error));
                return Err(Stopped::StatementFailed { about, why });
            }
        }
    }
    Ok(())
}

/// Wait until all members that are up have one schema: streams of a table fail where it is not
/// known yet.
///
/// # Errors
/// They do not agree soon, or the server cannot be asked.
pub async fn agreed(bench: &Bench) -> Result<(), Stopped> {
    for look in 0..LOOKS {
        if look > 0 {
            tokio::time::sleep(PAUSE).await;
        }
        let reading = bench.server()?.read().await.map_err(super::down)?;
        if reading.schema_agreed == Some(true) {
            return Ok(());
        }
    }
    Err(Stopped::NotAgreed)
}
