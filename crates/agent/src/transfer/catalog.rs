//! A backup is compared with the ring before anything is changed: which tables it has, what the
//! ring has under their names, and how much each member of the backup has of them. Of a backup
//! that a ring is to begin with it is read who its members were; no server is asked, as there is none.

use super::attempt::Talk;
use super::settled::settled;
use super::statements::ring_schema;
use super::step::{Step, ask, child, other};
use super::{Bench, backup};
use crate::cql::Connection;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use palladion_agent_transfer::assign::restore::{read, read_ring};
use palladion_agent_transfer::orders::restore::Amounts;
use palladion_agent_transfer::restore::choose;
use palladion_agent_transfer::restore::schema::{Chosen, TableName, There, there};
use palladion_agent_transfer::tell::Done;
use palladion_agent_transfer::words::stopped::Stopped;
use palladion_api::backup::{CatalogWork, Cataloged, TableFound, TableState};
use std::time::{Duration, Instant};

/// Characters of why a table differs, and of the name of an index: the schema takes no more.
const DIFFERS: usize = 500;
const INDEX: usize = 250;

/// Compare it.
///
/// # Errors
/// There is no such backup, it does not have what is restored, or the server cannot be asked.
pub async fn catalog(bench: &Bench, work: &CatalogWork, talk: &mut Talk) -> Step<Done> {
    let manifest = work.manifest_hash.as_deref();
    let told = match work.whole_ring {
        true => read_ring(&bench.order, &bench.own, work),
        false => read(&bench.order, &bench.own, (manifest, &work.tables, Amounts::Sum)),
    };
    let Done::Read { manifest_hash, window, sources, members, journals } =
        child(told, talk).await?
    else {
        return Err(other());
    };
    let backup = backup::schema(bench)?;
    let chosen = choose(&backup, &work.tables)?;
    let mut tables = Vec::new();
    if work.whole_ring {
        tables.extend(chosen.iter().map(|one| of(one, TableState::Absent, one.gc_grace_seconds)));
    } else {
        let ring = ask(talk, ring_schema(bench)).await?;
        for one in &chosen {
            let found = there(&backup, &ring, one);
            tables.push(ask(talk, found_of(bench, one, found)).await?);
        }
    }
    let time = |seconds: i64| Time(Timestamp::from_second(seconds).unwrap_or_default());
    let (from, to) = (time(window.from), time(window.to));
    let cataloged = Box::new(Cataloged { from, to, sources, tables, members, journals });
    Ok(Done::Cataloged { manifest_hash, cataloged })
}

fn of(one: &Chosen, state: TableState, gc_grace_seconds: u64) -> TableFound {
    TableFound {
        from: one.from.to_string(),
        to: one.to.to_string(),
        state,
        gc_grace_seconds,
        differs: None,
        index: None,
    }
}

async fn found_of(bench: &Bench, one: &Chosen, found: There) -> Result<TableFound, Stopped> {
    Ok(match found {
        There::Absent => of(one, TableState::Absent, one.gc_grace_seconds),
        There::Table { gc_grace_seconds, differs, storage_attached } => TableFound {
            differs: differs.map(|text| cut(&text, DIFFERS)),
            index: storage_attached.map(|text| cut(&text, INDEX)),
            ..of(one, state(bench, &one.to).await?, gc_grace_seconds)
        },
    })
}

/// Asked for so long: that a server was killed, the others know after some ten seconds only, and
/// until then a read waits for it in vain.
const PATIENCE: Duration = Duration::from_secs(40);
/// And again after this.
const AGAIN: Duration = Duration::from_secs(2);

/// A table has rows until all replicas have said that it has none: one that reads too many
/// tombstones to answer in time may have one. While a member is down that is waited for.
async fn state(bench: &Bench, table: &TableName) -> Result<TableState, Stopped> {
    bench.server()?;
    let begun = Instant::now();
    loop {
        let asked = async {
            let mut connection = Connection::open(&bench.cql).await?;
            connection.is_empty(&table.keyspace, &table.table).await
        };
        match asked.await {
            Ok(true) => return Ok(TableState::Empty),
            Ok(false) => return Ok(TableState::HasRows),
            Err(error) => {
                let table = table.to_string();
                let error = format!("{:#}", anyhow::Error::from(error));
                tracing::info!(table, error, "it is not known whether a table has rows");
                settled(bench).await?;
            }
        }
        if begun.elapsed() > PATIENCE {
            return Ok(TableState::HasRows);
        }
        tokio::time::sleep(AGAIN).await;
    }
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}
