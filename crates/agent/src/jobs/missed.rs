//! What becomes of a segment that was not repaired: it has failed, or it is cut in halves
//! because it took too long. Either is noted before anything else is called.

use super::bench::{Bench, Halt, Step};
use super::follow::Followed;
use super::segments::{change, now};
use super::tries::Try;
use crate::admin::jobs::Segment;
use crate::metrics::SegmentResult;
use crate::volume::jobs::Notes;
use crate::words::work::Failed;
use palladion_api::member::JobCause;

/// How a segment ended.
pub enum Outcome {
    /// It was repaired, and counts.
    Done,
    /// It was not repaired.
    Missed {
        /// As it is counted.
        result: SegmentResult,
        /// How it would be tried again.
        tries: Vec<Try>,
        /// Why.
        why: String,
    },
}

/// One that has failed is over, and so is its number.
pub fn left(bench: &Bench, ended: Step<Followed>) -> Step<Followed> {
    if let Ok(Followed::TooLong) | Err(Halt::Failed(..)) = &ended {
        bench.note(Notes::leave_item)?;
    }
    ended
}

/// Note what has become of a segment.
pub fn missed(bench: &Bench, what: &Try, ended: Step<Followed>) -> Step<Outcome> {
    let (result, tries, why) = match left(bench, ended) {
        Ok(Followed::Done) => return Ok(Outcome::Done),
        Ok(Followed::TooLong) => {
            let (keyspace, seconds) = (what.segment.keyspace.clone(), bench.pace.segment.as_secs());
            let why = Failed::TooLong { keyspace, seconds };
            (SegmentResult::TooLong, what.halves(), why.to_string())
        }
        Err(Halt::Failed(JobCause::ServerError, why)) => {
            (SegmentResult::Failed, vec![what.again()], why)
        }
        Err(halt @ Halt::LeftRunning { .. }) if bench.asked().is_none() => {
            fail(bench, what, &what.halves())?;
            return Err(halt);
        }
        Err(halt) => return Err(halt),
    };
    fail(bench, what, &tries)?;
    tracing::warn!(why, pieces = tries.len(), "a segment was not repaired");
    Ok(Outcome::Missed { result, tries, why })
}

fn fail(bench: &Bench, what: &Try, tries: &[Try]) -> Step<()> {
    let pieces: Vec<Segment> = tries.iter().map(|next| next.segment.clone()).collect();
    let failures = what.again().failures;
    change(bench, |memory| memory.fail(&what.segment, &pieces, failures, now()))
}
