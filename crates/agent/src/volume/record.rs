//! Is the volume older than what the member's status showed? The ledger is written before
//! anything of it is reported: a start that was reported and is not in it was lost with the
//! state of the volume that was put back, and so were rows, for which nobody has hints.

use super::ledger::{Ledger, Start};
use jiff::Timestamp;
use palladion_api::member::{CassandraMemberStatus, StartRecord};

/// Until when the server ran at least, by a status that shows more than the ledger.
pub fn ran_until(ledger: &Ledger, status: &CassandraMemberStatus) -> Option<Timestamp> {
    let is_same = status.volume.as_ref().is_some_and(|v| v.volume_id == ledger.volume_id);
    let told = status.start_history.first().filter(|_| is_same)?;
    let known = ledger.starts.iter().find(|s| s.record.started_at == told.started_at);
    let is_lost = match known {
        Some(known) => shows_less(known, told),
        // What was forgotten since is older than all that are kept.
        None => ledger.starts.last().is_none_or(|s| s.record.started_at.0 < told.started_at.0),
    };
    let times = [Some(&told.started_at), told.normal_at.as_ref(), told.ended_at.as_ref()];
    times.into_iter().flatten().map(|t| t.0).max().filter(|_| is_lost)
}

/// An end is noted once: with another one the start was open in the ledger when that was read.
fn shows_less(known: &Start, told: &StartRecord) -> bool {
    let is_earlier =
        |normal: &Timestamp| known.record.normal_at.as_ref().is_none_or(|known| known.0 < *normal);
    told.normal_at.as_ref().map(|t| t.0).is_some_and(|normal| is_earlier(&normal))
        || told.ended_at.is_some() && told.ended_at != known.record.ended_at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::volume::ledger::End;
    use crate::volume::seconds;
    use palladion_api::member::{VolumeState, VolumeStatus};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    /// A ledger with these starts: begun, normal, ended.
    fn ledger(starts: &[(i64, Option<i64>, Option<i64>)]) -> Ledger {
        let mut ledger = Ledger::new("v".into(), None);
        for (begun, normal, ended) in starts {
            ledger.begin_start("t", "Autonomous", &[], at(*begun));
            ledger.starts[0].record.normal_at = normal.map(|t| seconds(at(t)));
            if let Some(ended) = ended {
                ledger.end_start(End::Stopped, at(*ended), None, None);
            }
        }
        ledger
    }

    fn told(of: &Ledger) -> CassandraMemberStatus {
        CassandraMemberStatus {
            volume: Some(VolumeStatus {
                volume_id: "v".into(),
                state: VolumeState::Joined,
                file_system: String::new(),
                ring: None,
                message: None,
                last_ran_at: None,
                gc_grace_seconds: None,
                missed: None,
                retired: None,
            }),
            start_history: of.starts.iter().map(|s| s.record.clone()).collect(),
            ..CassandraMemberStatus::default()
        }
    }

    #[test]
    fn what_was_reported_and_is_not_in_the_ledger_was_lost() {
        let whole = ledger(&[(1, Some(2), Some(100)), (110, Some(111), Some(200))]);
        let status = told(&whole);
        assert_eq!(ran_until(&whole, &status), None);
        let open = ledger(&[(1, Some(2), Some(100)), (110, Some(111), None)]);
        assert_eq!(ran_until(&open, &status), Some(at(200)), "the end was lost");
        let closed = ledger(&[(1, Some(2), Some(100)), (110, Some(111), Some(900))]);
        assert_eq!(ran_until(&closed, &status), Some(at(200)), "it was noted again");
        let starting = ledger(&[(1, Some(2), Some(100)), (110, None, Some(200))]);
        assert_eq!(ran_until(&starting, &status), Some(at(200)));
        let before = ledger(&[(1, Some(2), None)]);
        assert_eq!(ran_until(&before, &status), Some(at(200)), "the start was lost");
        let again = ledger(&[(1, Some(2), Some(300)), (310, Some(311), None)]);
        assert_eq!(ran_until(&again, &status), Some(at(200)), "it was started since");
    }

    #[test]
    fn a_status_that_shows_less_or_is_of_another_volume_says_nothing() {
        let newer =
            ledger(&[(1, Some(2), Some(100)), (110, Some(120), Some(200)), (300, None, None)]);
        let older = told(&ledger(&[(1, Some(2), Some(100)), (110, None, None)]));
        assert_eq!(ran_until(&newer, &older), None);
        let mut another = told(&newer);
        another.volume.as_mut().unwrap().volume_id = "another".into();
        assert_eq!(ran_until(&ledger(&[]), &another), None);
        let many: Vec<_> = (1..30).map(|n| (n * 10, Some(n * 10 + 1), Some(n * 10 + 9))).collect();
        let first = told(&ledger(&many[..1]));
        assert_eq!(ran_until(&ledger(&many), &first), None, "it was forgotten");
    }
}
