//! When a server that died may be started again.

use crate::volume::ledger::{End, Start};
use jiff::Timestamp;
use palladion_agent_core::backoff::{self, Attempt, Ended};

/// The time before which no start is tried, from the starts so far (newest first).
pub fn earliest(starts: &[Start], now: Timestamp) -> Option<Timestamp> {
    let attempts: Vec<Attempt> = starts.iter().map(attempt).collect();
    backoff::earliest(&attempts, now)
}

fn attempt(start: &Start) -> Attempt {
    Attempt {
        served_at: start.record.served_at.as_ref().map(|at| at.0),
        ended_at: start.record.ended_at.as_ref().map(|at| at.0),
        ended: match start.end {
            End::Died => Ended::ByItself,
            End::Open | End::Stopped | End::WithContainer => Ended::Otherwise,
        },
    }
}
