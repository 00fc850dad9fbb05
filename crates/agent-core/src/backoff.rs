//! When a server that died may be started again.

use jiff::{SignedDuration, Timestamp};

/// Wait after the first failure; doubles with each further one.
const FIRST: SignedDuration = SignedDuration::from_secs(10);
/// Longest wait.
const LONGEST: SignedDuration = SignedDuration::from_mins(5);
/// A member that served this long is well; its next failure is a first one.
const STEADY: SignedDuration = SignedDuration::from_mins(10);

/// A start, as far as it counts here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// When the server was a full member for the first time in it.
    pub served_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// How.
    pub ended: Ended,
}

/// How a server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself: a failure.
    ByItself,
    /// We stopped it, or it ended with its container, or it runs.
    Otherwise,
}

/// The time before which no start is tried, from the starts so far (newest
/// first). The first failure of a member that had served costs nothing.
pub fn earliest(starts: &[Attempt], now: Timestamp) -> Option<Timestamp> {
    let is_failure = |start: &&Attempt| start.ended == Ended::ByItself && !was_steady(start);
    let failures = starts.iter().take_while(is_failure).count();
    let newest = starts.first().filter(|s| s.ended == Ended::ByItself)?;
    let ended = newest.ended_at?;
    let steps = match (newest.served_at.is_some(), failures) {
        (_, 0) | (true, 1) => return None,
        (true, n) => n - 2,
        (false, n) => n - 1,
    };
    let doubled = FIRST.as_secs().saturating_mul(1 << steps.min(10));
    let delay = SignedDuration::from_secs(doubled).min(LONGEST);
    // A clock that was set back must not stretch the wait.
    Some((ended + delay).min(now + delay))
}

fn was_steady(start: &Attempt) -> bool {
    match (start.served_at, start.ended_at) {
        (Some(served), Some(ended)) => ended.duration_since(served) >= STEADY,
        (Some(_) | None, Some(_) | None) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn start(served: Option<i64>, ended: i64, how: Ended) -> Attempt {
        Attempt { served_at: served.map(at), ended_at: Some(at(ended)), ended: how }
    }

    fn delay(starts: &[Attempt]) -> Option<i64> {
        earliest(starts, at(1000)).map(|t| t.as_second() - 1000)
    }

    #[test]
    fn doubles_from_ten_seconds_to_five_minutes() {
        let failed = start(None, 1000, Ended::ByItself);
        let delays: Vec<_> = (1..=8).map(|n| delay(&vec![failed; n])).collect();
        assert_eq!(delays, [10, 20, 40, 80, 160, 300, 300, 300].map(Some));
    }

    #[test]
    fn the_first_failure_of_a_member_that_had_served_costs_nothing() {
        assert_eq!(delay(&[start(Some(990), 1000, Ended::ByItself)]), None);
        let twice =
            [start(Some(990), 1000, Ended::ByItself), start(Some(900), 950, Ended::ByItself)];
        assert_eq!(delay(&twice), Some(10));
    }

    #[test]
    fn a_steady_time_forgives_what_was_before() {
        let steady = start(Some(10), 900, Ended::ByItself);
        assert_eq!(delay(&[start(Some(990), 1000, Ended::ByItself), steady]), None);
        assert_eq!(delay(&[start(None, 1000, Ended::ByItself), steady]), Some(10));
    }

    #[test]
    fn a_stop_of_ours_is_no_failure() {
        let stopped = start(None, 1000, Ended::Otherwise);
        assert_eq!(delay(&[stopped]), None);
        assert_eq!(delay(&[start(None, 1000, Ended::ByItself), stopped]), Some(10));
        assert_eq!(delay(&[]), None);
    }

    #[test]
    fn a_clock_set_back_does_not_stretch_the_wait() {
        let wait = earliest(&[start(None, 99_999, Ended::ByItself)], at(1000)).unwrap();
        assert_eq!(wait, at(1010));
    }
}
