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
        served_at: start.record.normal_at.as_ref().map(|at| at.0),
        ended_at: start.record.ended_at.as_ref().map(|at| at.0),
        ended: match start.end {
            End::Died => Ended::ByItself,
            End::Open | End::Stopped | End::WithContainer | End::OtherHostId => Ended::Otherwise,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::volume::ledger::Ledger;
    use crate::volume::seconds;

    fn delay(normal: Option<i64>, end: End) -> Option<i64> {
        let at = |second| Timestamp::from_second(second).unwrap();
        let mut ledger = Ledger::new("v".into(), None);
        ledger.begin_start("t", "Autonomous", &[], at(0));
        ledger.end_start(end, at(1000), None, None);
        ledger.starts[0].record.normal_at = normal.map(|second| seconds(at(second)));
        earliest(&ledger.starts, at(1000)).map(|t| t.as_second() - 1000)
    }

    #[test]
    fn only_an_end_by_itself_is_a_failure_and_the_first_of_a_full_member_costs_nothing() {
        assert_eq!(delay(None, End::Died), Some(10));
        assert_eq!(delay(Some(990), End::Died), None);
        for end in [End::Open, End::Stopped, End::WithContainer, End::OtherHostId] {
            assert_eq!(delay(None, end), None, "{end:?}");
        }
    }
}
