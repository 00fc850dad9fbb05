//! A server that was away for longer than tombstones are kept: the others may
//! have dropped those of rows that it still holds, and the rows would come back
//! with it (safety rule 7.8).

use super::{Facts, Process, Source, SpecFact, VolumeFact, clock};
use crate::volume::heartbeat::Known;
use crate::volume::ledger::Ledger;
use crate::volume::{Found, seconds};
use crate::words::start::Waiting;
use jiff::{SignedDuration, Timestamp};
use palladion_api::member::SHORTEST_GRACE;

/// `gc_grace_seconds` of a table where nobody has set it: ten days. It counts until
/// the agent has learned what the tables have.
const GC_GRACE: SignedDuration = SignedDuration::from_hours(24 * 10);
/// Who was down for less was only restarted: `max_hint_window`, where nobody has set it.
const BRIEF: SignedDuration = SignedDuration::from_hours(3);

/// What forbids the start, unless the spec allows it for this very absence.
pub fn forbids(
    now: Timestamp,
    known: SpecFact<'_>,
    found: &Found,
    ledger: &Ledger,
) -> Option<Waiting> {
    let spec = known.spec;
    let (at, ran) = (complete_until(found, ledger)?, last_ran_at(found, ledger)?);
    let allowed = spec.allow_stale_start.as_ref().filter(|t| t.0 == at);
    let stood = spec.ring_down.as_ref().filter(|down| Some(&down.since) == allowed);
    let kept = kept(found);
    if allowed.is_none()
        && let Some(later) = passed_already(now, known, ran)
    {
        return Some(Waiting::ClockBehind { at, clock: seconds(now).0, later: seconds(later).0 });
    }
    let now = known.times.at_least(now);
    // Until the ring was started again nobody has deleted anything; what others
    // dropped since, it would bring back.
    let is_too_old = now.duration_since(stood.map_or(at, |down| down.until.0)) > kept;
    let is_allowed = allowed.is_some() && stood.is_none();
    // It has served with that data until a moment ago: what can come back is back, and it
    // would go on serving had it not ended. A sign of life of a time to come says nothing.
    let went_on = now >= ran && now.duration_since(ran) <= BRIEF;
    let hours = kept.as_hours();
    (is_too_old && !went_on && !is_allowed).then_some(match at == ran {
        true => Waiting::TooOld { at, hours },
        false => Waiting::NotRepaired { at, hours },
    })
}

/// A time that has passed although the clock here has not come to it: how long the server did
/// not run cannot be told then. Without the API server nobody could be asked, and it starts.
fn passed_already(now: Timestamp, known: SpecFact<'_>, ran: Timestamp) -> Option<Timestamp> {
    match known.source {
        Source::Saved => None,
        Source::Live => {
            let noted = known.times.ahead_of(now);
            noted.or_else(|| clock::ran_ahead_of(known.times.at_least(now), ran))
        }
    }
}

/// Up to when the data of a server that does not run holds all deletions, where that is too
/// long ago to start with, whatever else keeps it from starting.
pub fn too_old(facts: &Facts<'_>) -> Option<Timestamp> {
    let (VolumeFact::Found(found), Process::Absent) = (&facts.volume, &facts.process) else {
        return None;
    };
    let (ledger, known) = (found.ledger.as_ref()?, facts.spec?);
    forbids(facts.now, known, found, ledger)?;
    complete_until(found, ledger)
}

/// For how long the tables of users keep their tombstones.
fn kept(found: &Found) -> SignedDuration {
    let smallest = found.heartbeat.smallest_gc_grace_seconds();
    smallest
        .map_or(GC_GRACE, |seconds| SignedDuration::from_secs(seconds.into()).max(SHORTEST_GRACE))
}

/// Up to when the data holds all deletions: when the server ran last or, where
/// it has missed some before and was not repaired, when it ran before that.
fn complete_until(found: &Found, ledger: &Ledger) -> Option<Timestamp> {
    let ran = last_ran_at(found, ledger)?;
    Some(found.heartbeat.missed(ledger).map_or(ran, |missed| missed.since.0.min(ran)))
}

/// When the server was last known to be a full member.
fn last_ran_at(found: &Found, ledger: &Ledger) -> Option<Timestamp> {
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
