//! Repair of what is due, segment by segment: each is noted before it is called
//! and when it is done, so that whoever comes after a yield, a kill or a restart
//! goes on where it stood. One that fails keeps none of the others from their turn.

use super::bench::{Bench, Halt, Step};
use super::repair::follow;
use crate::admin::{Reading, RepairTicket};
use crate::repair::Memory;
use crate::repair::due::due;
use crate::repair::ranges::Range;
use crate::repair::segments::{Segment, plan};
use crate::repair::survey::{Survey, calm_ring, survey};
use crate::volume::jobs::{Item, Notes};
use crate::words::calls::Doing;
use crate::words::repair::Unclear;
use crate::words::work::{Done, Failed};
use jiff::Timestamp;
use palladion_api::member::{JobCause, JobUnit};
use palladion_api::task::{DEFAULT_SEGMENT_BYTES, KeyspaceResult, KeyspaceState, RepairTask};
use palladion_api::words::{Count, Names};
use std::collections::BTreeMap;

/// How the segments of a keyspace went: the first failure, and how many.
type Failures = BTreeMap<String, (usize, String)>;

/// Repair what is due.
pub async fn repair(bench: &Bench, what: &RepairTask) -> Step<Done> {
    match adopt(bench).await {
        Ok(()) => {}
        Err(Halt::Failed(JobCause::ServerError, why)) => {
            tracing::warn!(why, "the segment that an earlier agent began does not count");
        }
        Err(halt) => return Err(halt),
    }
    bench.may_stop()?;
    let reading = read(bench).await?;
    let found = survey(bench.admin.as_ref(), bench.schemas.as_ref(), &reading).await;
    let found = found.map_err(unclear)?;
    change(bench, |memory| found.observed_by(memory, now()))?;
    let mut schema = reading.schema_version;
    let segments = segments(bench, what, &found).await?;
    let mut failures = Failures::new();
    let mut failed = 0;
    for (index, segment) in segments.iter().enumerate() {
        bench.show_parts(index, segments.len(), JobUnit::Segments);
        bench.may_stop()?;
        // Whoever moves does so for longer than a segment takes: none of the others is tried.
        let reading = read(bench).await?;
        let ring = calm(&reading)?;
        if reading.schema_version != schema {
            let found = survey(bench.admin.as_ref(), bench.schemas.as_ref(), &reading).await;
            let found = found.map_err(unclear)?;
            change(bench, |memory| found.observed_by(memory, now()))?;
            schema = reading.schema_version;
        }
        match left(bench, one(bench, segment, &ring).await) {
            Ok(()) => {}
            Err(Halt::Failed(JobCause::ServerError, why)) => {
                failed += 1;
                let of = failures.entry(segment.keyspace.clone()).or_insert((0, why));
                of.0 += 1;
            }
            Err(halt) => return Err(halt),
        }
    }
    tell_keyspaces(bench, &segments, &failures)?;
    match failures.into_values().next() {
        Some((_, why)) => {
            let segments = segments.len();
            let why = Failed::Segments { failed, segments, why };
            Err(Halt::Failed(JobCause::ServerError, why.to_string()))
        }
        None => Ok(done(&segments)),
    }
}

/// What comes first stands first in the list, and is repaired first.
async fn segments(bench: &Bench, what: &RepairTask, found: &Survey) -> Step<Vec<Segment>> {
    let all = bench.repairs.read(|memory| due(memory, &bench.cover, now()));
    let bytes = match bench.jobs()?.tables().await {
        Ok(bytes) => bytes,
        Err(error) => return Err(bench.failed(Doing::ListTables, error).await),
    };
    let size = what.segment_bytes.unwrap_or(DEFAULT_SEGMENT_BYTES);
    Ok(plan(&all, &bytes, &found.held, size))
}

fn now() -> i64 {
    Timestamp::now().as_second()
}

fn unclear(why: Unclear) -> Halt {
    Halt::Failed(JobCause::ServerError, Failed::NotClear { why: why.to_string() }.to_string())
}

/// Write what was repaired; without it nothing is called.
fn change<T>(bench: &Bench, change: impl FnOnce(&mut Memory) -> T) -> Step<T> {
    let failed = |error| Halt::Failed(JobCause::VolumeError, format!("{error:#}"));
    bench.repairs.change(change).map_err(failed)
}

async fn read(bench: &Bench) -> Step<Reading> {
    match bench.admin.read().await {
        Ok(reading) => Ok(reading),
        Err(error) => Err(bench.failed(Doing::ReadAttributes, error).await),
    }
}

/// The members of a ring in which nobody moves, and its schema: a keyspace that was
/// replicated less for a while was repaired on fewer members.
fn calm(reading: &Reading) -> Step<String> {
    let members = calm_ring(reading).map_err(unclear)?;
    let schema = reading.schema_version.as_deref().unwrap_or_default();
    Ok(format!("{members} {schema}"))
}

