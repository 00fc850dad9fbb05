//! Tables that the ring lacks are created, and those that are to lose their rows are truncated.
//! It is noted on the volume, before the first statement, which tables were not there: after a
//! crash only those are altered further, and no table is truncated twice.
//!
//! Before a truncation this member takes a snapshot of its own, `restore-<transfer>`; the other
//! members take theirs where `auto_snapshot` is on, as it is by default. Nobody but a person
//! clears it (`nodetool clearsnapshot -t`).

use super::attempt::Talk;
use super::statements::{agreed, execute, ring_schema, until_nothing_is_missing};
use super::step::{Step, ask, child, other};
use super::{Bench, backup, down};
use crate::admin::Error;
use crate::cql::quoted;
use crate::volume::durable;
use jiff::Timestamp;
use palladion_agent_transfer::assign::restore::{read, table};
use palladion_agent_transfer::orders::restore::Amounts;
use palladion_agent_transfer::restore::schema::{
    Chosen, Described, Ids, Statement, TableName, There, altering, creating, there,
};
use palladion_agent_transfer::restore::{choose, mapping};
use palladion_agent_transfer::tell::Done;
use palladion_agent_transfer::words::stopped::Stopped;
use palladion_api::backup::SchemaWork;
use palladion_api::task::{BeforeSnapshot, Selection, SnapshotTask};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What begins the name of a note, and of a snapshot before a truncation.
pub const NOTE: &str = "schema-";
const TAG: &str = "restore-";
/// What is noted of the work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Note {
    id: String,
    /// Tables that were not there.
    created: BTreeSet<String>,
    /// Tables that have lost their rows.
    truncated: BTreeSet<String>,
}

/// Create them.
///
/// # Errors
/// There is no such backup, the server refuses, or it cannot be asked.
pub async fn create(bench: &Bench, work: &SchemaWork, talk: &mut Talk) -> Step<Done> {
    let told = (Some(work.manifest_hash.as_str()), work.tables.as_slice(), Amounts::Leave);
    let Done::Read { .. } = child(read(&bench.order, &bench.own, told), talk).await? else {
        return Err(other());
    };
    let backup = backup::schema(bench)?;
    let chosen = choose(&backup, &work.tables)?;
    let ring = ask(talk, ring_schema(bench)).await?;
    let mut note = noted(bench, (&backup, &ring), &chosen)?;
    let is_ours = |one: &&Chosen| note.created.contains(&one.to.to_string());
    let ours: Vec<Chosen> = chosen.iter().filter(is_ours).cloned().collect();
    let missing = |ring: &Described| {
        let (mapping, names) = (mapping(&work.tables), &work.datacenters);
        let ids = if work.keep_ids { Ids::Kept } else { Ids::New };
        let set = (work.gc_grace_seconds, ids);
        let statements = creating(&backup, ring, &chosen, &mapping, names, set);
        let mut statements = statements.map_err(|why| Stopped::NotChosen { why })?;
        statements.extend(altering(&backup, ring, &ours));
        Ok(statements)
    };
    let ring = ask(talk, until_nothing_is_missing(bench, missing)).await?;
    chosen.iter().try_for_each(|one| fits(&backup, &ring, one))?;
    if work.keep_ids {
        chosen.iter().try_for_each(|one| has_its_id(&backup, &ring, one))?;
    }
    // Nobody truncates what is not restored.
    let is_chosen = |text: &&String| chosen.iter().any(|one| one.to.to_string() == **text);
    if let Some(table) = work.truncate.iter().find(|text| !is_chosen(text)) {
        return Err(Stopped::NotRestored { table: table.clone() }.into());
    }
    ask(talk, truncate(bench, work, &mut note)).await?;
    ask(talk, agreed(bench)).await?;
    Ok(Done::Created)
}

/// The note of a transfer.
pub fn path(state: &Path, id: &str) -> PathBuf {
    state.join(format!("{NOTE}{}.json", name(id)))
}

/// The ID of the order to create tables, of the restore that another order is of: both begin
/// with the name of the restore, and end with that of the work.
pub fn of_same_restore(id: &str) -> String {
    let work = id.rfind("-load-").or_else(|| id.rfind("-replay-"));
    let restore = work.or_else(|| id.rfind('-')).map_or(id, |end| &id[..end]);
    format!("{restore}-schema")
}

