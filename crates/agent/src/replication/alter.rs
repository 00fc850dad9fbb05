//! Changing the replication of a keyspace: read what it is, write the whole with the change in
//! it, and read it back. Both are read while all servers agree on the schema: what another
//! coordinator wrote and this one has not received is overwritten otherwise, and nobody sees it.

use super::{Change, Replication, View};
use crate::admin::ServerAdmin;
use crate::cql::{Connection, Endpoint, text};
use crate::words::replication::Refused;
use anyhow::Result;
use futures::future::BoxFuture;
use std::time::Duration;
use tokio::time::Instant;

/// How often that is looked at.
const LOOK: Duration = Duration::from_millis(500);

/// Where keyspaces are kept.
pub trait Keyspaces: Send + Sync {
    /// How one is replicated now.
    fn present<'a>(&'a self, keyspace: &'a str) -> BoxFuture<'a, Result<Replication>>;
    /// Replicate it so.
    fn replicate<'a>(&'a self, keyspace: &'a str, to: &'a Replication)
    -> BoxFuture<'a, Result<()>>;
}

impl Keyspaces for Endpoint {
    fn present<'a>(&'a self, keyspace: &'a str) -> BoxFuture<'a, Result<Replication>> {
        Box::pin(async move {
            let name = text(keyspace);
            let statement = format!(
                "SELECT JSON replication FROM system_schema.keyspaces WHERE keyspace_name = {name}"
            );
            let rows = Connection::open(self).await?.texts(&statement).await?;
            let refused = |why| anyhow::Error::msg(Refused::of(keyspace, &why));
            let row = rows.first().ok_or_else(|| refused(Refused::NoSuchKeyspace))?;
            Replication::read(row).ok_or_else(|| refused(Refused::NotRead { answer: row.clone() }))
        })
    }

    fn replicate<'a>(
        &'a self,
        keyspace: &'a str,
        to: &'a Replication,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            Ok(Connection::open(self).await?.execute(&to.statement(keyspace)).await?)
        })
    }
}

/// Where it is known whether servers agree on the schema.
pub trait Schema: Send + Sync {
    /// Do all of the ring that are up have the same one? Not known counts as no.
    fn is_agreed(&self) -> BoxFuture<'_, Result<bool>>;
}

impl Schema for &dyn ServerAdmin {
    fn is_agreed(&self) -> BoxFuture<'_, Result<bool>> {
        Box::pin(async move { Ok(self.read().await?.schema_agreed == Some(true)) })
    }
}

/// Wait until they do; false where they did not in time.
async fn agreed((schema, time): (&dyn Schema, Duration)) -> Result<bool> {
    let until = Instant::now() + time;
    loop {
        if schema.is_agreed().await? {
            return Ok(true);
        }
        if Instant::now() >= until {
            return Ok(false);
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// What became of a keyspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Altered {
    /// It was so already; nothing was written.
    Nothing,
    /// It was changed, from what it was before.
    From(Replication),
}

/// What a keyspace is, and what a change would make of it. An error says why it cannot.
pub async fn look(
    keyspaces: &dyn Keyspaces,
    keyspace: &str,
    change: &Change,
    view: &View,
) -> Result<(Replication, Replication)> {
    let present = keyspaces.present(keyspace).await?;
    let wanted = present.changed(change, view);
    let wanted = wanted.map_err(|why| anyhow::Error::msg(Refused::of(keyspace, &why)))?;
    Ok((present, wanted))
}

/// Change one keyspace. An error says why it was not changed, or what it is now. What it is before
/// is noted by `about_to`, right before the statement; where that fails nothing is written. `schema` is asked
/// for so long, before the statement and after it.
pub async fn alter(
    (keyspaces, schema): (&dyn Keyspaces, (&dyn Schema, Duration)),
    keyspace: &str,
    change: &Change,
    view: &View,
    about_to: impl FnOnce(&Replication) -> Result<()>,
) -> Result<Altered> {
    let refused = |why| anyhow::Error::msg(Refused::of(keyspace, &why));
    if !agreed(schema).await? {
        return Err(refused(Refused::NotAgreed));
    }
    let (present, wanted) = look(keyspaces, keyspace, change, view).await?;
    if wanted == present {
        return Ok(Altered::Nothing);
    }
    about_to(&present)?;
    keyspaces.replicate(keyspace, &wanted).await?;
    // Somebody elsewhere may have written what he had read before: of two statements the later one
    // is what all servers have once they agree.
    if !agreed(schema).await? {
        return Err(refused(Refused::NotSettled { wanted: wanted.shown() }));
    }
    let found = keyspaces.present(keyspace).await?;
    match found == wanted {
        true => Ok(Altered::From(present)),
        false => {
            let why = Refused::Differs { wanted: wanted.shown(), found: found.shown() };
            Err(anyhow::Error::msg(Refused::of(keyspace, &why)))
        }
    }
}
