//! When a server that died may be started again.

use crate::volume::ledger::{End, Start};
use jiff::{SignedDuration, Timestamp};

/// Wait after the first failure; doubles with each further one.
const FIRST: SignedDuration = SignedDuration::from_secs(10);
/// Longest wait.
const LONGEST: SignedDuration = SignedDuration::from_mins(5);
/// A member that served this long is well; its next failure is a first one.
const STEADY: SignedDuration = SignedDuration::from_mins(10);

/// The time before which no start is tried, from the starts so far (newest
/// first). The first failure of a member that had been NORMAL costs nothing.
pub fn earliest(starts: &[Start], now: Timestamp) -> Option<Timestamp> {
    let failures = starts.iter().take_while(|s| s.end == End::Died && !was_steady(s)).count();
    let newest = starts.first().filter(|s| s.end == End::Died)?;
    let ended = newest.record.ended_at.as_ref()?.0;
    let steps = match (newest.record.normal_at.is_some(), failures) {
        (_, 0) | (true, 1) => return None,
        (true, n) => n - 2,
        (false, n) => n - 1,
    };
    let doubled = FIRST.as_secs().saturating_mul(1 << steps.min(10));
    let delay = SignedDuration::from_secs(doubled).min(LONGEST);
    // A clock that was set back must not stretch the wait.
    Some((ended + delay).min(now + delay))
}

fn was_steady(start: &Start) -> bool {
    match (&start.record.normal_at, &start.record.ended_at) {
        (Some(normal), Some(ended)) => ended.0.duration_since(normal.0) >= STEADY,
        (Some(_) | None, Some(_) | None) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::volume::ledger::Ledger;
    use crate::volume::seconds;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn start(normal: Option<i64>, ended: i64, end: End) -> Start {
        let mut ledger = Ledger::new("v".into(), None);
        ledger.begin_start("t", "Autonomous", &[], at(0));
        let mut start = ledger.starts.remove(0);
        start.record.normal_at = normal.map(|s| seconds(at(s)));
        start.record.ended_at = Some(seconds(at(ended)));
        start.end = end;
        start
    }

    fn delay(starts: &[Start]) -> Option<i64> {
        earliest(starts, at(1000)).map(|t| t.as_second() - 1000)
    }

    #[test]
    fn doubles_from_ten_seconds_to_five_minutes() {
        let failed = || start(None, 1000, End::Died);
        let delays: Vec<_> = (1..=8).map(|n| delay(&vec![failed(); n])).collect();
        assert_eq!(delays, [10, 20, 40, 80, 160, 300, 300, 300].map(Some));
    }

    #[test]
    fn the_first_failure_of_a_member_that_had_been_normal_costs_nothing() {
        assert_eq!(delay(&[start(Some(990), 1000, End::Died)]), None);
        let twice = [start(Some(990), 1000, End::Died), start(Some(900), 950, End::Died)];
        assert_eq!(delay(&twice), Some(10));
    }

    #[test]
    fn a_steady_time_forgives_what_was_before() {
        let steady = start(Some(10), 900, End::Died);
        assert_eq!(delay(&[start(Some(990), 1000, End::Died), steady.clone()]), None);
        assert_eq!(delay(&[start(None, 1000, End::Died), steady]), Some(10));
    }

    #[test]
    fn a_stop_of_ours_is_no_failure() {
        assert_eq!(delay(&[start(None, 1000, End::Stopped)]), None);
        assert_eq!(
            delay(&[start(None, 1000, End::Died), start(None, 900, End::Stopped)]),
            Some(10)
        );
        assert_eq!(delay(&[start(None, 1000, End::WithContainer)]), None);
        assert_eq!(delay(&[]), None);
    }

    #[test]
    fn a_clock_set_back_does_not_stretch_the_wait() {
        let wait = earliest(&[start(None, 99_999, End::Died)], at(1000)).unwrap();
        assert_eq!(wait, at(1010));
    }
}
