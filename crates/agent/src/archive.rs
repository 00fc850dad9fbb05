//! The archive of the commit log, beside the loop: a look at the volume, then what the server says
//! after it, then the child, which sends what is new. The order matters: no byte is of a later
//! schema, and none was written before a truncation, than the entry says that brings it.

mod said;

use crate::admin::ServerAdmin;
use crate::cql::Endpoint;
use crate::transfer::attempt::Talk;
use crate::transfer::child::{self, End};
use crate::transfer::{describe, ring};
use palladion_agent_transfer::archive::look::{self, Looked, is_truncated};
use palladion_agent_transfer::archive::{Cursor, Ends, HostId, Next, Places, Step, next, note};
use palladion_agent_transfer::assign::{Own, archive};
use palladion_agent_transfer::orders::archive::{Archive, SchemaSaid};
use palladion_agent_transfer::restore::private;
use palladion_agent_transfer::tell::{Done, Line, Progress};
use palladion_agent_transfer::words::stopped::Stopped;
use palladion_api::backup::{ArchiveOrder, ArchiveStatus};
use said::Said;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::watch;

/// The schema for the child.
const FILE: &str = "schema.cql";

/// What a look is made with.
pub struct Bench {
    /// What is ordered.
    pub order: ArchiveOrder,
    /// What the member says of itself.
    pub own: Own,
    /// Where it all is.
    pub places: Places,
    /// The member.
    pub host: String,
    /// Its server.
    pub cql: Endpoint,
    /// Hash of its tokens.
    pub tokens_hash: String,
    /// The server, for what it knows of the ring.
    pub admin: Arc<dyn ServerAdmin>,
    /// Before this all was found, by a look of this agent.
    pub caught_up: Option<i64>,
}

/// What a look has come to.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// All that was acknowledged before this is archived, in seconds since 1970.
    pub caught_up: Option<i64>,
    /// Has a window ended, or opened? What was found before is of another one.
    pub is_other: bool,
    /// Why no window opens yet.
    pub waits_for: Option<String>,
    /// Is there more to send at once?
    pub is_more: bool,
    /// Bytes that wait in links.
    pub waits: u64,
    /// Why it has failed.
    pub failed: Option<String>,
}

/// What the agent holds of it between turns.
#[derive(Default)]
pub struct Held {
    /// What is noted on the volume; none before it was read.
    pub note: Option<Option<note::Note>>,
    /// When the look under way was begun, or the last one.
    pub begun: Option<Instant>,
    /// Is one under way?
    pub is_under_way: bool,
    /// When the first look was begun since the last one that found all archived.
    pub trying_since: Option<Instant>,
    /// What the last one has come to.
    pub last: Outcome,
    /// The limit that is on the volume.
    pub limit: Option<Option<u64>>,
    /// What was told last, and when.
    pub told: Option<(ArchiveStatus, Instant)>,
}

/// Look, ask, send.
pub async fn attempt(bench: Bench) -> Outcome {
    let mut outcome = Outcome::default();
    match carry_out(&bench, &mut outcome).await {
        Ok(()) => {}
        Err(why) => outcome.failed = Some(why),
    }
    outcome
}

async fn carry_out(bench: &Bench, outcome: &mut Outcome) -> Result<(), String> {
    let mut looked = looked(bench).await?;
    outcome.waits = looked.waits;
    let said = Said::ask(&bench.cql).await?;
    looked.volume.truncated = said.truncated_in()?;
    let ends = looked.ends.clone().or_else(|| ends(bench, &looked, &said));
    let found = next(
        &looked.volume,
        (&looked.cursor, ends),
        (&looked.course, &looked.scanned),
        looked.began,
    );
    let waits_for = found.waits.map(|segment| Stopped::TruncatedIn { segment }.to_string());
    outcome.waits_for = waits_for;
    let links: BTreeSet<i64> =
        looked.volume.there.iter().filter(|t| t.is_linked).map(|t| t.number).collect();
    let has_links = found.sent.iter().any(|number| links.contains(number));
    let until = looked.began;
    if found.steps.is_empty() && !has_links {
        let is_open = looked.cursor.since.is_some();
        outcome.caught_up = (is_open && found.is_all).then_some(until);
        outcome.is_more = !found.is_all;
        return Ok(());
    }
    let is_all = found.is_all;
    let is_other = |step: &Step| matches!(step, Step::Gap { .. } | Step::Opening { .. });
    outcome.is_other = looked.note.is_none() || found.steps.iter().any(is_other);
    let order = order(bench, &looked, (found, said), until).await?;
    let told = archive::archive(&bench.order, &bench.own, order).map_err(|why| why.to_string())?;
    match run(&told).await? {
        Done::Archived { is_all: true, .. } if is_all => outcome.caught_up = Some(until),
        Done::Archived { .. } => outcome.is_more = true,
        _ => return Err(Stopped::Crashed.to_string()),
    }
    Ok(())
}

