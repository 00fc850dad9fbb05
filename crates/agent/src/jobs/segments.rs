//! A segment of a repair: it is noted before it is called and when it is done, so
//! that whoever comes after a yield, a kill or a restart goes on where it stood.

use super::bench::{Bench, Halt, Step};
use super::follow::{Followed, follow_within};
use crate::admin::jobs::Segment;
use crate::admin::{Reading, RepairTicket};
use crate::repair::Memory;
use crate::repair::survey::{Survey, calm_ring, survey};
use crate::volume::jobs::{Item, Notes};
use crate::words::calls::Doing;
use crate::words::repair::Unclear;
use crate::words::work::Failed;
use jiff::Timestamp;
use palladion_api::member::JobCause;
use std::time::Duration;

/// The time that is noted.
pub fn now() -> i64 {
    Timestamp::now().as_second()
}

/// It cannot be told what there is to repair.
pub fn unclear(why: Unclear) -> Halt {
    Halt::Failed(JobCause::ServerError, Failed::NotClear { why: why.to_string() }.to_string())
}

/// Look what there is to repair.
pub async fn look(bench: &Bench, reading: &Reading) -> Step<Survey> {
    surveyed(bench, reading).await.map_err(unclear)
}

/// The same, with what is not clear.
pub async fn surveyed(bench: &Bench, reading: &Reading) -> Result<Survey, Unclear> {
    let schema = bench.schemas.read().await.map_err(|why| Unclear::Schema { why })?;
    survey(bench.admin.as_ref(), schema, reading).await
}

/// Write what was repaired; without it nothing is called.
pub fn change<T>(bench: &Bench, change: impl FnOnce(&mut Memory) -> T) -> Step<T> {
    let failed = |error| Halt::Failed(JobCause::VolumeError, format!("{error:#}"));
    bench.repairs.change(change).map_err(failed)
}

/// Read the server.
pub async fn read(bench: &Bench) -> Step<Reading> {
    match bench.admin.read().await {
        Ok(reading) => Ok(reading),
        Err(error) => Err(bench.failed(Doing::ReadAttributes, error).await),
    }
}

/// The members of a ring in which nobody moves, and its schema: a keyspace that was
/// replicated less for a while was repaired on fewer members.
pub fn at_rest(reading: &Reading) -> Result<String, Unclear> {
    let members = calm_ring(reading)?;
    let schema = reading.schema_version.as_deref().unwrap_or_default();
    Ok(format!("{members} {schema}"))
}

/// The same, for what goes on only where it is clear.
pub fn calm(reading: &Reading) -> Step<String> {
    at_rest(reading).map_err(unclear)
}

/// One segment. It counts only if nobody has moved from its beginning to its end
/// (safety rule 5.5): who has joined meanwhile may have streamed from a member that lacked a deletion.
pub async fn one(bench: &Bench, segment: &Segment, ring: &str) -> Step<Followed> {
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
    finished(bench, &ticket, limit(bench, segment)).await
}

/// A segment may take so long; one that cannot be cut takes what it needs.
pub fn limit(bench: &Bench, segment: &Segment) -> Option<Duration> {
    segment.halves().map(|_| bench.pace.segment)
}

/// Follow one that was begun. It is remembered first, and then left: an agent that ends
/// between the two remembers it once more, or not at all, and calls nothing twice.
pub async fn finished(
    bench: &Bench,
    ticket: &RepairTicket,
    limit: Option<Duration>,
) -> Step<Followed> {
    match follow_within(bench, ticket, limit).await? {
        Followed::Done => {}
        Followed::TooLong => return Ok(Followed::TooLong),
    }
    let ring = calm(&read(bench).await?)?;
    let counts = change(bench, |memory| memory.finish_numbered(&ring, Some(ticket.number)))?;
    bench.note(Notes::leave_item)?;
    if counts {
        return Ok(Followed::Done);
    }
    let why = Failed::RingChanged { keyspace: ticket.keyspace.clone() };
    Err(Halt::Failed(JobCause::ServerError, why.to_string()))
}