/// The ID of a transfer, as part of names.
fn name(id: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    id.chars().map(|c| if is_part(c) { c } else { '_' }).collect()
}

/// What was noted, or is from now on.
fn noted(
    bench: &Bench,
    (backup, ring): (&Described, &Described),
    chosen: &[Chosen],
) -> Result<Note, Stopped> {
    let path = path(&bench.own.state, &bench.order.id);
    let failed = |error: anyhow::Error| Stopped::Scratch {
        path: path.display().to_string(),
        why: format!("{error:#}"),
    };
    let read = durable::read_json::<Note>(&path).map_err(failed)?;
    if let Some(note) = read.filter(|note| note.id == bench.order.id) {
        return Ok(note);
    }
    let is_absent = |one: &&Chosen| there(backup, ring, one) == There::Absent;
    let created = chosen.iter().filter(is_absent).map(|one| one.to.to_string()).collect();
    let note = Note { id: bench.order.id.clone(), created, truncated: BTreeSet::new() };
    durable::write_json(&path, &note).map_err(failed)?;
    Ok(note)
}

fn fits(backup: &Described, ring: &Described, one: &Chosen) -> Result<(), Stopped> {
    let table = one.to.to_string();
    match there(backup, ring, one) {
        There::Absent => Err(Stopped::NoTable { table }),
        There::Table { differs: Some(why), .. } => Err(Stopped::Differs { table, why }),
        There::Table { storage_attached: Some(index), .. } => {
            Err(Stopped::IndexThere { table, index })
        }
        There::Table { differs: None, storage_attached: None, .. } => Ok(()),
    }
}

/// What a commit log has of a table that is not there by its ID is passed over, without a word to
/// whoever replays it.
fn has_its_id(backup: &Described, ring: &Described, one: &Chosen) -> Result<(), Stopped> {
    let (expected, found) = (backup.id(&one.from), ring.id(&one.to));
    match expected.is_some() && expected == found {
        true => Ok(()),
        false => {
            let said = |id: Option<&str>| id.unwrap_or("none").to_string();
            let (table, found, expected) = (one.to.to_string(), said(found), said(expected));
            Err(Stopped::OtherTableId { table, found, expected })
        }
    }
}

/// Take the rows of those tables that are named and that were there before, each once.
async fn truncate(bench: &Bench, work: &SchemaWork, note: &mut Note) -> Result<(), Stopped> {
    let is_due = |name: &&String| !note.truncated.contains(*name) && !note.created.contains(*name);
    let due: Vec<String> = work.truncate.iter().filter(is_due).cloned().collect();
    if due.is_empty() {
        return Ok(());
    }
    snapshot(bench, &due).await?;
    for text in due {
        let TableName { keyspace, table } = table(&text)?;
        let cql = format!("TRUNCATE TABLE {}.{}", quoted(&keyspace), quoted(&table));
        if let Err(why) = execute(bench, &[Statement { about: format!("table {text}"), cql }]).await
        {
            // A server may carry it out yet, and rows that are loaded before would go with it.
            tokio::time::sleep(bench.truncating).await;
            return Err(why);
        }
        note.truncated.insert(text);
        let path = path(&bench.own.state, &bench.order.id);
        durable::write_json(&path, note).map_err(|error| Stopped::Scratch {
            path: path.display().to_string(),
            why: format!("{error:#}"),
        })?;
    }
    Ok(())
}

/// Under a new tag at each try: of one that was interrupted it is not known which tables it has.
async fn snapshot(bench: &Bench, tables: &[String]) -> Result<(), Stopped> {
    let now = Timestamp::now().as_second();
    let tag = format!("{TAG}{}-{now}", name(&bench.order.id));
    let (of, flush) = (Selection::default(), BeforeSnapshot::First);
    let what = SnapshotTask { of, name: tag.clone(), flush, ttl_seconds: None };
    match bench.jobs()?.take_snapshot(&what, tables).await {
        Err(Error::Failed { message: why, .. }) => Err(Stopped::NoSnapshotBefore { tag, why }),
        Err(error) => Err(down(error)),
        Ok(()) => Ok(()),
    }
}
