//! For how long the operator and this agent have not heard each other. Nobody can take back
//! what such an agent was granted, so it ends that by itself, before the operator gives it
//! to others.

pub use palladion_agent_core::kubernetes::Last;

use jiff::{SignedDuration, Timestamp};
use palladion_api::member::Job;
use palladion_api::task::Body;
use std::time::Duration;

/// After so long it ends its part of a repair by grants: the operator gives that to others an
/// hour after a question that was not answered, and a server may need minutes to end it.
pub const UNHEARD: Duration = Duration::from_secs(30 * 60);

/// The volume is told so often that the two are in contact.
const NOTED: SignedDuration = SignedDuration::from_mins(1);

/// How long it is silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Silence {
    /// For so long.
    pub lasts: Duration,
    /// To be noted on the volume as the last contact.
    pub note: Option<Timestamp>,
}

/// Where this agent has had no contact since it was started, the silence goes on that an
/// earlier one has noted: an agent that ends over and over does not begin to count anew.
pub fn silence(
    last: Option<Last>,
    noted: Option<Timestamp>,
    running: Duration,
    now: Timestamp,
) -> Silence {
    if let Some(last) = last {
        let is_known = noted.is_some_and(|noted| last.at.duration_since(noted).abs() < NOTED);
        return Silence { lasts: last.ago, note: (!is_known).then_some(last.at) };
    }
    match noted.map(|noted| Duration::try_from(now.duration_since(noted))) {
        Some(Ok(lasts)) => Silence { lasts: lasts.max(running), note: None },
        // An agent of before has noted nothing, or the clock was set back. It counts from the
        // beginning of this agent, and from there for the next one.
        Some(Err(_)) | None => Silence { lasts: running, note: Some(now) },
    }
}

/// Does it repair by what it is granted, so that others repair the same when it is not heard?
pub fn is_by_grants(job: &Job) -> bool {
    job.grant.is_some() && job.work.body().is_some_and(Body::is_repair_by_grants)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::constant(1_767_225_600, 0);

    fn ago(minutes: i64) -> Timestamp {
        NOW - SignedDuration::from_mins(minutes)
    }

    fn of(noted: Option<i64>, running: u64) -> Silence {
        silence(None, noted.map(ago), Duration::from_secs(60 * running), NOW)
    }

    fn minutes(lasts: u64, note: Option<i64>) -> Silence {
        Silence { lasts: Duration::from_secs(60 * lasts), note: note.map(ago) }
    }

    #[test]
    fn an_agent_that_was_restarted_goes_on_counting() {
        assert_eq!(of(Some(29), 1), minutes(29, None));
        assert_eq!(of(Some(31), 0), minutes(31, None));
        // The clock was set back after the agent had started: its own time counts.
        assert_eq!(of(Some(5), 20), minutes(20, None));
    }

    #[test]
    fn a_clock_that_was_set_back_lets_it_count_anew_once() {
        assert_eq!(of(Some(-600), 2), minutes(2, Some(0)));
        assert_eq!(of(None, 2), minutes(2, Some(0)));
    }

    #[test]
    fn contact_is_noted_once_a_minute() {
        let last = |at, ago_minutes: u64| {
            Some(Last { at: ago(at), ago: Duration::from_secs(60 * ago_minutes) })
        };
        let of = |last, noted: Option<i64>| silence(last, noted.map(ago), Duration::ZERO, NOW);
        assert_eq!(of(last(0, 0), None), minutes(0, Some(0)));
        assert_eq!(of(last(1, 1), Some(1)), minutes(1, None));
        assert_eq!(of(last(1, 1), Some(2)), minutes(1, Some(1)));
        // It does not hear, and has said so before: nothing is written any more.
        assert_eq!(of(last(40, 40), Some(40)), minutes(40, None));
        assert_eq!(of(last(0, 0), Some(-90)), minutes(0, Some(0)), "set back");
    }
}