/// One segment. It counts only if nobody has moved from its beginning to its end
/// (safety rule 5.5): who has joined meanwhile may have streamed from a member that lacked a deletion.
async fn one(bench: &Bench, segment: &Segment, ring: &str) -> Step<()> {
    let table = segment.tables.first().filter(|_| segment.tables.len() == 1).cloned();
    let item = Item { keyspace: segment.keyspace.clone(), table };
    // First, so that the number of the one before is never taken for the number of this one.
    bench.note(|notes| notes.call(item))?;
    change(bench, |memory| memory.begin(segment, ring, now()))?;
    let ticket = match bench.jobs()?.repair_segment(segment).await {
        Ok(ticket) => ticket,
        Err(error) => {
            let doing = Doing::Repair { keyspace: segment.keyspace.clone() };
            return Err(bench.failed(doing, error).await);
        }
    };
    let Some(ticket) = ticket else {
        // Ranges without another copy are in no segment: the server sees another schema.
        let why = Failed::NothingToRepair { keyspace: segment.keyspace.clone() };
        return Err(Halt::Failed(JobCause::ServerError, why.to_string()));
    };
    bench.note(|notes| notes.number(ticket.number))?;
    change(bench, |memory| memory.number(ticket.number))?;
    follow(bench, &ticket).await?;
    finish(bench, &segment.keyspace, ticket.number).await
}

/// One that has failed is over, and so is its number.
fn left(bench: &Bench, outcome: Step<()>) -> Step<()> {
    if let Err(Halt::Failed(..)) = &outcome {
        bench.note(Notes::leave_item)?;
    }
    outcome
}

/// It is remembered first, and then left: an agent that ends between the two
/// remembers it once more, or not at all, and calls nothing twice.
async fn finish(bench: &Bench, keyspace: &str, number: i64) -> Step<()> {
    let ring = calm(&read(bench).await?)?;
    let counts = change(bench, |memory| memory.finish_numbered(&ring, Some(number)))?;
    bench.note(Notes::leave_item)?;
    if counts {
        return Ok(());
    }
    let why = Failed::RingChanged { keyspace: keyspace.into() };
    Err(Halt::Failed(JobCause::ServerError, why.to_string()))
}

/// The segment that an earlier agent began, by this very job.
async fn adopt(bench: &Bench) -> Step<()> {
    let open = bench.book.read(|notes| {
        let note = notes.open()?;
        Some((note.item.clone()?.keyspace, note.repair?))
    });
    let Some((keyspace, number)) = open else {
        return Ok(());
    };
    let ended = async {
        follow(bench, &RepairTicket { keyspace: keyspace.clone(), number }).await?;
        finish(bench, &keyspace, number).await
    };
    left(bench, ended.await)
}

fn tell_keyspaces(bench: &Bench, segments: &[Segment], failures: &Failures) -> Step<()> {
    let names = segments.iter().map(|segment| &segment.keyspace);
    for name in names.collect::<std::collections::BTreeSet<_>>() {
        let failed = failures.get(name);
        let result = KeyspaceResult {
            name: name.clone(),
            state: failed.map_or(KeyspaceState::Succeeded, |_| KeyspaceState::Failed),
            seconds: 0,
            message: failed.map(|(_, why)| why.clone()),
        };
        if !bench.book.read(|notes| notes.has_finished_keyspace(&bench.job.task, name)) {
            bench.note(|notes| notes.finish_keyspace(result))?;
        }
    }
    Ok(())
}

fn done(segments: &[Segment]) -> Done {
    if segments.is_empty() {
        return Done::NothingDue;
    }
    let names = segments.iter().map(|segment| segment.keyspace.as_str());
    let keyspaces: std::collections::BTreeSet<&str> = names.collect();
    Done::Segments {
        segments: Count::of(segments.len(), "segment"),
        keyspaces: Names::of(keyspaces),
    }
}

/// What a repair of everything needs to be remembered by.
pub(super) struct Before {
    ring: String,
    found: Survey,
}

/// Look before a repair of everything; where that is not clear, it is not remembered.
pub(super) async fn seen(bench: &Bench) -> Option<Before> {
    let reading = bench.admin.read().await.ok()?;
    let ring = calm(&reading).ok()?;
    let found = survey(bench.admin.as_ref(), bench.schemas.as_ref(), &reading).await;
    match found {
        Ok(found) => Some(Before { ring, found }),
        Err(why) => {
            tracing::info!(why = why.to_string(), "this repair will not be remembered");
            None
        }
    }
}

/// All own ranges of a keyspace, or of tables of it, were repaired.
pub(super) async fn remember(
    bench: &Bench,
    before: &Before,
    (keyspace, tables): (&str, &[String]),
    begun: i64,
) -> Step<()> {
    let Ok(ring) = calm(&read(bench).await?) else {
        return Ok(());
    };
    let known = before.found.schema.keyspaces.get(keyspace);
    let all = known.into_iter().flat_map(|known| known.tables.keys());
    let meant = all.filter(|name| tables.is_empty() || tables.contains(name));
    let ranges: Vec<Range> = before.found.own.get(keyspace).cloned().unwrap_or_default();
    let segment = Segment { keyspace: keyspace.into(), tables: meant.cloned().collect(), ranges };
    change(bench, |memory| {
        before.found.observed_by(memory, now());
        memory.begin(&segment, &before.ring, begun);
        memory.finish(&ring)
    })?;
    Ok(())
}
