//! The segment that an earlier agent began, by this very job: it is found by its number,
//! and counts, or has failed, as if nobody had been away.

use super::bench::{Bench, Halt, Step};
use super::missed::{Outcome, left, missed};
use super::segments::{finished, limit, now};
use super::tries::Try;
use crate::admin::RepairTicket;
use crate::repair::Open;
use palladion_api::member::JobCause;
use std::time::Duration;

/// Wait for its end.
pub async fn adopt(bench: &Bench) -> Step<()> {
    let open = bench.book.read(|notes| {
        let note = notes.open()?;
        Some((note.item.clone()?.keyspace, note.repair?))
    });
    let Some((keyspace, number)) = open else {
        return Ok(());
    };
    let ticket = RepairTicket { keyspace, number };
    let begun = bench.repairs.read(|memory| memory.open.clone());
    match begun.filter(|begun| begun.number == Some(number)) {
        Some(begun) => ours(bench, &ticket, begun).await,
        None => {
            let ended = finished(bench, &ticket, None).await;
            match left(bench, ended) {
                Ok(_) => Ok(()),
                Err(Halt::Failed(JobCause::ServerError, why)) => {
                    tracing::warn!(why, "the segment that an earlier agent began does not count");
                    Ok(())
                }
                Err(halt) => Err(halt),
            }
        }
    }
}

/// Its time runs from its beginning.
async fn ours(bench: &Bench, ticket: &RepairTicket, begun: Open) -> Step<()> {
    let passed = now().saturating_sub(begun.started);
    let passed = Duration::from_secs(u64::try_from(passed).unwrap_or(0));
    let limit = limit(bench, &begun.segment).map(|limit| limit.saturating_sub(passed));
    let failures = bench.repairs.read(|memory| memory.failures(&begun.segment, now()));
    let what = Try::of(begun.segment, failures);
    match missed(bench, &what, finished(bench, ticket, limit).await)? {
        Outcome::Done | Outcome::Missed { .. } => Ok(()),
    }
}