async fn looked(bench: &Bench) -> Result<Looked, String> {
    let (places, host) = (bench.places.clone(), bench.host.clone());
    let repository = bench.order.repository.id.clone();
    let look = move || look::look(&places, &repository, &host);
    let looked = tokio::task::spawn_blocking(look).await.map_err(|error| error.to_string())?;
    looked.map_err(|error| {
        let path = bench.places.commitlog.display().to_string();
        Stopped::CommitLog { path, why: error.to_string() }.to_string()
    })
}

/// Why the window that is open ends, by what the server and the operator say.
fn ends(bench: &Bench, looked: &Looked, said: &Said) -> Option<Ends> {
    let note = looked.note.as_ref().filter(|note| note.cursor.since.is_some())?;
    if note.window != bench.order.window {
        return Some(Ends::Restored);
    }
    if note.cursor.tokens_hash != bench.tokens_hash {
        return Some(Ends::Tokens);
    }
    is_truncated(&note.truncated, &said.truncated, &said.own).then_some(Ends::Truncated)
}

async fn order(
    bench: &Bench,
    looked: &Looked,
    (found, said): (Next, Said),
    until: i64,
) -> Result<Archive, String> {
    let jobs = bench.admin.jobs().ok_or_else(|| Stopped::NotServing.to_string())?;
    let ring = ring::view(jobs).await.map_err(|why| why.to_string())?.tokens_hash;
    let known = looked.note.as_ref().filter(|note| note.schema_version == said.schema_version);
    let known = known.and_then(|note| note.cursor.schema.clone());
    let schema = match known {
        Some(schema) => SchemaSaid::Known(schema),
        None => SchemaSaid::File(described(bench).await?),
    };
    let host = HostId::parse(&bench.host).ok_or_else(|| Stopped::NotServing.to_string())?;
    Ok(Archive {
        repository: bench.order.repository.id.clone(),
        host,
        places: bench.places.clone(),
        note: looked.note.clone(),
        steps: found.steps,
        is_all: found.is_all,
        sent: found.sent,
        until,
        since: since(&looked.cursor, bench.caught_up.filter(|at| *at <= looked.began)),
        found: looked.ended,
        loss: i64::from(bench.order.max_loss_seconds),
        schema,
        schema_version: said.schema_version,
        tokens_hash: bench.tokens_hash.clone(),
        ring,
        version: bench.own.version.clone(),
        truncated: said.truncated,
        broken: looked.volume.broken.clone(),
        window: bench.order.window,
    })
}

/// When the last look of the window that is open was begun that has found all; 0 where none has.
fn since(cursor: &Cursor, caught_up: Option<i64>) -> i64 {
    let of_window = |at: &i64| cursor.since.is_some_and(|opened| *at > opened);
    caught_up.filter(of_window).map_or(cursor.all, |at| at.max(cursor.all))
}

/// The schema as backups write it, in a file.
async fn described(bench: &Bench) -> Result<std::path::PathBuf, String> {
    let text = describe::text(&bench.cql).await.map_err(crate::cql::Error::words)?;
    let file = bench.places.notes.join(FILE);
    let write = std::fs::create_dir_all(&bench.places.notes).and_then(|()| private(&file, &text));
    write.map_err(|error| {
        let path = file.display().to_string();
        Stopped::Journal { path, why: error.to_string() }.to_string()
    })?;
    Ok(file)
}

async fn run(told: &palladion_agent_transfer::settings::Settings) -> Result<Done, String> {
    // Nobody ends it but its own end, and that of the agent.
    let (_stop, stop) = watch::channel(false);
    let (_rate, rate) = watch::channel(None);
    let (progress, _far) = watch::channel(Progress::default());
    let mut talk = Talk { stop, rate, progress };
    match child::run(told, &mut talk).await.map_err(|why| why.to_string())? {
        End::Said(Some(Line::Done(done))) => Ok(done),
        End::Said(Some(Line::Stopped { message, .. })) => Err(message),
        End::Said(Some(Line::Progress(_)) | None) | End::Stopped => {
            Err(Stopped::Crashed.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_newer_than_the_last_look_of_their_window_that_found_all() {
        let of = |opened, all, caught_up| {
            since(&Cursor { since: opened, all, ..Cursor::default() }, caught_up)
        };
        assert_eq!((of(Some(100), 120, None), of(Some(100), 120, Some(150))), (120, 150));
        assert_eq!(of(Some(100), 120, Some(110)), 120);
        // Of the window before; and while what one begins with is sent by several looks.
        assert_eq!((of(None, 0, Some(90)), of(Some(100), 0, Some(100))), (0, 0));
        assert_eq!(of(Some(100), 0, Some(150)), 150);
    }
}
