//! The end of a restore: indexes and views are created of what is loaded, and the tables get
//! their own `gc_grace_seconds` back. That comes last: until then no deletion is forgotten.

use super::attempt::Talk;
use super::statements::{agreed, execute, ring_schema, until_nothing_is_missing};
use super::step::{Step, ask, child, other};
use super::{Bench, backup};
use crate::cql::quoted;
use palladion_agent_transfer::assign::restore::{read, table};
use palladion_agent_transfer::orders::restore::Amounts;
use palladion_agent_transfer::restore::schema::{Described, Statement, TableName, finishing};
use palladion_agent_transfer::restore::{choose, mapping};
use palladion_agent_transfer::tell::Done;
use palladion_agent_transfer::words::refusal::Refusal;
use palladion_agent_transfer::words::stopped::Stopped;
use palladion_api::backup::{IndexesWork, OwnGrace, SettleWork};
use std::collections::BTreeSet;

/// Do it.
///
/// # Errors
/// The server refuses, or cannot be asked; or the backup cannot be read.
pub async fn settle(bench: &Bench, work: &SettleWork, talk: &mut Talk) -> Step<Done> {
    if let Some(indexes) = &work.indexes {
        finish(bench, indexes, talk).await?;
    }
    if let Some(meanwhile) = work.gc_grace_seconds {
        // One that was asked for by an earlier order may come only now.
        ask(talk, agreed(bench)).await?;
        let ring = ask(talk, ring_schema(bench)).await?;
        let statements = grace(&ring, &work.own, meanwhile)?;
        ask(talk, execute(bench, &statements)).await?;
    }
    Ok(Done::Settled)
}

async fn finish(bench: &Bench, work: &IndexesWork, talk: &mut Talk) -> Step<()> {
    let told = (Some(work.manifest_hash.as_str()), work.tables.as_slice(), Amounts::Leave);
    let Done::Read { .. } = child(read(&bench.order, &bench.own, told), talk).await? else {
        return Err(other());
    };
    let backup = backup::schema(bench)?;
    let chosen = choose(&backup, &work.tables)?;
    let created: Result<BTreeSet<TableName>, Refusal> =
        work.created.iter().map(|text| table(text)).collect();
    let created = created.map_err(Stopped::from)?;
    let missing =
        |ring: &Described| Ok(finishing(&backup, ring, &chosen, &mapping(&work.tables), &created));
    ask(talk, until_nothing_is_missing(bench, missing)).await.map(drop)
}

/// Of tables that still have what the restore has given them. A table that is gone needs nothing.
fn grace(ring: &Described, own: &[OwnGrace], meanwhile: u64) -> Result<Vec<Statement>, Stopped> {
    let mut statements = Vec::new();
    for OwnGrace { table: text, gc_grace_seconds } in own {
        let name = table(text)?;
        if ring.gc_grace_seconds(&name) == Some(meanwhile) && *gc_grace_seconds != meanwhile {
            let TableName { keyspace, table } = &name;
            let cql = format!(
                "ALTER TABLE {}.{} WITH gc_grace_seconds = {gc_grace_seconds}",
                quoted(keyspace),
                quoted(table)
            );
            statements.push(Statement { about: format!("table {text}"), cql });
        }
    }
    Ok(statements)
}
