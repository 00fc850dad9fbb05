//! Is a task due, and for which time? However many times have passed, one task
//! makes up for all of them.

use super::cron::Times;
use jiff::{SignedDuration, Timestamp};

/// What is on record of a schedule.
#[derive(Clone, Copy, Debug, Default)]
pub struct Record {
    /// When the next task was to be due.
    pub expected: Option<Timestamp>,
    /// For which time a task was created last. Nothing is due up to then, whatever
    /// a clock that was set back says.
    pub last: Option<Timestamp>,
}

/// A task that was to be created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first time that has passed.
    pub since: Timestamp,
    /// The last one, for which the task is.
    pub at: Timestamp,
}

/// What is to be done now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// Nothing yet.
    NotYet,
    /// Create the task.
    Now(Run),
    /// It would be too late.
    Missed(Run),
}

impl Record {
    /// What is due. An expected time counts only if it still is one: who changes a
    /// schedule did not want what the earlier one would have done.
    pub fn due(&self, times: &Times, now: Timestamp, deadline: SignedDuration) -> Due {
        let Some(since) = self.expected.filter(|t| *t <= now && times.is_run(*t)) else {
            return Due::NotYet;
        };
        let last = self.last(times, now);
        match times.until(now).filter(|at| *at >= since && Some(*at) > last) {
            None => Due::NotYet,
            Some(at) if now.duration_since(at) > deadline => Due::Missed(Run { since, at }),
            Some(at) => Due::Now(Run { since, at }),
        }
    }

    /// When the next task is due.
    pub fn next(&self, times: &Times, now: Timestamp) -> Option<Timestamp> {
        times.after(self.last(times, now).map_or(now, |last| last.max(now)))
    }

    /// For which time a task was created last. One that is later than the next time is of a
    /// clock that was ahead: that must not silence the schedule until then (safety rule 7.7).
    fn last(&self, times: &Times, now: Timestamp) -> Option<Timestamp> {
        let next = times.after(now);
        self.last.filter(|last| next.is_none_or(|next| *last <= next))
    }

    /// The expected time if it still is one, else the next: what is kept on record
    /// while nothing is created.
    pub fn kept(&self, times: &Times, now: Timestamp) -> Option<Timestamp> {
        let expected = self.expected.filter(|t| *t <= now && times.is_run(*t));
        expected.or_else(|| self.next(times, now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        format!("2026-06-{text}Z").parse().unwrap()
    }

    fn nightly() -> Times {
        Times::read("0 2 * * *", "Etc/UTC").unwrap()
    }

    const HOUR: SignedDuration = SignedDuration::from_hours(1);

    fn expected(text: &str) -> Record {
        Record { expected: Some(at(text)), last: None }
    }

    #[test]
    fn a_task_is_due_from_its_time_on_until_the_deadline() {
        let due = |now: &str| expected("10T02:00:00").due(&nightly(), at(now), HOUR);
        let run = Run { since: at("10T02:00:00"), at: at("10T02:00:00") };
        assert_eq!(due("10T01:59:59"), Due::NotYet);
        assert_eq!(due("10T02:00:00"), Due::Now(run));
        assert_eq!(due("10T03:00:00"), Due::Now(run));
        assert_eq!(due("10T03:00:01"), Due::Missed(run));
    }

    #[test]
    fn any_number_of_times_that_passed_is_one_task_for_the_last_of_them() {
        let (since, last) = (at("10T02:00:00"), at("14T02:00:00"));
        let due = expected("10T02:00:00").due(&nightly(), at("14T02:30:00"), HOUR);
        assert_eq!(due, Due::Now(Run { since, at: last }));
        let due = expected("10T02:00:00").due(&nightly(), at("14T12:00:00"), HOUR);
        assert_eq!(due, Due::Missed(Run { since, at: last }));
    }

    #[test]
    fn a_clock_that_is_set_back_makes_nothing_due_twice() {
        let record = Record { expected: Some(at("11T02:00:00")), last: Some(at("10T02:00:00")) };
        for now in ["09T12:00:00", "10T01:59:00", "10T02:00:00", "10T02:01:00"] {
            assert_eq!(record.due(&nightly(), at(now), HOUR), Due::NotYet, "{now}");
            assert_eq!(record.next(&nightly(), at(now)), Some(at("11T02:00:00")), "{now}");
        }
        // The record of what is expected is lost or was written by a clock that is behind.
        let behind = Record { expected: Some(at("10T02:00:00")), ..record };
        assert_eq!(behind.due(&nightly(), at("10T02:30:00"), HOUR), Due::NotYet);
    }

    #[test]
    fn a_clock_that_was_ahead_silences_no_more_than_one_time() {
        let record = Record { expected: Some(at("11T02:00:00")), last: Some(at("30T02:00:00")) };
        assert_eq!(record.next(&nightly(), at("10T12:00:00")), Some(at("11T02:00:00")));
        let run = Run { since: at("11T02:00:00"), at: at("11T02:00:00") };
        assert_eq!(record.due(&nightly(), at("11T02:00:10"), HOUR), Due::Now(run));
    }

    #[test]
    fn what_an_earlier_pattern_expected_is_not_due_by_another() {
        let other = Times::read("30 1 * * *", "Etc/UTC").unwrap();
        let record = expected("10T02:00:00");
        assert_eq!(record.due(&other, at("10T02:10:00"), HOUR), Due::NotYet);
        assert_eq!(record.next(&other, at("10T02:10:00")), Some(at("11T01:30:00")));
        let hourly = Times::read("0 * * * *", "Etc/UTC").unwrap();
        let run = Run { since: at("10T02:00:00"), at: at("10T02:00:00") };
        assert_eq!(record.due(&hourly, at("10T02:10:00"), HOUR), Due::Now(run));
    }

    #[test]
    fn what_is_due_stays_on_record_while_nothing_is_created() {
        let kept = |now: &str| expected("10T02:00:00").kept(&nightly(), at(now));
        assert_eq!(kept("10T01:00:00"), Some(at("10T02:00:00")));
        assert_eq!(kept("12T12:00:00"), Some(at("10T02:00:00")));
        assert_eq!(Record::default().kept(&nightly(), at("12T12:00:00")), Some(at("13T02:00:00")));
    }
}
