//! Tables that the ring lacks are created, and those that are to lose their rows are truncated.
//! It is noted on the volume, before the first statement, which tables were not there: after a
//! crash only those are altered further, and no table is truncated twice.
//!
//! Before a truncation this member takes a snapshot of its own, `restore-<transfer>`; the other
//! members take theirs where `auto_snapshot` is on, as it is by default. Nobody but a person
//! clears it (`nodetool clearsnapshot -t`). There is one of a restore: a truncation that is tried
//! again, as while a member is down, has the first one, and what is left of a snapshot that was
//! interrupted is cleared before the next is taken, or when its restore is over.

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
    /// The snapshot before that, which has all that were to be truncated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    snapshot: Option<String>,
    /// One that is being taken: it is not known which tables it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    taking: Option<String>,
}

impl Note {
    fn save(&self, bench: &Bench) -> Result<(), Stopped> {
        let path = path(&bench.own.state, &bench.order.id);
        durable::write_json(&path, self).map_err(|error| Stopped::Scratch {
            path: path.display().to_string(),
            why: format!("{error:#}"),
        })
    }
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
    let (id, truncated) = (bench.order.id.clone(), BTreeSet::new());
    let note = Note { id, created, truncated, snapshot: None, taking: None };
    note.save(bench)?;
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
    snapshot(bench, &due, note).await?;
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
        note.save(bench)?;
    }
    Ok(())
}

/// Once: a truncation that is tried again has the snapshot of its first try. Of one that was
/// interrupted it is not known which tables it has: it goes, and the next has another tag.
async fn snapshot(bench: &Bench, tables: &[String], note: &mut Note) -> Result<(), Stopped> {
    if note.snapshot.is_some() {
        return Ok(());
    }
    let jobs = bench.jobs()?;
    if let Some(tag) = note.taking.clone().filter(|tag| is_tag(tag)) {
        jobs.clear_snapshot(&tag, &[]).await.map_err(down)?;
    }
    let now = Timestamp::now().as_second();
    let tag = format!("{TAG}{}-{now}", name(&bench.order.id));
    note.taking = Some(tag.clone());
    note.save(bench)?;
    let (of, flush) = (Selection::default(), BeforeSnapshot::First);
    let what = SnapshotTask { of, name: tag.clone(), flush, ttl_seconds: None };
    match jobs.take_snapshot(&what, tables).await {
        Err(Error::Failed { message: why, .. }) => {
            return Err(Stopped::NoSnapshotBefore { tag, why });
        }
        Err(error) => return Err(down(error)),
        Ok(()) => {}
    }
    (note.snapshot, note.taking) = (Some(tag), None);
    note.save(bench)
}

/// Is it a tag of ours? An empty one would clear all snapshots that there are.
fn is_tag(tag: &str) -> bool {
    tag.strip_prefix(TAG).is_some_and(|rest| !rest.is_empty() && !rest.contains(['/', '.']))
}

/// The snapshot that was begun for the work of a note, and that nobody knows to be whole.
pub fn unfinished(note: &Path) -> Option<String> {
    let note = durable::read_json::<Note>(note).ok().flatten()?;
    note.taking.filter(|tag| is_tag(tag))
}
