//! A server that was away for longer than tombstones are kept: the others may
//! have dropped those of rows that it still holds, and the rows would come back
//! with it (safety rule 7.8).

use crate::volume::heartbeat::Known;
use crate::volume::ledger::Ledger;
use crate::volume::{Found, seconds};
use crate::words::start::Waiting;
use jiff::{SignedDuration, Timestamp};
use palladion_api::member::CassandraMemberSpec;

/// `gc_grace_seconds` of a table where nobody has set it: ten days.
const GC_GRACE: SignedDuration = SignedDuration::from_hours(24 * 10);

/// What forbids the start, unless the spec allows it for this very absence.
pub fn forbids(
    now: Timestamp,
    spec: &CassandraMemberSpec,
    found: &Found,
    ledger: &Ledger,
) -> Option<Waiting> {
    let at = last_ran_at(found, ledger)?;
    let is_allowed = spec.allow_stale_start.as_ref().is_some_and(|t| t.0 == at);
    let is_too_old = now.duration_since(at) > GC_GRACE;
    (is_too_old && !is_allowed).then_some(Waiting::TooOld { at })
}

/// When the server was last known to be a full member.
pub fn last_ran_at(found: &Found, ledger: &Ledger) -> Option<Timestamp> {
    // It may have ended before its first sign of life was written.
    let normal = ledger.last_start().and_then(|s| s.record.normal_at.as_ref()).map(|t| t.0);
    let last = match &found.heartbeat {
        // An agent of before has written none: its server may have run for months.
        Known::Never => return None,
        Known::At(heartbeat) => normal.max(Some(heartbeat.last_ran_at.0)),
        Known::Unreadable => normal,
    };
    last.map(|at| seconds(at).0)
}
