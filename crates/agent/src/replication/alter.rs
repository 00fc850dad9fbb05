//! Changing the replication of a keyspace: read what it is, write the whole with the change in
//! it, and read it back.

use super::{Change, Replication, View};
use crate::cql::{Connection, Endpoint, text};
use crate::words::replication::Refused;
use anyhow::Result;
use futures::future::BoxFuture;

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

/// Change one keyspace. An error says why it was not changed, or what it is now.
pub async fn alter(
    keyspaces: &dyn Keyspaces,
    keyspace: &str,
    change: &Change,
    view: &View,
) -> Result<Altered> {
    let (present, wanted) = look(keyspaces, keyspace, change, view).await?;
    if wanted == present {
        return Ok(Altered::Nothing);
    }
    keyspaces.replicate(keyspace, &wanted).await?;
    // Somebody elsewhere may have written what he had read before.
    let found = keyspaces.present(keyspace).await?;
    match found == wanted {
        true => Ok(Altered::From(present)),
        false => {
            let why = Refused::Differs { wanted: wanted.shown(), found: found.shown() };
            Err(anyhow::Error::msg(Refused::of(keyspace, &why)))
        }
    }
}
